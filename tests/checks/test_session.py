"""What pytest and other commands say, as the host reads it: real sessions, and forged reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.checks import session
from vaibify_lab.checks.exchange import read_reports, read_status
from vaibify_lab.core.facts import CategoryResult
from vaibify_lab.core.model import TestSuite as Suite

FILES = {
    "pass.py": "def test_one(): pass\ndef test_two(): pass\n",
    "fail.py": "def test_good(): pass\ndef test_bad(): assert 1 == 2, 'not so'\n",
    "fixture.py": (
        "import pytest\n"
        "@pytest.fixture\n"
        "def broken(): raise RuntimeError('no data')\n"
        "def test_it(broken): pass\n"
    ),
    "teardown.py": (
        "import pytest\n"
        "@pytest.fixture\n"
        "def broken():\n    yield\n    raise RuntimeError('afterwards')\n"
        "def test_it(broken): pass\n"
    ),
    "syntax.py": "def test_it(:\n",
    "absent.py": "import no_such_module\ndef test_it(): pass\n",
    "none.py": "VALUE = 1\n",
    "skipped.py": (
        "import pytest\n"
        "@pytest.mark.skip(reason='later')\n"
        "def test_one(): pass\n"
        "def test_two(): pytest.skip('not here')\n"
    ),
    "some.py": "import pytest\ndef test_one(): pass\ndef test_two(): pytest.skip('not here')\n",
    "xfail.py": "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_it(): assert 0\n",
    "xpass.py": "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_it(): pass\n",
    "loose.py": "import pytest\n@pytest.mark.xfail\ndef test_it(): pass\n",
    "left.py": (
        "import pytest\ndef test_one(): pass\ndef test_two(): pytest.exit('enough', returncode=0)\n"
    ),
    "killed.py": (
        "import os, signal\n"
        "def test_one(): pass\n"
        "def test_two(): os.kill(os.getpid(), signal.SIGKILL)\n"
    ),
    "exits.py": "import os\ndef test_one(): pass\ndef test_two(): os._exit(0)\n",
    "many.py": (
        "import pytest\n@pytest.mark.parametrize('n', range(12))\ndef test_it(n): assert n != 7\n"
    ),
    "inner.py": (
        "import subprocess, sys\n"
        "def test_it():\n"
        "    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', 'fail.py'])\n"
        "    assert done.returncode == 1\n"
    ),
    "odd.py": "def test_it(): assert 0, 'caf\\udce9 \\x00 \\u2028'\n",
    "plain.py": "import sys\nsys.exit(int(sys.argv[1]))\n",
}
PYTEST = f"{sys.executable} -m pytest -q -p no:randomly"


class Bench:
    """Runs test commands as a step's session does, in bash, and reads what came of them."""

    def __init__(self, place: Path) -> None:
        self.place = place / "work"
        self.exchange = place / "ex change"
        self.environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # quicker
        self.place.mkdir()
        self.exchange.mkdir()
        for name, text in FILES.items():
            (self.place / name).write_text(text, "utf-8", "surrogatepass")

    def run(
        self, *texts: str, after: Callable[[Path], None] = lambda exchange: None, ended: str = ""
    ) -> CategoryResult:
        """Run commands of one category."""
        for left in self.exchange.glob("[0-9]*.*"):
            left.unlink()
        suites = [Suite("integrity", texts)]
        commands = session.commands_of(suites, {text: text for text in texts})
        session.prepare(self.exchange)
        keep = {"PATH": os.environ["PATH"], "HOME": str(self.place), **self.environment}
        subprocess.run(
            ["bash", "-c", session.script(commands, str(self.exchange))],
            cwd=self.place,
            env=keep,
            capture_output=True,
            check=False,
        )
        after(self.exchange)
        return session.results(commands, self.exchange, ended)["integrity"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Make a folder of tests."""
    return Bench(tmp_path)


def outcomes_of(result: CategoryResult) -> dict[str, str]:
    """Return what is said of each test, by its own name."""
    return {test.name.rpartition("::")[2]: test.outcome for test in result.tests}


def test_p_passing(bench: Bench) -> None:
    result = bench.run(f"{PYTEST} pass.py")
    assert (result.outcome, result.exit_status, result.collected) == ("passed", 0, 2)
    assert outcomes_of(result) == {"test_one": "passed", "test_two": "passed"}
    assert result.commands == (f"{PYTEST} pass.py",)
    assert sorted(os.listdir(bench.place)) == sorted([*FILES, "__pycache__"]), (
        "no cache of pytest's"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fail.py", {"test_good": "passed", "test_bad": "failed"}),
        ("fixture.py", {"test_it": "error"}),
        ("teardown.py", {"test_it": "error"}),
        ("syntax.py", {"syntax.py": "error"}),
        ("absent.py", {"absent.py": "error"}),
        ("xpass.py", {"test_it": "failed"}),
        ("odd.py", {"test_it": "failed"}),
    ],
)
def test_failing_whatever_the_shell_makes_of_it(
    bench: Bench, name: str, expected: dict[str, str]
) -> None:
    result = bench.run(f"{PYTEST} {name} || true")
    assert (result.outcome, result.exit_status) == ("failed", 0)
    assert outcomes_of(result) == expected
    assert "did not pass" in result.detail
    bad = next(test for test in result.tests if test.outcome != "passed")
    assert bad.detail, "why is kept"
    json.dumps(bad.detail).encode("utf-8")


@pytest.mark.parametrize(
    ("name", "outcome", "collected", "expected"),
    [
        ("some.py", "passed", 1, {"test_one": "passed", "test_two": "skipped"}),
        ("xfail.py", "unknown", 0, {"test_it": "skipped"}),
        ("loose.py", "passed", 1, {"test_it": "passed"}),
        ("inner.py", "passed", 1, {"test_it": "passed"}),
        ("skipped.py", "unknown", 0, {"test_one": "skipped", "test_two": "skipped"}),
        ("none.py", "unknown", 0, {}),
    ],
)
def test_passing_needs_a_test_that_ran(
    bench: Bench, name: str, outcome: str, collected: int, expected: dict[str, str]
) -> None:
    result = bench.run(f"{PYTEST} {name} || true")
    assert (result.outcome, result.collected, outcomes_of(result)) == (outcome, collected, expected)


@pytest.mark.parametrize(
    "command",
    [
        "PYTHONPATH=deep {} uses.py",
        'export PYTHONPATH="$PWD/deep"; {} uses.py',
        "env PYTHONPATH=deep {} uses.py",
        "PYTHONPATH=$PYTHONPATH:deep {} uses.py",
        "bash -c 'PYTHONPATH=deep {} uses.py'",
        'bash -c "cd . && PYTHONPATH=deep {} uses.py"',
        "PYTHONPATH=deep PYTEST_ADDOPTS=-v {} uses.py",
        "PYTHONPATH=deep PYTEST_ADDOPTS='-v -x' {} uses.py",
    ],
)
def test_a_command_that_sets_the_variables_by_which_pytest_is_asked(
    bench: Bench, command: str
) -> None:
    if command.startswith(("env", 'bash -c "')):  # by which words are split
        bench.exchange = bench.exchange.rename(bench.exchange.with_name("exchange"))
    (bench.place / "deep").mkdir()
    (bench.place / "deep/helper.py").write_text("")
    (bench.place / "uses.py").write_text("import helper\ndef test_it(): pass\n")
    result = bench.run(command.format(PYTEST))
    assert (result.outcome, outcomes_of(result)) == ("passed", {"test_it": "passed"})


def test_a_session_that_pytest_was_told_to_leave(bench: Bench) -> None:
    result = bench.run(f"{PYTEST} left.py")
    assert (result.outcome, result.exit_status) == ("unknown", 0)
    assert result.detail == "did not come to their end"


@pytest.mark.parametrize("command", [f"{PYTEST} --version", f"cd . && {PYTEST} --help"])
def test_pytest_that_begins_no_session(bench: Bench, command: str) -> None:
    result = bench.run(command)
    assert (result.outcome, result.exit_status, result.collected) == ("unknown", 0, 0)


@pytest.mark.parametrize(
    ("count", "said", "outcome"),
    [
        (0, "", "unknown"),
        (2, " (skipped=2)", "unknown"),
        (3, " (skipped=1, expected failures=2)", "unknown"),
        (3, " (skipped=2)", "passed"),
    ],
)
def test_unittest_that_runs_nothing(bench: Bench, count: int, said: str, outcome: str) -> None:
    """By its words: its status is 5 since Python 3.12, and 0 before."""
    command = f"{sys.executable} -m unittest none.py || true"
    log = f"\n----\nRan {count} tests in 0.000s\n\nOK{said}\n"
    done = bench.run(command, "true")
    assert done.outcome == "passed", "what nobody is told of"
    commands = session.commands_of(
        [Suite("integrity", (command, "true"))], {command: command, "true": "true"}
    )
    result = session.results(commands, bench.exchange, "", log=log)["integrity"]
    assert (result.outcome, result.detail) == (
        (outcome, f"ran no test: {command}") if outcome == "unknown" else (outcome, "")
    )


def test_what_a_session_says_it_loaded(bench: Bench) -> None:
    (bench.place / "deep").mkdir()
    (bench.place / "deep/helper.py").write_text("VALUE = 1\n")
    (bench.place / "use.py").write_text(
        "import sys\nsys.path.insert(0, ''.join(['de', 'ep']))\n"
        "import helper\ndef test_it(): pass\n"
    )
    bench.run(f"{PYTEST} use.py")
    commands = session.commands_of([Suite("integrity", ("x",))], {"x": "x"})
    place = os.path.realpath(bench.place)
    found = {one for one in session.files(commands, bench.exchange) if one.startswith(place)}
    assert found == {f"{place}/{one}" for one in ("use.py", "deep/helper.py")}


def test_nothing_collected_by_its_exit_status(bench: Bench) -> None:
    result = bench.run(f"{PYTEST} none.py")
    assert (result.outcome, result.exit_status, result.collected, result.detail) == (
        "unknown",
        5,
        0,
        "ran no test",
    )


@pytest.mark.parametrize("name", ["killed.py", "exits.py"])
def test_a_session_that_did_not_come_to_its_end_never_passes(bench: Bench, name: str) -> None:
    result = bench.run(f"{PYTEST} {name} || true")
    assert (result.outcome, result.exit_status) == ("unknown", 0)
    assert result.detail == "did not come to their end"
    status = 137 if name == "killed.py" else 0
    result = bench.run(f"{PYTEST} {name}")
    assert (result.outcome, result.exit_status) == ("failed" if status else "unknown", status)


def test_options_that_pytest_refuses_never_pass(bench: Bench) -> None:
    for text in ("--no-such-option pass.py", "no_such_file.py", "pass.py::test_three"):
        result = bench.run(f"{PYTEST} {text} || true")
        assert result.outcome in ("failed", "unknown"), text


def test_every_session_of_a_command_counts(bench: Bench) -> None:
    result = bench.run(f"{PYTEST} fail.py; {PYTEST} pass.py")
    assert (result.outcome, result.exit_status, result.collected) == ("failed", 0, 4)
    assert outcomes_of(result)["test_bad"] == "failed"
    command = f"{PYTEST} pass.py; {PYTEST} none.py; true"
    result = bench.run("true", command)
    text = f"collected no test in one of their sessions: {command}"
    assert (result.outcome, result.detail) == ("unknown", text)


def test_with_xdist(bench: Bench) -> None:
    result = bench.run(f"{PYTEST} -p xdist -n 2 many.py")
    assert (result.outcome, result.exit_status, result.collected) == ("failed", 1, 12)
    assert [name for name, said in outcomes_of(result).items() if said == "failed"] == [
        "test_it[7]"
    ]


def test_projects_own_options_of_pytest_stay_usable(bench: Bench) -> None:
    """Such as those of the cache, which a plugin switched off would not know."""
    (bench.place / "pytest.ini").write_text("[pytest]\naddopts = --ff\npython_files = *.py\n")
    result = bench.run(f'export PYTEST_ADDOPTS="$PYTEST_ADDOPTS -v"; {PYTEST} --lf pass.py')
    assert (result.outcome, result.collected) == ("passed", 2)


def test_commands_without_pytest_are_judged_by_their_exit_status(bench: Bench) -> None:
    good, bad = f"{sys.executable} plain.py 0", f"{sys.executable} plain.py 3"
    result = bench.run(good, bad, good)
    assert (result.outcome, result.exit_status, result.collected) == ("failed", 3, 3)
    assert {test.name: test.outcome for test in result.tests} == {good: "passed", bad: "failed"}
    assert result.detail == "ended with exit status 3"
    result = bench.run("false | cat", "cd /; true")
    assert [test.outcome for test in result.tests] == ["failed", "passed"], "pipes fail whole"


def test_a_session_that_was_ended_early(bench: Bench) -> None:
    def cut(exchange: Path) -> None:
        (exchange / "1.status").unlink()

    result = bench.run("true", "true", after=cut, ended="were stopped on request")
    assert (result.outcome, result.exit_status, result.detail) == (
        "unknown",
        None,
        "were stopped on request",
    )


# --- what test code can put there

REAL = '{"exit_status": 0, "tests": {"test_x": {"outcome": "passed", "detail": ""}}}'


def put(path: Path, kind: str, elsewhere: Path) -> None:
    """Put something odd in place of a file."""
    path.unlink(missing_ok=True)
    if kind == "link":
        elsewhere.write_text(REAL)
        path.symlink_to(elsewhere)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        os.mknod(path, 0o666 | 0o020000, os.makedev(1, 5))
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(100 * 2**20)
    else:
        path.write_text(kind)


FORGED = [
    "link",
    "fifo",
    "folder",
    "device",
    "huge",
    "",
    "[]",
    "{",
    '{"exit_status": 0}',
    '{"exit_status": 0, "tests": []}',
    '{"exit_status": 0, "tests": {}}',
    '{"exit_status": "0", "tests": {"a": {"outcome": "passed"}}}',
    '{"exit_status": true, "tests": {"a": {"outcome": "passed"}}}',
    '{"exit_status": 0, "tests": {"a": {"outcome": ["passed"]}}}',
    '{"exit_status": 0, "tests": {"a": "passed"}}',
    '{"exit_status": 0, "tests": {"a": {"outcome": "passed"}, "a": {"outcome": "failed"}}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("kind", FORGED, ids=range(len(FORGED)))
def test_a_forged_report_never_passes(bench: Bench, tmp_path: Path, kind: str) -> None:
    def forge(exchange: Path) -> None:
        put(exchange / "0.7-7.json", kind, tmp_path / "elsewhere")

    began = time.monotonic()
    result = bench.run("true", after=forge)
    assert result.outcome in ("unknown", "failed"), result
    assert time.monotonic() - began < 30
    put(bench.exchange / "1.7-7.json", REAL, tmp_path / "elsewhere")
    assert read_reports(bench.exchange, 1) is not None


@pytest.mark.parametrize(
    "kind", ["link", "fifo", "folder", "huge", "", "0", "0\n\n", "999\n", "-1\n"]
)
def test_a_forged_status_is_none(tmp_path: Path, kind: str) -> None:
    put(tmp_path / "0.status", kind, tmp_path / "elsewhere")
    assert read_status(tmp_path / "0.status") is None
    put(tmp_path / "1.status", "0\n", tmp_path / "elsewhere")
    assert read_status(tmp_path / "1.status") == 0


def test_more_sessions_than_anybody_needs(bench: Bench) -> None:
    def forge(exchange: Path) -> None:
        for number in range(150):
            (exchange / f"0.{number}-1.json").write_text(REAL)

    result = bench.run("true", after=forge)
    assert (result.outcome, result.detail) == ("unknown", "left a report that cannot be read")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tests", "exit_status", "outcome", "detail", "passed", "a::b"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_json_is_read_without_an_error_and_kept_within_bounds(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    place = tmp_path_factory.mktemp("any")
    (place / "0.1-1.json").write_text(json.dumps(value))
    found = read_reports(place, 0)
    if found is not None:
        assert isinstance(value, dict) and isinstance(value["tests"], dict)
        (report,) = found
        assert report.status is None or 0 <= report.status < 256
        assert {test.outcome for test in report.tests} <= {"passed", "failed", "skipped", "error"}
        assert len(report.tests) == len(value["tests"])


def test_a_great_many_tests_are_kept_in_a_marker_that_can_be_read(bench: Bench) -> None:
    def forge(exchange: Path) -> None:
        tests = {f"t{n}": {"outcome": "passed", "detail": "x" * 400} for n in range(30_000)}
        (exchange / "0.1-1.json").write_text(json.dumps({"exit_status": 0, "tests": tests}))

    result = bench.run("true", after=forge)
    assert (result.outcome, result.collected) == ("passed", 30_000)
    assert sum(len(test.detail) for test in result.tests) <= 400 * 1000
