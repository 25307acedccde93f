"""Texts that are written and read: Dockerfiles, streams, pip's words. No engine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core.errors import (
    BuildFailed,
    DiskFull,
    ImageRefused,
    InvalidFile,
    MissingFile,
    RegistryUnreachable,
)
from vaibify_lab.engines.image.container_conf import SourceLine
from vaibify_lab.engines.image.context import wanted_files
from vaibify_lab.engines.image.dockerfile import copied_paths, pin_bases, write_dockerfile
from vaibify_lab.engines.image.inside import Difference, Expected, Inside, Package, differences
from vaibify_lab.engines.image.pip_words import fault_in
from vaibify_lab.engines.image.settings import ImageSettings, read_settings
from vaibify_lab.engines.image.sources import Resolved
from vaibify_lab.engines.image.stream import BuildLine, follow_build, follow_transfer

BASE = f"python@sha256:{'0' * 64}"
COMMIT = "1" * 40


def source(method: str, name: str = "mylib") -> Resolved:
    url = "https://example.org/x"
    return Resolved(SourceLine(name, url, "main", method, name, 1), "branch", COMMIT)


def test_the_same_project_gives_the_same_text():
    settings = ImageSettings("python:3.12", "3.12", ("make", "gcc", "make"), "ada")
    sources = (source("c_and_pip"), source("reference", "other"))

    text = write_dockerfile(settings, BASE, sources, with_lock=True)

    assert text == write_dockerfile(settings, BASE, sources, with_lock=True)
    lines = text.splitlines()
    assert lines[2] == f"FROM {BASE}"
    assert lines[4].endswith("--no-install-recommends gcc make && rm -rf /var/lib/apt/lists/*")
    assert "--require-hashes -r /opt/vaibify/requirements.lock" in text
    assert lines[-3:] == ["WORKDIR /workspace", "USER ada", 'CMD ["bash"]']
    assert [line for line in lines if COMMIT in line] == [
        f"RUN : mylib {COMMIT} && make -C /workspace/mylib && python -m pip install "
        "--no-cache-dir --disable-pip-version-check --no-input --no-deps --editable "
        "/workspace/mylib",
        f"RUN : other {COMMIT}",
    ]


def test_without_packages_no_python_is_asked_for():
    text = write_dockerfile(
        ImageSettings("debian:12"), BASE, (source("reference"),), with_lock=False
    )

    assert "venv" not in text and "pip" not in text


def test_defaults_and_the_lock_s_python():
    assert read_settings({}).base == "python:3.12-slim-bookworm"
    assert read_settings({}, lock_python="3.11.4").base == "python:3.11-slim-bookworm"
    found = read_settings({"pythonVersion": "3.13"}, base="mine:1", lock_python="3.11")
    assert (found.base, found.python) == ("mine:1", "3.13")
    assert read_settings({"repositories": [1], "pythonPackages": ["a"]}).warnings == (
        "vaibify.yml: repositories is not read; the repositories of the image stand in "
        "container.conf",
        "vaibify.yml: pythonPackages is not installed by itself; `init` reads it into "
        "requirements.in",
    )


def test_bases_of_an_own_dockerfile():
    asked = []
    text = (
        "FROM --platform=linux/amd64 python:3 AS Build\nRUN x\nfrom build\nFROM scratch\n"
        "ARG B=1\nFROM $B\nFROM debian:12 as last\r\n"
    )

    pinned, warnings = pin_bases(text, lambda name: asked.append(name) or f"<{name}>")

    assert asked == ["python:3", "debian:12"]
    assert pinned == (
        "FROM --platform=linux/amd64 <python:3> AS Build\nRUN x\nfrom build\nFROM scratch\n"
        "ARG B=1\nFROM $B\nFROM <debian:12> as last\n"
    )
    assert warnings == ["Dockerfile: FROM $B is not fixed: write the name there"]


def test_what_an_own_dockerfile_copies():
    text = (
        "COPY a b/ \\\n  c /to/\nADD --chown=1:1 d https://example.org/x /to\n"
        'COPY ["e f", "/to"]\nCOPY --from=build /x /y\nRUN COPY no\n'
    )

    assert copied_paths(text) == ["a", "b/", "c", "d", "e f"]
    tracked = ["a", "b/one", "c", "d", "e f", "g", ".vaibify/environment.json"]
    assert wanted_files(["a", "b/"], tracked) == ("a", "b/one")
    assert wanted_files(["?", "sources/lib"], tracked) == ("a", "b/one", "c", "d", "g")
    with pytest.raises(InvalidFile):
        wanted_files([".vaibify/environment.json"], tracked)


WORDS = st.sampled_from(
    ["COPY", "ADD", "FROM", "a", ".", "[", '"a"]', "$x", "--from=b", "\\\n", "\n"]
)


@given(st.lists(WORDS | st.text(max_size=5), max_size=30).map(" ".join))
def test_any_dockerfile_is_read_or_refused(text):
    pin_bases(text, lambda name: "x")
    try:
        found = wanted_files(copied_paths(text), ["a", ".vaibify/x"])
    except (InvalidFile, MissingFile) as error:
        assert error.where == "Dockerfile"
    else:
        assert set(found) <= {"a"}


def events(*said: str):
    return [{"stream": one} for one in said]


def test_a_build_s_lines_and_image():
    lines = []
    image = f"sha256:{'a' * 64}"
    found = follow_build(
        [
            *events("Step 1/2 : FROM x", "\n", " ---> 1\nStep 2/2 : RUN y\n", "half", " line\n"),
            *events("\x1b[91mred\x1b[0m\n\x1b]0;title\x07\n", "10%\r20%\n"),
            {"aux": {"ID": image}},
            {"stream": "Successfully built 1"},
        ],
        lines.append,
    )

    assert found == image
    assert [(one.step, one.text) for one in lines] == [
        (1, "Step 1/2 : FROM x"),
        (1, " ---> 1"),
        (2, "Step 2/2 : RUN y"),
        (2, "half line"),
        (2, "red"),
        (2, "\\x1b]0;title\\x07"),
        (2, "20%"),
        (2, "Successfully built 1"),
    ]
    assert lines[0] == BuildLine(1, 2, "Step 1/2 : FROM x")


def test_an_error_in_the_stream_names_the_step():
    with pytest.raises(BuildFailed) as caught:
        follow_build(
            [*events("Step 3/9 : RUN make\n", "cc: no\n"), {"error": "code 2", "errorDetail": {}}],
            lambda line: None,
        )

    assert str(caught.value) == "step 3/9: RUN make: code 2: cc: no"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("filesystem layer verification failed for digest sha256:00", ImageRefused),
        ("denied: requested access to the resource is denied", ImageRefused),
        (
            "Get https://x/v2/: dial tcp 1.2.3.4:443: connect: connection refused",
            RegistryUnreachable,
        ),
        ("net/http: TLS handshake timeout", RegistryUnreachable),
        ("write /var/lib/x: no space left on device", DiskFull),
    ],
)
def test_errors_of_a_transfer(said, kind):
    with pytest.raises(kind):
        follow_transfer([{"status": "Pushing"}, {"error": said}], "x", lambda text: None, "w")


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@given(st.lists(st.dictionaries(st.sampled_from(["stream", "status", "aux", "id"]), JSON)))
def test_any_stream_without_an_error_comes_to_an_end(stream):
    assert follow_build(stream, lambda line: None) is None
    assert follow_transfer(stream, "x", lambda text: None, "w").digest is None


MISMATCH = """\
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have ...
  Downloading six-1.16.0-py3-none-any.whl (6.0 kB)
    pytest-xdist[psutil]==3.6.1 from https://example.org/x.whl (from -r requirements.lock (line 1)):
        Expected sha256 aaaa
             Got        bbbbbbbbbbbbbbbbbbbb
"""
UNPINNED = """\
ERROR: In --require-hashes mode, all requirements must have their versions pinned with ==. These:
    pluggy<2,>=1.5 from https://example.org/p.whl (from pytest==8.3.3->-r lock (line 1))
"""
UNHASHED = """\
ERROR: Hashes are required in --require-hashes mode, but they are missing from some requirements.
    idna==3.6 --hash=sha256:c05
"""
OFFLINE = """\
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError'
ERROR: No matching distribution found for a==1
"""


@pytest.mark.parametrize(
    ("said", "code", "package"),
    [
        (MISMATCH, "hash-mismatch", "pytest-xdist"),
        (UNPINNED, "not-listed", "pluggy"),
        (UNHASHED, "not-listed", "idna"),
        (OFFLINE, "no-network", "a"),
        ("ERROR: No matching distribution found for b[x]>=2\n", "not-offered", "b"),
    ],
)
def test_what_pip_says(said, code, package):
    found = fault_in(said.splitlines())

    assert found is not None
    assert (found.code, found.package) == (code, package)


@given(st.lists(st.sampled_from([*MISMATCH.splitlines(), *UNPINNED.splitlines(), "", "x"])))
def test_any_words_of_pip(lines):
    found = fault_in(lines)

    assert found is None or found.package in ("pytest-xdist", "pluggy")


def test_an_image_against_a_lock():
    inside = Inside(
        packages=(
            Package("NumPy", "2.0"),
            Package("six", "1.16.0"),
            Package("pip", "23"),
            Package("mine", "1", "file:///workspace/lib/mine"),
            Package("odd", "1", "file:///workspace/library"),
        ),
        markers={"sys_platform": "linux"},
    )
    expected = [
        Expected("numpy", "2.0.0"),
        Expected("six", "1.17.0"),
        Expected("gone", "1"),
        Expected("colorama", "1", 'sys_platform == "win32"'),
    ]

    assert differences(inside, expected, ["/workspace/lib/"]) == (
        Difference("other-version", "six", "six 1.17.0: the image has 1.16.0"),
        Difference("missing", "gone", "gone 1 is not in the image"),
        Difference("extra", "odd", "odd 1 is not in the lock"),
    )
