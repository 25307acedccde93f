"""What a stranger can confirm by hand: the manifest, a flipped byte, a clone, a read-only clone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import SCRIPT, Done, surroundings, vaibify
from tests.kit import Made
from tests.mistakes import contents
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.lock_compile import this_platform

CONFIRM = ("reproduce", "--skip-tier", "2", "--skip-tier", "3")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
ODD = "parts/new\nline and \\backslash.txt"
STEPS: list[dict[str, Any]] = [
    {
        "sName": "Make",
        "saDataCommands": ["bash make.sh"],
        "saDataFiles": ["out/a.txt"],
        "saInputDataFiles": ["data/in.txt"],
        "dictTests": {"dictIntegrity": {"saCommands": ["bash tests/of_make.sh"]}},
    },
    {
        "sName": "Part",
        "saDataCommands": ["python scripts/part.py {Step01.a}"],
        "saDataFiles": ["parts/"],
        "saPlotCommands": ["cp out/a.txt plots/p.svg"],
        "saPlotFiles": ["plots/p.svg"],
        "dictTests": {
            "dictQuantitative": {
                "saCommands": ["python tests/of_part.py"],
                "sFilePath": "tests/of_part.py",
                "sStandardsPath": "tests/standards.json",
            }
        },
    },
]
FILES = {
    "data/in.txt": "1\n2\n",
    "make.sh": "tr 1-8 2-9 < data/in.txt > out/a.txt\n",
    "scripts/part.py": "import helper, sys\nhelper.split(sys.argv[1])\n",
    "scripts/helper.py": (
        "def split(path):\n"
        "    for n, line in enumerate(open(path)):\n"
        "        open(f'parts/{n}.txt', 'w').write(line)\n"
        f"    open({ODD!r}, 'w').write('odd')\n"
    ),
    "tests/of_make.sh": "test -s out/a.txt\n",
    "tests/of_part.py": "import json\nassert json.load(open('tests/standards.json')) == 2\n",
    "tests/standards.json": "2\n",
    "vaibify.yml": "projectName: by-hand\n",
    "container.conf": "# none\n",
    "requirements.in": "# none\n",
    "requirements.lock": f"# vaibify: python {PYTHON} {this_platform()}\n",
    "notes.txt": "of no step\n",
}
LISTED = {
    *(path for path in FILES if path != "notes.txt"),
    *("out/a.txt", "parts/0.txt", "parts/1.txt", ODD, "plots/p.svg"),
    *("workflow.json", ".vaibify/environment.json"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a project that ran, passed its tests, is signed, enveloped and committed."""
    made = Made.new(tmp_path_factory.mktemp("by-hand") / "project", STEPS, FILES)
    assert made.run()["outcome"] == "passed"
    made.sign("make", "part")
    made.commit("results")
    assert all(step.green for step in made.steps().values())
    return made


@pytest.fixture
def made(finished: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return a copy of it that may be changed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(finished.root, tmp_path / "project", symlinks=True)
    return Made(tmp_path / "project")


@pytest.fixture
def clone(made: Made, tmp_path: Path) -> Made:
    """Return a clone of it in which every mtime is another."""
    clone = made.clone(tmp_path / "elsewhere" / "clone")
    for folder, _, names in os.walk(clone.root):
        for name in names:
            os.utime(os.path.join(folder, name), (2_000_000_000, 2_000_000_000))
    return clone


def coreutils(root: Path) -> tuple[int, list[str]]:
    """Ask sha256sum; return its exit status and the paths that it finds changed."""
    command = ["sha256sum", "--strict", "-c", "MANIFEST.sha256"]
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    failed = [line.removesuffix(": FAILED") for line in lines if line.endswith(": FAILED")]
    assert len(lines) == len(LISTED)
    return done.returncode, [unescaped(path) for path in failed]


def unescaped(path: str) -> str:
    if not path.startswith("\\"):
        return path
    return path[1:].replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def told(root: Path) -> list[dict[str, str]]:
    """Return the problems that ``reproduce`` names in tier 1; its codes must say the same."""
    done = vaibify(root, *CONFIRM, "--json")
    answer = json.loads(done.out)
    problems: list[dict[str, str]] = answer["tiers"][0]["problems"]
    assert (done.code, answer["confirmed"]) == (int(bool(problems)), not problems)
    return problems


def test_what_is_listed(made: Made) -> None:
    lines = made.read("MANIFEST.sha256").splitlines()
    listed = {
        unescaped(("\\" if line[0] == "\\" else "") + line.partition("  ")[2]) for line in lines
    }
    assert listed == LISTED
    assert len(lines) == len(LISTED)


def test_coreutils_and_reproduce_agree(made: Made) -> None:
    assert coreutils(made.root) == (0, [])
    done = vaibify(made.root, *CONFIRM)
    assert (done.code, done.err) == (0, "")
    count = len(LISTED)
    assert f"(MANIFEST.sha256) ... {count}/{count} OK\n" in done.out
    assert done.out.endswith("Confirmed: tier 1. Not checked: 2, 3.\n")


def test_one_byte_of_every_listed_file(made: Made) -> None:
    for path in sorted(LISTED):
        file = made.root / path
        good = file.read_bytes()
        middle = len(good) // 2
        file.write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
        assert coreutils(made.root) == (1, [path])
        problems = told(made.root)
        assert problems[0]["path"] == shown(path), problems
        assert {one.get("path") for one in problems} <= {shown(path), None}, problems
        file.write_bytes(good)
        assert told(made.root) == []
    assert coreutils(made.root) == (0, [])


def test_a_byte_that_is_not_listed_changes_nothing(made: Made) -> None:
    made.write("notes.txt", "other\n")
    assert (coreutils(made.root), told(made.root)) == ((0, []), [])


def test_a_clone_says_the_same(made: Made, clone: Made) -> None:
    here, there = (status(one.root) for one in (made, clone))
    assert [step["green"] for step in here["steps"]] == [True, True]
    assert {step["sUnitTest"] for step in here["steps"]} == {"passed"}
    assert {step["sUser"] for step in here["steps"]} == {"passed"}
    assert there == here
    assert coreutils(clone.root) == (0, [])
    assert told(clone.root) == []
    assert vaibify(clone.root, "verify").code == 0


def test_a_clone_needs_no_run(clone: Made) -> None:
    done = vaibify(clone.root, "run", "--json")
    last = json.loads(done.out.splitlines()[-1])
    assert (done.code, last["steps"]) == (0, {"make": "skipped", "part": "skipped"})


def test_a_clone_of_what_is_stale_is_stale_alike(made: Made, tmp_path: Path) -> None:
    made.write("scripts/helper.py", FILES["scripts/helper.py"] + "# edited\n")
    made.write("out/a.txt", "9\n")
    made.write("tests/standards.json", "3\n")
    made.commit("edited")
    clone = made.clone(tmp_path / "clone")
    here, there = status(made.root), status(clone.root)
    assert there == here
    assert [(step["run"], step["sUnitTest"], step["sUser"]) for step in there["steps"]] == [
        ("stale", "untested", "untested"),
        ("stale", "untested", "passed"),
    ]
    assert {one["path"] for one in told(clone.root)} == {
        "scripts/helper.py",
        "out/a.txt",
        "tests/standards.json",
    }


def status(root: Path) -> dict[str, Any]:
    """Return all that ``status`` answers, but for where the repository is."""
    done = vaibify(root, "status", "--json")
    assert (done.code, done.err) == (0, "")
    answer: dict[str, Any] = json.loads(done.out)
    assert answer.pop("repo") == str(root)
    return answer


def read_only(root: Path, *words: str) -> Done:
    """Type a command in a mount namespace in which the repository cannot be written."""
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && shift && '
    script += '! touch here 2> /dev/null && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", script, "sh", str(root), str(SCRIPT), *words]
    env = surroundings()
    done = subprocess.run(
        command, env=env, capture_output=True, stdin=subprocess.DEVNULL, check=False
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def untouched(clone: Made) -> Iterator[Made]:
    """Give the clone, and see that nothing in it was written, git's own files and ours included."""
    before = contents(clone.root)
    yield clone
    assert contents(clone.root) == before
    assert not (clone.root / ".vaibify/local").exists()


LOOKS = (
    ("status",),
    ("status", "--why", "make"),
    ("status", "--json"),
    ("verify",),
    ("check", "--publish"),
    ("runs",),
    CONFIRM,
    (*CONFIRM, "--json"),
)


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_a_read_only_clone_answers_as_any_other(untouched: Made, words: tuple[str, ...]) -> None:
    done = read_only(untouched.root, *words)
    assert (done.code, done.err) == (0, "")
    assert done == vaibify(untouched.root, *words)


@pytest.mark.parametrize("words", [("run",), ("sign-off", "make", "--pass"), ("envelope",)])
def test_a_read_only_clone_refuses_what_writes(untouched: Made, words: tuple[str, ...]) -> None:
    done = read_only(untouched.root, *words)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"jupyter vaibify {words[0]}: ")
    assert "Read-only file system" in done.err


def test_looking_and_confirming_write_nothing_where_they_could(untouched: Made) -> None:
    assert told(untouched.root) == []
    assert status(untouched.root)["steps"][0]["green"]
