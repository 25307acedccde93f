"""Tier 2 without an engine: the real index for tiny packages, a loopback one for the odd ones."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from vaibify_lab.ceremony.index import configured_indexes
from vaibify_lab.ceremony.packages import NONE_DECLARED, OFFERED, check_packages
from vaibify_lab.ceremony.report import TierProblem, TierReport
from vaibify_lab.envelope.lock_compile import compile_lock, this_platform

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
DEAD = "http://127.0.0.1:9/simple/"
A, B, C = "a" * 64, "b" * 64, "c" * 64
HEADER = f"# vaibify: python {HERE} {this_platform()}\n"
UNCHECKED = (
    "not checked without a pinned image and a container engine (pip would see it): that everything "
    "the listed packages need is listed too, that a file of each fits the Python, that its bytes "
    "have its hash"
)


@pytest.fixture(scope="module")
def lock(tmp_path_factory) -> bytes:
    """Return a lock of two tiny packages, as uv makes it from the real index."""
    root = tmp_path_factory.mktemp("project")
    (root / "requirements.in").write_text("iniconfig==2.1.0\npluggy==1.5.0\n")
    return compile_lock(root, "requirements.in")


def first_hash(lock: bytes) -> bytes:
    return lock.split(b"--hash=sha256:")[1][:64]


def pins(*lines: str) -> bytes:
    return (HEADER + "".join(f"{line}\n" for line in lines)).encode()


def codes(report: TierReport) -> list[str]:
    return [problem.code for problem in report.problems]


def test_every_listed_hash_is_offered(lock):
    assert check_packages(lock, declared_none=False) == TierReport(
        2, "passed", OFFERED, listed=2, checked=2, warnings=(UNCHECKED,)
    )
    assert OFFERED == "hashes offered by the index (nothing downloaded)"


def test_one_wrong_hash_fails_and_names_package_and_version(lock):
    wrong = lock.replace(first_hash(lock), b"0" * 64)

    report = check_packages(wrong, declared_none=False)

    text = (
        "line 4: iniconfig 2.1.0: 1 of 2 listed hashes not offered by the index, "
        "sha256:000000000000... first; pip needs only one that is"
    )
    problem = TierProblem("hash-not-offered", text, "requirements.lock")
    assert report.problems == (problem,)
    assert (report.state, report.exit_code) == ("failed", 1)
    assert report.line.startswith("FAILED, 1 package not what ")
    assert (report.listed, report.checked) == (2, 2)


def test_one_wrong_hash_without_a_route_is_no_pass(lock):
    wrong = lock.replace(first_hash(lock), b"0" * 64)

    report = check_packages(wrong, declared_none=False, index_urls=[DEAD])

    assert (report.state, report.exit_code) == ("not-checkable", 1)
    assert report.line == "structure only: 127.0.0.1 cannot be reached (ConnectionError)"
    assert (report.listed, report.checked, report.problems) == (2, 0, ())


def test_a_version_that_the_index_does_not_have(lock):
    report = check_packages(lock.replace(b"==2.1.0", b"==2.1.99"), declared_none=False)

    assert report.problems == (
        TierProblem(
            "not-offered", "iniconfig 2.1.99 is not offered by the index", "requirements.lock"
        ),
    )


def test_hashes_of_another_package_do_not_count(lock):
    swapped = lock.replace(b"iniconfig==2.1.0", b"six==1.16.0")

    report = check_packages(swapped, declared_none=False)

    assert codes(report) == ["hash-not-offered"]
    assert "six 1.16.0: 2 of 2 listed hashes" in report.problems[0].text


def test_offline_as_asked_and_no_index_at_all(lock, monkeypatch):
    asked = check_packages(lock, declared_none=False, offline=True)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    none = check_packages(lock, declared_none=False)

    assert (asked.state, asked.line) == ("not-checkable", "structure only: offline, as asked")
    assert (none.state, none.line) == ("not-checkable", "structure only: no index is to be asked")
    assert (asked.exit_code, none.exit_code) == (1, 1)


def test_missing_lock_is_exit_2_and_says_what_to_do():
    report = check_packages(None, declared_none=False)

    text = "does not exist; make it: jupyter vaibify envelope --only lock"
    assert report.problems == (TierProblem("no-lock", text, "requirements.lock"),)
    assert (report.state, report.exit_code) == ("failed", 2)


@pytest.mark.parametrize("lock_bytes", [None, b"", b"# nothing\n"])
def test_none_declared(lock_bytes):
    assert check_packages(lock_bytes, declared_none=True) == TierReport(2, "passed", NONE_DECLARED)
    assert NONE_DECLARED == "none declared"


def test_none_declared_and_yet_a_lock_with_packages():
    report = check_packages(pins(f"a==1 --hash=sha256:{A}"), declared_none=True)

    assert (report.state, codes(report), report.exit_code) == ("failed", ["declared-none"], 1)


def test_empty_lock_is_a_failure():
    report = check_packages(b"", declared_none=False)

    assert (report.state, codes(report), report.exit_code) == ("failed", ["no-packages"], 1)
    assert report.line == "FAILED, requirements.lock is refused (1 problem)"


def test_l02_dependency_of_a_dependency_is_said_to_be_unchecked(lock):
    # pytest needs pluggy, iniconfig, packaging: only it is listed, and no structure can show that.
    alone = lock[: lock.index(b"pluggy==")]

    report = check_packages(alone, declared_none=False)

    assert (report.state, report.line) == ("passed", OFFERED)
    assert UNCHECKED in report.warnings


def test_l03_frozen_path_is_flagged_before_anybody_is_asked():
    report = check_packages(
        pins(f"pkg @ file:///builds/x/work --hash=sha256:{A}"),
        declared_none=False,
        index_urls=[DEAD],
    )

    assert (report.state, codes(report), report.exit_code) == ("failed", ["local-path"], 1)
    assert "not installable elsewhere" in report.problems[0].text
    assert report.problems[0].text.startswith("line 2: ")


def test_l04_lock_made_on_another_platform(lock):
    header = f"# vaibify: python {HERE} {this_platform()}\n".encode()
    foreign = lock.replace(header, b"# vaibify: python 3.7 plan9-sparc64\n")

    report = check_packages(foreign, declared_none=False)

    assert (report.state, report.line) == ("passed", OFFERED)
    assert report.warnings == (
        UNCHECKED,
        f"lock is for plan9/3.7 (plan9-sparc64); here is {sys.platform}/{HERE} ({this_platform()})",
    )


def test_l04_lock_that_says_nothing_of_its_platform():
    report = check_packages(f"a==1 --hash=sha256:{A}\n".encode(), declared_none=False, offline=True)

    said = "requirements.lock does not say for which Python and platform it was made"
    assert report.warnings == (UNCHECKED, said)


# --- an index of our own on loopback ---------------------------------------------------------


@pytest.fixture
def serve():
    """Start loopback indexes; each answers a project's name with (status, content type, body)."""
    servers = []

    def start(pages):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append((self.path, self.headers.get("Authorization")))
                page = pages.get(self.path.strip("/").split("/")[-1], (404, "text/plain", b""))
                status, kind, body = page
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        seen = []
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"127.0.0.1:{server.server_port}/simple/", seen

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def page(*files):
    """Make a JSON project page of (file name, sha256 or None, yanked)."""
    entries = [
        {
            "filename": name,
            "url": f"https://example.org/{name}",
            "hashes": {"sha256": sha256} if sha256 else {"md5": "0" * 32},
            "yanked": yanked,
        }
        for name, sha256, yanked in files
    ]
    body = {"meta": {"api-version": "1.0"}, "name": "x", "files": entries}
    return 200, "application/vnd.pypi.simple.v1+json", json.dumps(body).encode()


def test_an_index_in_html(serve):
    body = f'<a href="https://example.org/x-1.tar.gz#sha256={A}">x-1.tar.gz</a>'.encode()
    place, _ = serve({"x": (200, "text/html", body)})

    report = check_packages(
        pins(f"x==1.0 --hash=sha256:{A}"), declared_none=False, index_urls=[f"http://{place}"]
    )

    assert (report.state, report.line, report.checked) == ("passed", OFFERED, 1)


def test_several_indexes_count_together_as_for_pip(serve):
    one, _ = serve({"x": page(("x-1.tar.gz", A, False))})
    two, _ = serve(
        {"x": page(("x-1-py3-none-any.whl", B, False)), "y": page(("y-2.tar.gz", C, False))}
    )
    lock_bytes = pins(f"x==1 --hash=sha256:{A} --hash=sha256:{B}", f"Y==2.0 --hash=sha256:{C}")

    together = check_packages(
        lock_bytes, declared_none=False, index_urls=[f"http://{one}", f"http://{two}"]
    )
    alone = check_packages(lock_bytes, declared_none=False, index_urls=[f"http://{one}"])

    assert (together.state, together.checked) == ("passed", 2)
    assert codes(alone) == ["hash-not-offered", "not-offered"]
    assert alone.line == "FAILED, 2 packages not what 127.0.0.1 offers"


def test_an_index_that_gives_no_sha256_cannot_confirm(serve):
    place, _ = serve({"x": page(("x-1.tar.gz", None, False)), "y": page(("y-1.tar.gz", C, False))})

    report = check_packages(
        pins(f"x==1 --hash=sha256:{A}", f"y==1 --hash=sha256:{C}"),
        declared_none=False,
        index_urls=[f"http://{place}"],
    )

    assert (report.state, report.exit_code, report.problems) == ("not-checkable", 1, ())
    assert report.line == (
        "structure only: not comparable: x 1 (the index gives no SHA-256, which pip would compute)"
    )
    assert (report.listed, report.checked) == (2, 1)


def test_a_package_from_a_url_cannot_be_confirmed_without_a_download(serve):
    place, seen = serve({"y": page(("y-1.tar.gz", C, False))})

    report = check_packages(
        pins(f"x @ http://{place}x.whl --hash=sha256:{A}", f"y==1 --hash=sha256:{C}"),
        declared_none=False,
        index_urls=[f"http://{place}"],
    )

    assert (report.state, report.exit_code) == ("not-checkable", 1)
    assert report.line == (
        "structure only: not comparable: x (comes from a URL, which pip would fetch)"
    )
    assert [path for path, _ in seen] == ["/simple/y/"]


def test_yanked_files_are_offered_still_and_said(serve):
    place, _ = serve({"x": page(("x-1.tar.gz", A, "broken"), ("x-2.tar.gz", B, False))})

    report = check_packages(
        pins(f"x==1 --hash=sha256:{A}"), declared_none=False, index_urls=[f"http://{place}"]
    )

    assert report.state == "passed"
    assert report.warnings == (UNCHECKED, "withdrawn (yanked) by their authors: x 1")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((503, "text/plain", b"later"), "answered 503"),
        ((401, "text/plain", b""), "answered 401"),
        ((200, "application/zip", b"PK"), "does not answer as a package index"),
        ((200, "application/vnd.pypi.simple.v1+json", b"{"), "does not answer as a package index"),
        ((200, "application/vnd.pypi.simple.v1+json", b"{}"), "does not answer as a package index"),
    ],
)
def test_an_index_that_does_not_answer_as_one(serve, answer, said):
    place, _ = serve({"x": answer})

    report = check_packages(
        pins(f"x==1 --hash=sha256:{A}"),
        declared_none=False,
        index_urls=[f"http://user:secret@{place}"],
    )

    assert (report.state, report.exit_code) == ("not-checkable", 1)
    assert report.line.startswith("structure only: 127.0.0.1 ")
    assert said in report.line
    assert "secret" not in str(report)


def test_the_user_and_token_of_an_index_are_sent_and_never_shown(serve):
    place, seen = serve({"x": page(("x-1.tar.gz", B, False))})

    report = check_packages(
        pins(f"x==1 --hash=sha256:{A}"),
        declared_none=False,
        index_urls=[f"http://user:secret@{place}"],
    )

    assert seen[0][1].startswith("Basic ")
    assert report.line == "FAILED, 1 package not what 127.0.0.1 offers"
    assert "secret" not in str(report)


def test_a_lock_cannot_make_us_ask_a_place_of_its_own(serve):
    theirs, seen = serve({"x": page(("x-1.tar.gz", A, False))})
    ours, _ = serve({})

    report = check_packages(
        pins(f"--extra-index-url http://user:secret@{theirs}", f"x==1 --hash=sha256:{A}"),
        declared_none=False,
        index_urls=[f"http://{ours}"],
    )

    assert codes(report) == ["not-offered"]
    said = "requirements.lock names indexes of its own, which were not asked: 127.0.0.1"
    assert report.warnings == (UNCHECKED, said)
    assert seen == []


def test_an_index_that_is_no_url_at_all():
    lock_bytes = pins("--index-url http://[broken", f"x==1 --hash=sha256:{A}")

    report = check_packages(lock_bytes, declared_none=False, index_urls=["http://[broken"])

    assert report.line == "structure only: the index does not answer as a package index"
    assert report.warnings[1].endswith("which were not asked: the index")


def test_many_packages_are_asked_side_by_side_and_the_first_failure_ends_it(serve):
    names = [f"p{at}" for at in range(60)]
    place, seen = serve({name: page((f"{name}-1.tar.gz", A, False)) for name in names})
    lock_bytes = pins(*(f"{name}==1 --hash=sha256:{A}" for name in names))

    whole = check_packages(lock_bytes, declared_none=False, index_urls=[f"http://{place}"])
    assert (whole.state, whole.listed, whole.checked) == ("passed", 60, 60)
    assert sorted(path for path, _ in seen) == sorted(f"/simple/{name}/" for name in names)

    broken, tried = serve(dict.fromkeys(names, (500, "text/plain", b"")))
    report = check_packages(lock_bytes, declared_none=False, index_urls=[f"http://{broken}"])
    assert report.line == "structure only: 127.0.0.1 answered 500"
    assert len(tried) <= 8


def test_which_indexes_are_asked():
    assert configured_indexes({}) == (PYPI_SIMPLE_ENDPOINT,)
    assert configured_indexes({"PIP_NO_INDEX": "true", "PIP_INDEX_URL": "https://a/"}) == ()
    assert configured_indexes({"UV_DEFAULT_INDEX": "mine=https://a/", "UV_INDEX_URL": "x"}) == (
        "https://a/",
    )
    assert configured_indexes(
        {
            "PIP_INDEX_URL": "https://a/simple",
            "UV_DEFAULT_INDEX": "https://b/simple",
            "PIP_EXTRA_INDEX_URL": "https://c/ file:///disk/simple",
            "UV_INDEX": "team=https://d/ https://c/",
        }
    ) == ("https://a/simple", "https://c/", "https://d/")
