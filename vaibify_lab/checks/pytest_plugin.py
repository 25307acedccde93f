"""Told by pytest what each test did, writes it down for the host. Runs where the tests run.

It is copied beside the tests' environment and imports nothing of this package. What it reports is
the test code's word: test code that wants to lie can. A session leaves one file, written first
when the plugin is loaded, so that a session that did not come to its end is seen as such.
"""

import json
import os
import time

import pytest

_ORDER = {"error": 3, "failed": 2, "passed": 1, "skipped": 0}
_DETAIL, _DETAILS = 2000, 1000
# Taken out at once: what tests start themselves, workers too, is not a session of its own.
_PREFIX = os.environ.pop("VAIBIFY_TEST_REPORT", "")


class Recorder:
    """Collects one outcome a test and writes them when the session ends."""

    def __init__(self, prefix: str) -> None:
        self.path = f"{prefix}.{os.getpid()}-{time.time_ns()}.json"
        self.tests: dict[str, dict[str, str]] = {}
        self._details = _DETAILS
        self._write(None)

    def pytest_runtest_logreport(self, report) -> None:  # type: ignore[no-untyped-def]  # pytest's
        """Keep the worst of a test's phases."""
        outcome = report.outcome
        if outcome not in _ORDER or (report.when != "call" and outcome == "passed"):
            return  # "rerun", of a plugin that tries again, says nothing yet
        if report.when != "call" and outcome == "failed":
            outcome = "error"
        detail = "" if outcome == "passed" else self._detail(report.longrepr)
        if hasattr(report, "wasxfail"):
            outcome = "passed" if outcome == "skipped" else outcome
            detail = f"expected to fail: {_text(report.wasxfail)}"[:_DETAIL]
        name = _text(report.nodeid)
        known = self.tests.get(name)
        if known is None or _ORDER[outcome] >= _ORDER[known["outcome"]]:
            self.tests[name] = {"outcome": outcome, "detail": detail}

    def pytest_collectreport(self, report) -> None:  # type: ignore[no-untyped-def]  # pytest's
        """Keep what could not be collected."""
        if report.failed:
            name = _text(report.nodeid) or "collection"
            self.tests[name] = {"outcome": "error", "detail": self._detail(report.longrepr)}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus) -> None:  # type: ignore[no-untyped-def]
        """Write everything, whole or not at all."""
        self._write(int(session.exitstatus))

    def _detail(self, shown: object) -> str:
        self._details -= 1
        return _text(shown)[-_DETAIL:] if self._details >= 0 else ""

    def _write(self, status: "int | None") -> None:
        with open(self.path + ".part", "w", encoding="ascii") as file:
            json.dump({"exit_status": status, "tests": self.tests}, file)
        os.replace(self.path + ".part", self.path)


def _text(value: object) -> str:
    """Return text that UTF-8 can hold."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


_RECORDER = Recorder(_PREFIX) if _PREFIX else None


def pytest_configure(config) -> None:  # type: ignore[no-untyped-def]  # pytest's
    """Join in."""
    if _RECORDER is not None:
        config.pluginmanager.register(_RECORDER, "vaibify-recorder")
