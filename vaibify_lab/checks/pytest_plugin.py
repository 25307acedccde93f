"""Told by pytest what each test did, writes it down for the host. Runs where the tests run.

It is copied beside the tests' environment and imports nothing of this package. What it reports is
the test code's word: test code that wants to lie can. A session leaves one file, written first
when the plugin is loaded, so that a session that did not come to its end is seen as such.
"""

import json
import os
import sys
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
        self.files: set[str] = set()
        self._cut_short = False
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

    def pytest_keyboard_interrupt(self, excinfo: object) -> None:
        """Note that the session was left early, which ``pytest.exit`` may do with status 0."""
        self._cut_short = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        """Take over what another process loaded."""
        self.files.update(getattr(node, "workeroutput", {}).get("vaibify_files", ()))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus) -> None:  # type: ignore[no-untyped-def]
        """Write everything, whole or not at all."""
        root = str(session.config.rootpath)
        tests = (name.partition("::")[0] for name in self.tests)  # also those of other processes
        self.files.update(os.path.join(root, one) for one in tests)
        self.files.update(_loaded())
        self._write(None if self._cut_short else int(session.exitstatus))

    def _detail(self, shown: object) -> str:
        self._details -= 1
        return _text(shown)[-_DETAIL:] if self._details >= 0 else ""

    def _write(self, status: "int | None") -> None:
        with open(self.path + ".part", "w", encoding="ascii") as file:
            value = {"exit_status": status, "tests": self.tests, "files": sorted(self.files)}
            json.dump(value, file)
        os.replace(self.path + ".part", self.path)


def _loaded() -> "set[str]":
    """Return the files of every module that is loaded, but for installed ones."""
    installed = tuple({os.path.realpath(one) + os.sep for one in (sys.prefix, sys.base_prefix)})
    found: set[str] = set()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not os.path.realpath(file).startswith(installed):
            found.update((_text(os.path.abspath(file)), _text(os.path.realpath(file))))
    return found


def _text(value: object) -> str:
    """Return text that UTF-8 can hold."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


class Worker:
    """In another process of the same session (pytest-xdist): hands over what was loaded there."""

    def __init__(self, output: "dict[str, object]") -> None:
        self._output = output

    def pytest_sessionfinish(self) -> None:
        """Put it into what xdist sends back."""
        self._output["vaibify_files"] = sorted(_loaded())


_RECORDER = Recorder(_PREFIX) if _PREFIX else None


def pytest_configure(config) -> None:  # type: ignore[no-untyped-def]  # pytest's
    """Join in."""
    if _RECORDER is not None:
        config.pluginmanager.register(_RECORDER, "vaibify-recorder")
    elif hasattr(config, "workeroutput"):
        config.pluginmanager.register(Worker(config.workeroutput), "vaibify-worker")
