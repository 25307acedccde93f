"""One test session of a step: the script that runs every test command, and what came of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vaibify_lab.checks import pytest_plugin
from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import CategoryResult, TestResult
from vaibify_lab.core.model import Category, TestSuite

_PLUGIN = "vaibify_recorder"
_REPORT_LIMIT = 16 * 2**20
_NOTHING_COLLECTED = 5
_PASSING = frozenset({"passed", "skipped"})


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
    shutil.copyfile(pytest_plugin.__file__, exchange / f"{_PLUGIN}.py")


def script(commands: Sequence[Command], exchange: str) -> str:
    """Return the script: every command runs, each in a shell of its own; exit statuses are kept."""
    there = shlex.quote(exchange)
    lines = [
        f"export PYTHONPATH={there}${{PYTHONPATH:+:$PYTHONPATH}}",
        f'export PYTEST_ADDOPTS="-p {_PLUGIN} -p no:cacheprovider ${{PYTEST_ADDOPTS:-}}"',
        "failed=0",
    ]
    for number, command in enumerate(commands):
        report, status = f"{there}/{number}.json", f"{there}/{number}.status"
        lines.append(
            f"VAIBIFY_TEST_REPORT={report} bash -o pipefail -c {shlex.quote(command.run)}; "
            f"status=$?; echo $status > {status}; [ $status = 0 ] || failed=1"
        )
    return "\n".join([*lines, "exit $failed", ""])


def results(
    commands: Sequence[Command], exchange: Path, ended: str
) -> dict[Category, CategoryResult]:
    """Return what each category's commands came to.

    ``ended`` says in words why the session ended early ("" when it ran to its end).
    """
    found: dict[Category, CategoryResult] = {}
    for category in dict.fromkeys(command.category for command in commands):
        numbered = [(n, one) for n, one in enumerate(commands) if one.category == category]
        judged = [_judge(one, number, exchange, ended) for number, one in numbered]
        found[category] = _join(tuple(one.declared for _, one in numbered), judged)
    return found


@dataclass(frozen=True, slots=True)
class _Judged:
    outcome: Literal["passed", "failed", "unknown"]
    status: int | None
    tests: tuple[TestResult, ...]
    detail: str = ""


def _judge(command: Command, number: int, exchange: Path, ended: str) -> _Judged:
    status = _status(exchange / f"{number}.status")
    if status is None:
        return _Judged("unknown", None, (), ended or "the tests did not run to their end")
    report = _report(exchange / f"{number}.json")
    if report is None:
        outcome: Literal["passed", "failed"] = "passed" if status == 0 else "failed"
        return _Judged(outcome, status, (TestResult(command.declared, outcome, ""),))
    tests = _tests(report)
    bad = any(test.outcome not in _PASSING for test in tests)
    if bad or status not in (0, _NOTHING_COLLECTED):
        return _Judged("failed", status, tests, f"the command ended with exit status {status}")
    ran = any(test.outcome == "passed" for test in tests)
    return _Judged("passed" if ran else "unknown", status, tests, "" if ran else "no test ran")


def _join(commands: tuple[str, ...], judged: Sequence[_Judged]) -> CategoryResult:
    tests = tuple(test for one in judged for test in one.tests)
    ran = sum(test.outcome != "skipped" for test in tests)
    outcomes = {one.outcome for one in judged}
    outcome: Literal["passed", "failed", "unknown"] = "passed"
    if "failed" in outcomes:
        outcome = "failed"
    elif "unknown" in outcomes:
        outcome = "unknown"
    status = next((one.status for one in judged if one.status != 0), 0)
    detail = next((one.detail for one in judged if one.detail), "")
    return CategoryResult(outcome, commands, status, ran, tests, detail)


def _status(path: Path) -> int | None:
    text = _read(path, 16)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def _report(path: Path) -> dict[str, Any] | None:
    data = _read(path, _REPORT_LIMIT)
    if data is None:
        return None
    try:
        value = jsonio.loads(data, path.name)
    except VaibifyError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("tests"), dict) else None


def _tests(report: Mapping[str, Any]) -> tuple[TestResult, ...]:
    found = []
    for name, item in report["tests"].items():
        outcome = item.get("outcome") if isinstance(item, dict) else None
        known = outcome if outcome in ("passed", "failed", "skipped", "error") else "error"
        detail = item.get("detail", "") if isinstance(item, dict) else ""
        found.append(TestResult(str(name)[:2000], known, json.dumps(detail)[1:-1][-1500:]))
    return tuple(found)


def _read(path: Path, limit: int) -> bytes | None:
    """Read a file that test code may have replaced by anything: regular files only, bounded."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        try:
            data = file.read(limit + 1)
        except OSError:
            return None
    return data if len(data) <= limit else None
