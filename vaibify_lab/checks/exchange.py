"""What the folder that host and tests share holds afterwards: test code may have put anything."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import TestResult
from vaibify_lab.files.plainfile import read_plain

_LIMIT = 16 * 2**20  # of one report
_TESTS, _NAME, _DETAIL, _DETAILS = 100_000, 2000, 1500, 1000
_SESSIONS = 100
_FILES, _PATH = 50_000, 4096
_STATUS = re.compile(rb"[0-9]{1,3}\n")


@dataclass(frozen=True, slots=True)
class Report:
    """One pytest session; ``status`` is None when it did not come to its end.

    ``files`` are those that it says decided: of its tests, its settings and the modules that were
    loaded, as absolute paths where it ran.
    """

    status: int | None
    tests: tuple[TestResult, ...]
    files: tuple[str, ...] = ()


def read_status(path: Path) -> int | None:
    """Return the exit status that the script wrote; None when there is none to be believed."""
    data = _read(path, 16)
    found = _STATUS.fullmatch(data) if data is not None else None
    return int(found[0]) if found and int(found[0]) < 256 else None


def read_reports(exchange: Path, number: int) -> list[Report] | None:
    """Return the sessions of one command; None when one of them cannot be read."""
    name = re.compile(rf"{number}\.[0-9]+-[0-9]+\.json")
    try:
        names = sorted(one for one in os.listdir(exchange) if name.fullmatch(one))
    except OSError:
        return None
    found = [_report(exchange / one) for one in names[: _SESSIONS + 1]]
    reports = [one for one in found if one is not None]
    return reports if len(reports) == len(names) <= _SESSIONS else None


def _report(path: Path) -> Report | None:
    data = _read(path, _LIMIT)
    if data is None:
        return None
    try:
        value = jsonio.loads(data, path.name)
    except VaibifyError:
        return None
    tests = value.get("tests") if isinstance(value, dict) else None
    if not isinstance(tests, dict) or len(tests) > _TESTS:
        return None
    files = _files(value.get("files", []))
    if files is None:
        return None
    status = value.get("exit_status")
    known = isinstance(status, int) and not isinstance(status, bool) and 0 <= status < 256
    return Report(status if known else None, _tests(tests), files)


def _tests(tests: Mapping[str, Any]) -> tuple[TestResult, ...]:
    found = []
    for number, (name, item) in enumerate(tests.items()):
        told: Mapping[str, Any] = item if isinstance(item, dict) else {}
        outcome, detail = told.get("outcome"), told.get("detail")
        if outcome not in ("passed", "failed", "skipped", "error"):
            outcome = "error"
        text = detail[-_DETAIL:] if isinstance(detail, str) and number < _DETAILS else ""
        found.append(TestResult(name[:_NAME], outcome, text))
    return tuple(found)


def _files(value: Any) -> tuple[str, ...] | None:
    """Return the files; None where some would be left out, whose changes nobody would notice."""
    if not isinstance(value, list) or len(value) > _FILES:
        return None
    return (
        tuple(value) if all(isinstance(one, str) and len(one) <= _PATH for one in value) else None
    )


def _read(path: Path, limit: int) -> bytes | None:
    """Read a regular file of bounded size; nothing else is opened for long, no link followed."""
    data = read_plain(path, limit)
    return data if data is not None and len(data) <= limit else None
