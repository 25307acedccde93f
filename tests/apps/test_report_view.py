"""A report as it is shown: whole screens, from reports made by hand."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.apps.test_screen import Terminal
from vaibify_lab.apps import report_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.text import columns
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.report import Reason, Rung, StepReport
from vaibify_lab.project.report import Report
from vaibify_lab.runs.plan import Planned

GREEN = StepReport(
    slug="clean",
    name="Clean",
    kind="script",
    run="current",
    integrity="passed",
    qualitative="none",
    quantitative="passed",
    unit_test="passed",
    user="passed",
    upstream_modified=False,
    modified_files=(),
    green=True,
    reasons=(),
    notes=(Reason("not-in-container", "ran in a sandbox, not in a container"),),
)
STALE = StepReport(
    slug="trend",
    name="Trend",
    kind="script",
    run="stale",
    integrity="untested",
    qualitative="failed",
    quantitative="unknown",
    unit_test="failed",
    user="untested",
    upstream_modified=True,
    modified_files=("data/a.csv",),
    green=False,
    reasons=(
        Reason("input-changed", "was modified", "data/a.csv", "jupyter vaibify run"),
        Reason("not-signed", "nobody has signed it off", None, "jupyter vaibify sign-off trend"),
    ),
    notes=(Reason("not-in-container", "ran in a sandbox, not in a container"),),
)
NOT_YET = (Reason("not-available", "not available in this version"),)


def report(*steps: StepReport, warnings: tuple[str, ...] = ()) -> Report:
    missing = tuple(Reason("m", f"file {number} is missing") for number in range(5))
    rungs = (
        Rung("L1", "Self-consistent", True, ()),
        Rung("L2", "Published", "unknown", NOT_YET),
        Rung("L3", "Reproducible", False, missing),
    )
    workflow = Workflow("workflow.json", "Mauna Loa", ())
    return Report(workflow, Path("/repo"), steps, rungs, warnings)


def shown(found: Report, planned: tuple[Planned, ...] | None = None) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    report_view.show(Screen(out=out), found, found.steps, planned)
    assert isinstance(out.buffer, io.BytesIO)
    return out.buffer.getvalue().decode()


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_the_whole_screen() -> None:
    assert shown(report(GREEN, STALE, warnings=("odd key",))) == (
        "Mauna Loa (workflow.json)\n"
        "\n"
        "green  run          I Q N U ^  step\n"
        "yes    current      ✓ - ✓ ✓ -  clean\n"
        "no     stale        ○ ✗ ? ○ !  trend\n"
        "✓ passed, ✗ failed, ○ untested, ? unknown, - none, ! modified.\n"
        "I integrity, Q qualitative, N quantitative tests, U your sign-off, ^ upstream.\n"
        "1 of 2 steps green.\n"
        "\n"
        "trend: data/a.csv: was modified; jupyter vaibify run (and 1 more: --why)\n"
        "\n"
        "note: every step: ran in a sandbox, not in a container\n"
        "\n"
        "L1 Self-consistent: ✓ met\n"
        "L2 Published: not available in this version\n"
        "L3 Reproducible: not met\n"
        "   file 0 is missing\n"
        "   file 1 is missing\n"
        "   file 2 is missing\n"
        "   and 2 more\n"
        "warning: odd key\n"
    )


def test_why_gives_every_reason_and_what_run_would_do() -> None:
    planned = (
        Planned("clean", "skip", "is current"),
        Planned("trend", "if-needed", "data/a.csv was modified"),
    )
    text = shown(report(GREEN, STALE), planned)
    assert (
        "clean: run would skip it: it is current\n"
        "trend:\n"
        "   run would run it if it still differs by then: data/a.csv was modified\n"
        "   data/a.csv: was modified; jupyter vaibify run\n"
        "   nobody has signed it off; jupyter vaibify sign-off trend\n"
    ) in text
    assert text.count("is missing") == 5


def test_no_step_is_said() -> None:
    assert "The workflow has no step yet" in shown(report())


def test_an_unknown_rung_is_not_met() -> None:
    rung = Rung("L1", "Self-consistent", "unknown", (Reason("git", "git could not be asked"),))
    found = Report(Workflow("w.json", "W", ()), Path("/repo"), (GREEN,), (rung,), ())
    assert shown(found).endswith("L1 Self-consistent: unknown\n   git could not be asked\n")


def test_hostile_names_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    slugs = (Reason("x", f"the note says {evil}"), Reason("y", "was modified", f"out/{evil}"))
    step = StepReport(
        **{name: getattr(STALE, name) for name in StepReport.__slots__ if name != "reasons"},
        reasons=slugs,
    )
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    found = report(step, warnings=(evil,))
    screen = Screen(out=out)
    report_view.show(screen, found, found.steps, (Planned("trend", "run", evil),))
    text = out.said()
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count("\\x1b]0;owned") == 4


@pytest.mark.parametrize("width", [40, 80])
def test_it_fits(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    names = {name: getattr(STALE, name) for name in StepReport.__slots__ if name != "slug"}
    long = StepReport(**names, slug="a-very-long-name-of-a-step-" * 5)
    out = Terminal()
    found = report(GREEN, long, warnings=("long " * 40,))
    report_view.show(Screen(out=out), found, found.steps)
    assert max(columns(line) for line in out.said().splitlines()) <= max(width, 79)
    assert sum(line.endswith("...") for line in out.said().splitlines()) == 1


def test_states_are_words_not_only_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal("ascii")
    found = report(GREEN, STALE)
    report_view.show(Screen(out=out), found, found.steps)
    assert "yes  \x1b[0m  \x1b[32mcurrent" in out.said()
    assert "+ passed, x failed, o untested, ? unknown, - none, ! modified." in out.said()
