"""requirements.lock as it is read: what it holds, what is refused and how it is said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pace import takes_at_most
from vaibify_lab.envelope.lock import Lock, LockedPackage, LockProblem, parse_lock, source_digest

A, B = "a" * 64, "b" * 64
HASH = f"--hash=sha256:{A}"


def read(text: str, *, declared_none: bool = False) -> Lock:
    return parse_lock(text.encode(), declared_none=declared_none)


def codes(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in read(text).problems]


def test_a_lock_as_uv_writes_it():
    text = (
        "# vaibify: python 3.11 linux-x86_64\n"
        f"# source-sha256: {B}\n"
        "# made from requirements.in by: jupyter vaibify envelope --only lock\n"
        "NumPy==2.1.0 \\\n"
        f"    --hash=sha256:{A} \\\n"
        f"    --hash=sha256:{B.upper()}\n"
        "    # via pandas\n"
        "typing_extensions[x]==4.0 ; python_full_version < '3.13' \\\n"
        f"    --hash=sha256:{B}\n"
        f"thing @ https://example.org/thing-1.whl#sha256={A}\n"
    )

    lock = read(text)

    assert lock == Lock(
        packages=(
            LockedPackage("numpy", "2.1.0", None, (A, B), 4),
            LockedPackage("typing-extensions", "4.0", 'python_full_version < "3.13"', (B,), 8),
            LockedPackage(
                "thing", "", None, (A,), 10, f"https://example.org/thing-1.whl#sha256={A}"
            ),
        ),
        python="3.11",
        platform="linux-x86_64",
        source_sha256=B,
    )


def test_lock_knows_whether_it_was_made_from_this_source():
    source = b"numpy\n"
    header = f"# source-sha256: {source_digest(source)}\n"

    assert read(f"{header}a==1 {HASH}").matches_source(source) is True
    assert read(f"{header}a==1 {HASH}").matches_source(source + b"pandas\n") is False
    assert read(f"a==1 {HASH}").matches_source(source) is None


def test_header_counts_at_the_top_only():
    late = read(f"a==1 {HASH}\n# vaibify: python 3.11 linux-x86_64\n# source-sha256: {B}\n")

    assert (late.python, late.platform, late.source_sha256) == (None, None, None)


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n", "--require-hashes\n"])
def test_lock_without_packages_is_a_problem_unless_declared(text):
    said = "lists no package, and the workflow does not declare that by bNoPythonPackages"

    assert read(text).problems == (LockProblem(0, "no-packages", said),)
    assert read(text, declared_none=True) == Lock(packages=())


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("a", "unpinned"),
        (f"a {HASH}", "unpinned"),
        (f"a>=1 {HASH}", "unpinned"),
        (f"a~=1.0 {HASH}", "unpinned"),
        (f"a==1,<2 {HASH}", "unpinned"),
        (f"a==1.* {HASH}", "unpinned"),
        (f"a===whatever {HASH}", "unpinned"),
        ("a==1", "no-hash"),
        ("a==1 ; sys_platform == 'win32'", "no-hash"),
        ("a @ https://example.org/a.whl", "no-hash"),
        (f"a==1 --hash=sha512:{A}{A}", "no-hash"),
        (f"a==1 {HASH} --hash=md5:d41d8cd98f00b204e9800998ecf8427e", "bad-hash"),
        (f"a==1 --hash=sha256:{A[:63]}", "bad-hash"),
        (f"a==1 --hash=sha256:{A}0", "bad-hash"),
        (f"a==1 --hash=sha256:{'g' * 64}", "bad-hash"),
        (f"a==1 --hash={A}", "bad-hash"),
        ("a==1 --hash", "bad-hash"),
        (f"a==1 {HASH} --verbose", "unknown-option"),
        (f"a==1 {HASH} -i https://example.org/simple", "unknown-option"),
        (f"a==1 {HASH} stray", "unknown-option"),
        ("-e .", "editable"),
        ("--editable=git+https://example.org/x.git#egg=x", "editable"),
        ("-r other.txt", "nested"),
        ("-rother.txt", "nested"),
        ("--requirement=other.txt", "nested"),
        ("-c other.txt", "nested"),
        ("--no-index", "no-index"),
        ("--no-require-hashes", "hashes-off"),
        ("--require-hash", "unknown-option"),
        ("--use-feature=fast-deps", "unknown-option"),
        ("--index-url", "unknown-option"),
        (HASH, "malformed"),
        (f"a==1 --hash='sha256:{A}'", "malformed"),
        (f"a=1 {HASH}", "malformed"),
        (f"a b==1 {HASH}", "malformed"),
        (f"a==1\t{HASH}", "malformed"),
        (f"a==1 ; nonsense {HASH}", "malformed"),
        (f"a\0b==1 {HASH}", "malformed"),
        (f"https://example.org/a-1-py3-none-any.whl {HASH}", "malformed"),
        (f"a==${{VERSION}} {HASH}", "environment-variable"),
        (f"a @ git+https://example.org/a.git {HASH}", "not-hashable"),
        (f"a @ ssh://example.org/a.zip {HASH}", "not-hashable"),
    ],
)
def test_lines_that_are_refused(line, code):
    lock = read(f"first==1 {HASH}\n\n{line}\nlast==2 {HASH}\n")

    assert [one.name for one in lock.packages] == ["first", "last"]
    assert (3, code) in [(problem.line, problem.code) for problem in lock.problems]
    assert {problem.line for problem in lock.problems} == {3}


@pytest.mark.parametrize(
    "line",
    [
        f"pkg @ file:///builds/x/work {HASH}",
        f"pkg @ FILE:///builds/x/work {HASH}",
        f"./wheels/pkg-1-py3-none-any.whl {HASH}",
        f"/builds/x/pkg-1.tar.gz {HASH}",
        f"file:///builds/x/pkg-1.tar.gz {HASH}",
        f"pkg-1-py3-none-any.whl {HASH}",
        f". {HASH}",
        "--find-links /builds/wheels",
        "-f wheels",
        "--index-url file:///builds/simple",
        "--extra-index-url=/builds/simple",
    ],
)
def test_l03_frozen_paths_of_someones_build_machine(line):
    lock = read(f"{line}\nlast==2 {HASH}\n")

    assert [(problem.line, problem.code) for problem in lock.problems] == [(1, "local-path")]
    assert "not installable elsewhere" in lock.problems[0].text
    assert [one.name for one in lock.packages] == ["last"]


def test_options_that_pip_takes_and_that_name_no_place_of_one_machine():
    lock = read(
        "--index-url https://example.org/simple\n--extra-index-url=https://example.net/simple\n"
        f"--find-links https://example.org/wheels\n--no-binary :all:\n--only-binary=a\n"
        f"--prefer-binary\n--require-hashes\n--pre\n--trusted-host example.org\na==1 {HASH}\n"
    )

    assert lock.problems == ()
    assert lock.indexes == ("https://example.org/simple", "https://example.net/simple")
    assert [one.name for one in lock.packages] == ["a"]


@pytest.mark.parametrize(
    ("second", "problems"),
    [
        (f"a==2 {HASH}", [(2, "duplicate")]),
        (f"A==2 ; sys_platform == 'linux' {HASH}", [(2, "duplicate")]),
        (f"a==1 --hash=sha256:{B}", [(2, "duplicate")]),
        (f"a==1 {HASH}", []),
        (f"a==1 {HASH} --hash=sha256:{B}", []),
    ],
)
def test_the_same_package_twice(second, problems):
    lock = read(f"a==1 {HASH}\n{second}\n")

    assert [(problem.line, problem.code) for problem in lock.problems] == problems
    assert [(one.name, one.version) for one in lock.packages] == [("a", "1")]


def test_versions_apart_by_marker_are_no_duplicates():
    lock = read(f"a==1 ; python_version < '3.12' {HASH}\na==2 ; python_version >= '3.12' {HASH}\n")

    assert (lock.problems, [one.version for one in lock.packages]) == ((), ["1", "2"])
    assert codes(f"a==1 ; python_version < '3' {HASH}\na==2 {HASH}\n") == [(2, "duplicate")]


def test_continuations_and_comments_as_pip_joins_them():
    joined = read(f"a==1 \\\n  {HASH} \\\n  --hash=sha256:{B}  # both\nb==2 \\\n{HASH} \\")
    assert [(one.line, one.hashes) for one in joined.packages] == [(1, (A, B)), (4, (A,))]
    assert joined.problems == ()

    # A comment ends the continuation, so the hash below belongs to no package.
    broken = f"a==1 \\\n# comment\n{HASH}\n"
    assert codes(broken) == [(1, "no-hash"), (3, "malformed")]
    # A blank after the backslash: no continuation.
    assert codes(f"a==1 \\ \n{HASH}\n") == [(1, "malformed"), (2, "malformed")]


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r"])
def test_a_requirement_cannot_hide_behind_a_line_end_that_only_pip_sees(end):
    lock = read(f"a==1 {HASH}\n# comment{end}evil\n")

    assert [problem.code for problem in lock.problems] == ["unpinned", "no-hash"]


@pytest.mark.parametrize("coding", ["utf-7", "latin-1", "utf-16"])
def test_a_requirement_cannot_hide_behind_an_encoding(coding):
    assert codes(f"# -*- coding: {coding} -*-\na==1 {HASH}\n") == [(1, "not-utf8")]
    assert codes(f"# -*- coding: utf-8 -*-\na==1 {HASH}\n") == []


def test_bytes_that_are_no_utf8():
    text = f"a==1 {HASH}\n"

    assert parse_lock(text.encode("utf-8-sig")).problems == ()
    for data in (text.encode("utf-16"), b"# caf\xe9\n" + text.encode()):
        lock = parse_lock(data)
        assert [problem.code for problem in lock.problems] == ["not-utf8"]
        assert lock.packages == ()


@given(st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_without_a_crash(data):
    lock = parse_lock(data)

    assert lock.packages or lock.problems


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damage_never_makes_a_package_without_a_pin_and_a_hash(data):
    whole = f"a==1.0 \\\n    {HASH}\nb==2 ; python_version < '3' {HASH}\n"
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.text(max_size=2)) + whole[at + 1 :]

    lock = parse_lock(damaged.encode("utf-8", "replace"))

    assert all(one.hashes and (one.version or one.url) for one in lock.packages)
    assert len(lock.packages) + len(lock.problems) >= 1


FIVE = 5 * 2**20
HOSTILE = {
    "blanks": lambda: " " * FIVE,
    "line ends": lambda: "\n" * FIVE,
    "comment signs": lambda: "a#" * (FIVE // 2),
    "comments": lambda: " #" * (FIVE // 2),
    "backslashes": lambda: "\\\n" * (FIVE // 2),
    "continued": lambda: "a==1 \\\n" * 150_000,
    "hyphens": lambda: " -" * (FIVE // 2),
    "short lines": lambda: "a==1\n" * (FIVE // 5),
    "packages": lambda: "".join(f"a{at}==1 {HASH}\n" for at in range(55_000)),
    "one name": lambda: "".join(f"a==1; python_version=='3.{at}' {HASH}\n" for at in range(45_000)),
    "brackets": lambda: f"a==1; {'(' * 4000} {HASH}\n",
    "deep markers": lambda: f"a==1; {'(' * 20} python_version=='3' {')' * 20} {HASH}\n" * 30_000,
    "long markers": lambda: f"a==1; {' or '.join(['os_name==1'] * 300)} {HASH}\n" * 1400,
    "long versions": lambda: f"a=={'1.' * 2000}1 {HASH}\n" * 1200,
    "many clauses": lambda: f"a{',>=1' * 1000} {HASH}\n" * 1200,
    "hashes": lambda: f"a==1 \\\n{f' {HASH}' * 60_000}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_locks_are_answered_soon(name):
    data = HOSTILE[name]().encode()

    with takes_at_most(100):  # a second is 25
        lock = parse_lock(data)

    assert 1 <= len(lock.problems) <= 201
