"""One test session of a step: the script that runs every test command, and what came of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vaibify_lab.checks.exchange import Report, read_reports, read_status
from vaibify_lab.core import disk
from vaibify_lab.core.commands import simple_commands
from vaibify_lab.core.facts import (
    BEGAN_NOTHING,
    COLLECTED_NOTHING,
    RAN_NOTHING,
    CategoryResult,
    TestResult,
)
from vaibify_lab.core.interpreters import starts
from vaibify_lab.core.model import Category, TestSuite

PLUGIN = "vaibify_recorder"
_SETS = re.compile(r"(?<![\w$])(PYTHONPATH|PYTEST_ADDOPTS)=")
# Without quotes, which would end the command's own: bash splits no assignment into words.
_BEFORE = {"PYTHONPATH": "${VAIBIFY_TEST_PATH}", "PYTEST_ADDOPTS": "${VAIBIFY_TEST_OPTIONS}"}
_NOTHING_COLLECTED = 5
# unittest: how many ran, and how many of these were skipped or expected to fail.
_RAN = re.compile(
    r"^Ran (\d+) tests? in [^\n]*\n\n(?:OK|NO TESTS RAN)(?: \(([^\n)]*)\))?", re.MULTILINE
)
_VOID = re.compile(r"(?:skipped|expected failures)=(\d+)")
_NOTHING = (RAN_NOTHING, COLLECTED_NOTHING, BEGAN_NOTHING)
_PASSING = frozenset({"passed", "skipped"})
_Outcome = Literal["passed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Command:
    """One test command: as declared, and as the shell gets it."""

    category: Category
    declared: str
    run: str


def commands_of(suites: Sequence[TestSuite], run: Mapping[str, str]) -> tuple[Command, ...]:
    """Return the commands of suites in order; ``run`` maps a declared command to what is run."""
    return tuple(
        Command(suite.category, text, run[text]) for suite in suites for text in suite.commands
    )


def prepare(exchange: Path) -> None:
    """Put the recorder into the folder that host and tests share."""
    plugin = Path(__file__).with_name("pytest_plugin.py").read_bytes()
    try:
        (exchange / f"{PLUGIN}.py").write_bytes(plugin)
    except OSError as error:
        raise disk.failure(error, "the tests cannot be prepared", str(exchange)) from None


def script(commands: Sequence[Command], exchange: str) -> str:
    """Return the script: every command runs, each in a shell of its own; exit statuses are kept.

    Pytest keeps its cache in the exchange, so that testing leaves nothing in the repository. What a
    command puts into ``PYTHONPATH`` and ``PYTEST_ADDOPTS`` itself comes behind what is there.
    """
    there = shlex.quote(exchange)
    options = f"-p {PLUGIN} -o cache_dir={shlex.quote(f'{exchange}/cache')}"
    lines = [
        f"export VAIBIFY_TEST_PATH={there}: VAIBIFY_TEST_OPTIONS={shlex.quote(f'{options} ')}",
        f"export PYTHONPATH={there}${{PYTHONPATH:+:$PYTHONPATH}}",
        'export PYTEST_ADDOPTS="$VAIBIFY_TEST_OPTIONS${PYTEST_ADDOPTS:-}"',
        "failed=0",
    ]
    for number, command in enumerate(commands):
        run = _SETS.sub(lambda found: found[0] + _BEFORE[found[1]], command.run)
        lines.append(
            f"VAIBIFY_TEST_REPORT={there}/{number} bash -o pipefail -c {shlex.quote(run)}; "
            f"status=$?; echo $status > {there}/{number}.status; [ $status = 0 ] || failed=1"
        )
    return "\n".join([*lines, "exit $failed", ""])


def exit_words(status: int) -> str:
    """Say what is known of a command that ended with this status, and nothing else told why."""
    return f"ended with exit status {status}"


def results(
    commands: Sequence[Command],
    exchange: Path,
    ended: str,
    why: Callable[[int], str] = exit_words,
    log: str = "",
) -> dict[Category, CategoryResult]:
    """Return what each category's commands came to.

    ``ended`` says in words why the session ended early ("" when it ran to its end), ``why`` why a
    command ended with a status before it tested anything. ``log`` is the end of what the commands
    wrote to standard error.
    """
    empty = any(map(_is_void, _RAN.finditer(log)))
    found: dict[Category, CategoryResult] = {}
    for category in dict.fromkeys(command.category for command in commands):
        judged = []
        for number, command in enumerate(commands):
            if command.category == category:
                one = _judge(command, number, exchange, ended, why)
                hollow = empty and (len(commands) == 1 or _begins(command, "unittest"))
                judged.append(_hollow(one) if hollow else one)
        declared = tuple(one.declared for one in commands if one.category == category)
        found[category] = _join(declared, judged)
    return found


def files(commands: Sequence[Command], exchange: Path) -> frozenset[str]:
    """Return the files that the sessions say decided, as absolute paths where they ran."""
    reports = (read_reports(exchange, number) or () for number in range(len(commands)))
    return frozenset(one for found in reports for report in found for one in report.files)


@dataclass(frozen=True, slots=True)
class _Judged:
    outcome: _Outcome
    status: int | None
    tests: tuple[TestResult, ...]
    detail: str = ""


def _judge(
    command: Command, number: int, exchange: Path, ended: str, why: Callable[[int], str]
) -> _Judged:
    """Judge one command by its exit status and by every pytest session that it began."""
    status = read_status(exchange / f"{number}.status")
    if status is None:
        return _Judged("unknown", None, (), ended or "did not come to their end")
    reports = read_reports(exchange, number)
    if reports is None:
        outcome: _Outcome = "failed" if status else "unknown"
        return _Judged(outcome, status, (), "left a report that cannot be read")
    if not reports:
        return _by_status(command, status, why)
    return _of_sessions(status, reports, why)


def _by_status(command: Command, status: int, why: Callable[[int], str]) -> _Judged:
    """Judge a command that began no session of pytest's: it is one test."""
    if status == 0 and _begins(command, "pytest"):
        return _Judged("unknown", status, (), BEGAN_NOTHING)
    outcome: _Outcome = "failed" if status else "passed"
    text = why(status) if status else ""
    return _Judged(outcome, status, (TestResult(command.declared, outcome, text),), text)


def _begins(command: Command, program: str) -> bool:
    return any(starts(words, program) for words in simple_commands(command.run))


def _is_void(ran: re.Match[str]) -> bool:
    """Tell whether a run of unittest tested nothing."""
    return int(ran[1]) <= sum(map(int, _VOID.findall(ran[2] or "")))


def _hollow(judged: _Judged) -> _Judged:
    """Believe no pass of unittest that ran nothing; before Python 3.12 its status is 0 then."""
    if judged.outcome != "passed":
        return judged
    return _Judged("unknown", judged.status, (), RAN_NOTHING)


def _of_sessions(status: int, reports: Sequence[Report], why: Callable[[int], str]) -> _Judged:
    tests = tuple(test for report in reports for test in report.tests)
    statuses = [report.status for report in reports]
    bad = [test for test in tests if test.outcome not in _PASSING]
    odd = [one for one in (status, *statuses) if one not in (0, None, _NOTHING_COLLECTED)]
    if bad or odd:
        text = f"{len(bad)} of {len(tests)} tests did not pass" if bad else ""
        return _Judged("failed", status, tests, text or why(odd[0]))
    if None in statuses:
        outcome: _Outcome = "failed" if status else "unknown"
        return _Judged(outcome, status, tests, "did not come to their end")
    ran = any(test.outcome == "passed" for test in tests)
    if not ran or _NOTHING_COLLECTED in (status, *statuses):
        return _Judged(
            "unknown",
            status,
            tests,
            COLLECTED_NOTHING if ran else RAN_NOTHING,
        )
    return _Judged("passed", status, tests)


def _join(commands: tuple[str, ...], judged: Sequence[_Judged]) -> CategoryResult:
    tests = tuple(test for one in judged for test in one.tests)
    ran = sum(test.outcome != "skipped" for test in tests)
    outcomes = {one.outcome for one in judged}
    outcome: _Outcome = "passed"
    if "failed" in outcomes:
        outcome = "failed"
    elif "unknown" in outcomes:
        outcome = "unknown"
    at = next((at for at, one in enumerate(judged) if one.outcome == outcome), 0)
    worst = judged[at]
    status = next((one.status for one in judged if one.status != 0), 0)
    detail = worst.detail
    if detail in _NOTHING and len(commands) > 1:
        detail = f"{detail}: {commands[at]}"
    return CategoryResult(outcome, commands, status, ran, tests, detail)
