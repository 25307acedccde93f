"""Why a step failed, as its log tells: a table, and logs made to mislead or to take time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import takes_at_most
from vaibify_lab.runs import explain
from vaibify_lab.runs.explain import Sealed, tail, why_exit

TRACEBACK = 'Traceback (most recent call last):\n  File "/p/fit.py", line 1, in <module>\n'
TABLE = [
    (
        "python module",
        1,
        f"{TRACEBACK}    import nope\nModuleNotFoundError: No module named 'nope'\n",
        "missing-module",
        "imports 'nope', which is not in its environment",
    ),
    (
        "python submodule, by its whole name",
        1,
        f"{TRACEBACK}ModuleNotFoundError: No module named 'numpy.nope'\n",
        "missing-module",
        "imports 'numpy.nope', which is not in its environment",
    ),
    (
        "python -m",
        1,
        "/usr/bin/python: No module named pytest\n",
        "missing-module",
        "imports 'pytest', which is not in its environment",
    ),
    (
        "R package",
        1,
        "Error in library(ggplot9) : there is no package called ‘ggplot9’\nExecution halted\n",
        "missing-module",
        "loads the R package 'ggplot9', which is not in its environment",
    ),
    (
        "python file",
        1,
        f"{TRACEBACK}FileNotFoundError: [Errno 2] No such file or directory: 'data/x y.csv'\n",
        "missing-file",
        "did not find the file 'data/x y.csv'",
    ),
    (
        "cat",
        1,
        "cat: data/x.csv: No such file or directory\n",
        "missing-file",
        "did not find the file 'data/x.csv'",
    ),
    (
        "ls",
        2,
        "ls: cannot access 'data/x.csv': No such file or directory\n",
        "missing-file",
        "did not find the file 'data/x.csv'",
    ),
    (
        "bash's own",
        127,
        "bash: line 1: ./run.sh: No such file or directory\n",
        "missing-file",
        "did not find the file './run.sh'",
    ),
    (
        "R file",
        1,
        'Error in file(file, "rt") : cannot open the connection\n'
        "Calls: read.csv -> read.table -> file\nIn addition: Warning message:\n"
        "In file(file, \"rt\") :\n  cannot open file 'x.csv': No such file or directory\n"
        "Execution halted\n",
        "missing-file",
        "did not find the file 'x.csv'",
    ),
    (
        "HDF5",
        1,
        "FileNotFoundError: [Errno 2] Unable to open file (unable to open file: "
        "name = 'x.h5', errno = 2, error message = 'No such file or directory')\n",
        "missing-file",
        "did not find the file 'x.h5'",
    ),
    (
        "input",
        1,
        f"Name: {TRACEBACK}EOFError: EOF when reading a line\n",
        "asked-for-input",
        "asked for input; a step runs without a terminal",
    ),
    (
        "a password asked for",
        1,
        f'{TRACEBACK}  File "/usr/lib/python3.12/getpass.py", line 126, in fallback_getpass\n'
        "    return _raw_input(prompt, stream)\nEOFError\n",
        "asked-for-input",
        "asked for input; a step runs without a terminal",
    ),
    (
        "an EOFError of another kind",
        1,
        f"{TRACEBACK}EOFError: Compressed file ended before the end-of-stream marker\n",
        "exit",
        "ended with exit status 1: EOFError: Compressed file ended before the end-of-stream marker",
    ),
    ("signal", 139, "", "exit", "was ended by signal 11, SIGSEGV (exit status 139)"),
    ("no signal", 255, "", "exit", "ended with exit status 255"),
    (
        "command",
        127,
        "bash: line 1: nope: command not found\n",
        "missing-program",
        "calls the program 'nope', which is not in its environment",
    ),
    (
        "command of a script that sh runs",
        127,
        "sh: 1: ./fit.sh: nope: not found\n",
        "missing-program",
        "calls the program 'nope', which is not in its environment",
    ),
    (
        "interpreter in a script's first line",
        127,
        "/usr/bin/env: ‘python’: No such file or directory\n",
        "missing-program",
        "calls the program 'python', which is not in its environment",
    ),
    (
        "what comes after the program that was not there",
        127,
        "bash: line 1: no such: command not found\nreal\t0m0.0s\nsys\t0m0.0s\n",
        "missing-program",
        "calls the program 'no such', which is not in its environment",
    ),
    (
        "a script that is no program",
        126,
        "make.sh: line 1: ./fit.sh: Permission denied\n",
        "not-executable",
        "may not run './fit.sh': it is not marked as a program",
    ),
    (
        "a file that may not be written",
        1,
        "make.sh: line 1: out/fit.json: Permission denied\n",
        "exit",
        "ended with exit status 1: make.sh: line 1: out/fit.json: Permission denied",
    ),
    (
        "file or program",
        1,
        "FileNotFoundError: [Errno 2] No such file or directory: 'nosuch'\n",
        "missing-file",
        "did not find the file or program 'nosuch'",
    ),
    (
        "a sentence that ends alike",
        1,
        "ValueError: the command: not found\n",
        "exit",
        "ended with exit status 1: ValueError: the command: not found",
    ),
    ("nothing said", 3, "", "exit", "ended with exit status 3"),
    (
        "the last line",
        1,
        f"starting\n{TRACEBACK}ValueError: bad \x1b[31mvalue\n\n",
        "exit",
        "ended with exit status 1: ValueError: bad \\x1b[31mvalue",
    ),
    (
        "what came just before the last line is a hint, not the cause",
        1,
        "cat: x.csv: No such file or directory\nValueError: empty\n",
        "exit",
        "ended with exit status 1: ValueError: empty "
        "(before that: cat: x.csv: No such file or directory)",
    ),
    (
        "a module that was tried and done without is no cause",
        1,
        "No module named 'cupy', going on\n" + "working\n" * 30 + "ValueError: empty\n",
        "exit",
        "ended with exit status 1: ValueError: empty",
    ),
    (
        "what only says that something failed is passed over",
        1,
        "cat: x.csv: No such file or directory\n"
        "subprocess.CalledProcessError: Command '['cat', 'x.csv']' returned non-zero\n",
        "missing-file",
        "did not find the file 'x.csv'",
    ),
]


@pytest.mark.parametrize(
    ("status", "log", "code", "text"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_cause(status: int, log: str, code: str, text: str) -> None:
    reason = why_exit(status, log)
    assert (reason.code, reason.text) == (code, text)


def sealed(files: list[str], held: list[str], directory: str = "") -> Sealed:
    """Return a sealed run of a repository with some files."""
    known = frozenset(files)
    return Sealed(directory, "/workspace/p", frozenset(held), known.__contains__, lambda: files)


FILES = ["data/x.csv", "data/a.csv", "lib/plug.py", "pkg/sub/one.py", "pkg/sub/two.py", "README.md"]
MISSED = [
    ("cat: data/x.csv: No such file or directory", "", True, ("data/x.csv",)),
    ("cat: /workspace/p/data/x.csv: No such file or directory", "", True, ("data/x.csv",)),
    ("cat: ../data/x.csv: No such file or directory", "work", True, ("data/x.csv",)),
    ("cat: x.csv: No such file or directory", "", False, ("data/x.csv",)),
    ("cat: x.csv: No such file or directory", "", True, ()),
    ("cat: /elsewhere/x.csv: No such file or directory", "", False, ("data/x.csv",)),
    ("cat: /elsewhere/x.csv: No such file or directory", "", True, ()),
    ("cat: y.csv: No such file or directory", "", True, ()),
    ("No such file or directory: 'data'", "", False, ("data/x.csv", "data/a.csv")),
    ("No such file or directory: 'data'", "", True, ()),
    ("No module named 'plug'", "", True, ("lib/plug.py",)),
    ("No module named 'lib.plug'", "", True, ("lib/plug.py",)),
    ("No module named 'sub'", "", False, ("pkg/sub/one.py", "pkg/sub/two.py")),
    ("No module named 'sub'", "", True, ()),
    ("cannot import name 'one' from 'pkg.sub' (unknown)", "", True, ("pkg/sub/one.py",)),
    ("No module named 'numpy'", "", True, ()),
    ("ValueError: see README.md", "", True, ()),
    ("ValueError: see README.md", "", False, ("README.md",)),
    ("data/x.csv not found.", "", False, ("data/x.csv",)),
    ("ValueError: bad", "", False, ()),
]


@pytest.mark.parametrize(("log", "directory", "certain", "paths"), MISSED)
def test_what_a_sealed_run_missed(
    log: str, directory: str, certain: bool, paths: tuple[str, ...]
) -> None:
    seen = sealed(FILES, ["held.py"], directory)
    assert seen.missed(f"one line\n{log}\n", certain=certain) == paths


def test_what_a_sealed_run_held_was_not_missed() -> None:
    log = "cat: data/x.csv: No such file or directory\nNo module named 'plug'"
    assert sealed(FILES, ["data/x.csv", "lib/plug.py"]).missed(log) == ()


def test_what_a_run_missed_is_named_before_what_its_log_only_speaks_of() -> None:
    log = "see README.md\ncat: data/x.csv: No such file or directory"
    assert sealed(FILES, []).missed(log) == ("data/x.csv",)


TRAPS = {
    "one long line": "a" * 2**20,
    "colons": ": " * 2**19,
    "quotes": "'" * 2**20,
    "nearly a file": "x: No such file or director" * 40_000,
    "files": "x1: No such file or directory\n" * 30_000,
    "modules": "No module named 'x'\n" * 50_000,
    "words": " ".join(f"w{n}/x" for n in range(100_000)),
    "escapes": "\x1b[31m" * 200_000,
    "dots": "No module named 'a" + ".a" * 400_000,
}


@pytest.mark.parametrize("name", TRAPS)
def test_no_log_takes_long(tmp_path: Path, name: str) -> None:
    log = tmp_path / "stderr"
    log.write_text(TRAPS[name])
    files = [f"folder{n % 100}/file{n}.py" for n in range(50_000)]
    with takes_at_most(300):  # what grows with the square takes minutes
        text = tail(log)
        reason = why_exit(1, text)
        paths = sealed(files, []).missed(text)
    assert len(text) <= 64 * 1024
    assert len(reason.text) < 4000
    assert len(paths) <= 5


@given(st.text(max_size=300), st.integers(1, 255))
def test_any_log_gives_a_printable_reason(log: str, status: int) -> None:
    reason = why_exit(status, log)
    assert reason.text.isprintable() and reason.text
    assert sealed(["a"], []).missed(log) in ((), ("a",))


def test_random_bytes_as_a_log(tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    log.write_bytes(random.Random(1).randbytes(200_000))
    assert why_exit(1, tail(log)).text.isprintable()
    assert tail(tmp_path / "nothing") == ""
    assert tail(log, 10) == log.read_bytes()[-10:].decode("utf-8", "replace")


def test_names_are_bounded() -> None:
    assert explain.Sealed("", "/r", frozenset(), lambda path: True, list).missed(
        " ".join(f"f{n}" for n in range(50))
    ) == ("f49", "f48", "f47", "f46", "f45")
