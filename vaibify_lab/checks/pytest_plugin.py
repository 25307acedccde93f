"""Told by pytest what each test did, writes it down for the host. Runs where the tests run.

It is copied beside the tests' environment and imports nothing of this package. What it reports is
the test code's word: test code that wants to lie can.
"""

import json
import os

_ORDER = {"error": 3, "failed": 2, "passed": 1, "skipped": 0}


class Recorder:
    """Collects one outcome a test and writes them when the session ends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.tests: dict[str, dict[str, str]] = {}

    def pytest_runtest_logreport(self, report) -> None:  # type: ignore[no-untyped-def]  # pytest's
        """Keep the worst of a test's phases."""
        outcome = report.outcome
        if report.when != "call" and outcome == "failed":
            outcome = "error"
        if report.when != "call" and outcome == "passed":
            return
        detail = "" if outcome == "passed" else str(report.longrepr)[-2000:]
        if hasattr(report, "wasxfail"):
            outcome = "passed" if outcome == "skipped" else outcome
            detail = f"expected to fail: {report.wasxfail}"
        known = self.tests.get(report.nodeid)
        if known is None or _ORDER[outcome] >= _ORDER[known["outcome"]]:
            self.tests[report.nodeid] = {"outcome": outcome, "detail": detail}

    def pytest_collectreport(self, report) -> None:  # type: ignore[no-untyped-def]  # pytest's
        """Keep what could not be collected."""
        if report.failed:
            detail = str(report.longrepr)[-2000:]
            self.tests[report.nodeid or "collection"] = {"outcome": "error", "detail": detail}

    def pytest_sessionfinish(self, session, exitstatus) -> None:  # type: ignore[no-untyped-def]
        """Write everything, whole or not at all."""
        value = {"exit_status": int(exitstatus), "tests": self.tests}
        with open(self.path + ".part", "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(self.path + ".part", self.path)


def pytest_configure(config) -> None:  # type: ignore[no-untyped-def]  # pytest's
    """Join in, in the session's main process only."""
    path = os.environ.get("VAIBIFY_TEST_REPORT")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(path), "vaibify-recorder")
