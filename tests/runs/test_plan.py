"""The plan: which steps a run makes and why, as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.core.builders import step, workflow
from vaibify_lab.core.errors import UnknownStep, UsageError
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.report import Reason, RunState, StepReport
from vaibify_lab.runs.plan import Mode, Selection, nested, plan

CURRENT = "is current"
WAITS = "waits for what its parents make"
UPSTREAM = "something upstream of it changed"
ASKED = "was asked for"


def diamond(**keys: dict[str, Any]) -> Workflow:
    """Top, Left and Right, End; with more keys for some."""
    steps = [
        step("Top", saDataFiles=["t.txt"]),
        step("Left", saDataFiles=["l.txt"], saInputDataFiles=["t.txt"]),
        step("Right", saDataFiles=["r.txt"], saInputDataFiles=["t.txt"]),
        step("End", saDataFiles=["e.txt"], saInputDataFiles=["l.txt", "r.txt"]),
    ]
    return workflow(*(one | keys.get(one["sName"].lower(), {}) for one in steps))


def reports(**states: RunState) -> list[StepReport]:
    """Reports of the diamond's steps; a step below one that is not current is told so."""
    below = {"top": (), "left": ("top",), "right": ("top",), "end": ("top", "left", "right")}
    found = []
    for slug, above in below.items():
        run = states.get(slug, "current")
        moved = any(states.get(one, "current") != "current" for one in above)
        reasons = () if run == "current" else (Reason(run, f"{slug} {run}"),)
        found.append(
            StepReport(
                slug=slug,
                name=slug,
                kind="script",
                run=run,
                integrity="none",
                qualitative="none",
                quantitative="none",
                unit_test="none",
                user="untested",
                upstream_modified=moved,
                modified_files=(),
                green=False,
                reasons=reasons,
            )
        )
    return found


TABLE: list[tuple[str, Mode, tuple[str, ...], dict[str, RunState], dict[str, tuple[str, str]]]] = [
    (
        "all is current",
        "stale",
        (),
        {},
        dict.fromkeys(("top", "left", "right", "end"), ("skip", CURRENT)),
    ),
    (
        "one side is stale",
        "stale",
        (),
        {"left": "stale"},
        {
            "top": ("skip", CURRENT),
            "left": ("if-needed", "left stale"),
            "right": ("skip", CURRENT),
            "end": ("if-needed", UPSTREAM),
        },
    ),
    (
        "the top never ran",
        "stale",
        (),
        {"top": "never-run"},
        {
            "top": ("if-needed", "top never-run"),
            "left": ("if-needed", UPSTREAM),
            "right": ("if-needed", UPSTREAM),
            "end": ("if-needed", UPSTREAM),
        },
    ),
    (
        "what failed, was interrupted or is not known is tried again",
        "stale",
        (),
        {"left": "failed", "right": "interrupted", "end": "unknown"},
        {
            "top": ("skip", CURRENT),
            "left": ("if-needed", "left failed"),
            "right": ("if-needed", "right interrupted"),
            "end": ("if-needed", "end unknown"),
        },
    ),
    (
        "all, whatever they are",
        "all",
        (),
        {"left": "stale"},
        dict.fromkeys(("top", "left", "right", "end"), ("run", "every step was asked for")),
    ),
    (
        "one step, and its ancestors as far as they need it",
        "steps",
        ("left",),
        {"top": "stale"},
        {"top": ("if-needed", "top stale"), "left": ("run", ASKED)},
    ),
    (
        "one step whose ancestors are current",
        "steps",
        ("end",),
        {},
        {
            "top": ("skip", CURRENT),
            "left": ("skip", CURRENT),
            "right": ("skip", CURRENT),
            "end": ("run", ASKED),
        },
    ),
    (
        "one step, and a stale ancestor two above: what is between waits",
        "steps",
        ("end",),
        {"top": "stale"},
        {
            "top": ("if-needed", "top stale"),
            "left": ("if-needed", UPSTREAM),
            "right": ("if-needed", UPSTREAM),
            "end": ("run", ASKED),
        },
    ),
    ("only that", "only", ("end",), {"top": "stale"}, {"end": ("run", ASKED)}),
    (
        "from one on",
        "from",
        ("left",),
        {},
        {
            "top": ("skip", CURRENT),
            "left": ("run", ASKED),
            "end": ("run", "comes after what was named"),
        },
    ),
    (
        "two named",
        "steps",
        ("right", "left"),
        {},
        {"top": ("skip", CURRENT), "left": ("run", ASKED), "right": ("run", ASKED)},
    ),
]


@pytest.mark.parametrize(
    ("mode", "named", "states", "expected"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_the_plan(
    mode: Mode,
    named: tuple[str, ...],
    states: dict[str, RunState],
    expected: dict[str, tuple[str, str]],
) -> None:
    planned = plan(diamond(), reports(**states), Selection(mode, named))
    assert {one.slug: (one.action, one.why) for one in planned} == expected
    order = [one.slug for one in planned]
    assert order == [slug for slug in ("top", "left", "right", "end") if slug in expected]


def test_a_current_step_waits_for_a_parent_that_may_run() -> None:
    """Nothing upstream of End is modified yet, but Left is named: what it makes may be new."""
    planned = plan(diamond(), reports(), Selection("from", ("left",)))
    assert [(one.slug, one.action) for one in planned][-1] == ("end", "run")
    found = plan(diamond(), reports(left="stale"), Selection("steps", ("end",)))
    assert [(one.slug, one.action) for one in found] == [
        ("top", "skip"),
        ("left", "if-needed"),
        ("right", "skip"),
        ("end", "run"),
    ]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"bEnabled": False}, "is disabled"),
    ],
)
def test_what_cannot_run_is_passed_over_whatever_its_parents_do(
    keys: dict[str, Any], text: str
) -> None:
    made = diamond(left=keys)
    for mode in ("stale", "all"):
        planned = plan(made, reports(top="stale"), Selection(mode))  # type: ignore[arg-type]
        assert {one.slug: (one.action, one.why) for one in planned}["left"] == ("skip", text)


def test_a_step_that_needs_a_person_is_planned_as_little_as_can_be_without_one() -> None:
    made = diamond(left={"bInteractive": True})
    for mode in ("stale", "all"):
        for attended in (True, False):
            planned = plan(made, reports(left="stale"), Selection(mode), attended=attended)  # type: ignore[arg-type]
            run = mode == "all" and attended
            assert {one.slug: one.action for one in planned}["left"] == (
                "run" if run else "if-needed"
            )
    planned = plan(made, reports(), Selection("from", ("left",)))
    assert {one.slug: one.action for one in planned}["left"] == "run"
    planned = plan(made, reports(), Selection("only", ("right",)), attended=False)
    assert [(one.slug, one.action) for one in planned] == [("right", "run")]
    with pytest.raises(UsageError) as refused:
        plan(made, reports(), Selection("only", ("left",)), attended=False)
    assert str(refused.value) == (
        "workflow.json: step 'left' is done by a person, and nobody is there; "
        "on a terminal: jupyter vaibify run left"
    )


def test_a_disabled_step_is_not_run_by_name() -> None:
    with pytest.raises(UsageError) as refused:
        plan(diamond(left={"bEnabled": False}), reports(), Selection("only", ("left",)))
    assert str(refused.value) == "workflow.json: step 'left' is disabled; set bEnabled to true"


def test_a_step_that_is_not_there() -> None:
    with pytest.raises(UnknownStep, match="there is no step 'lefft'"):
        plan(diamond(), reports(), Selection("only", ("lefft",)))


def test_plots_alone_are_made_of_steps_that_have_them() -> None:
    plotting = {"saPlotCommands": ["true"], "saPlotFiles": ["l.svg"]}
    made = diamond(left=plotting)
    planned = plan(made, reports(), Selection("all"), plot_only=True)
    assert [(one.slug, one.action) for one in planned] == [
        ("top", "skip"),
        ("left", "run"),
        ("right", "skip"),
        ("end", "skip"),
    ]
    with pytest.raises(UsageError, match="makes no plots by saPlotCommands"):
        plan(made, reports(), Selection("only", ("right",)), plot_only=True)


@pytest.mark.parametrize(
    ("one", "two", "together"),
    [
        (("a",), ("b",), True),
        (("a",), ("ab",), True),
        (("a",), ("a",), False),
        (("a",), ("a/b",), False),
        (("a/b", "c"), ("d", "a"), False),
        (("",), ("a",), False),
        (("a/b",), ("a/c",), True),
        ((), ("a",), True),
    ],
)
def test_steps_whose_folders_nest_never_run_together(
    one: tuple[str, ...], two: tuple[str, ...], together: bool
) -> None:
    assert nested(one, two) is not together
    assert nested(two, one) is not together


def test_a_sealed_run_makes_what_no_sealed_run_made() -> None:
    """Else it would prove nothing of a step that is current."""
    seen = reports(left="stale")
    seen[3] = replace(seen[3], sealed=True)
    planned = plan(diamond(), seen, Selection(), sealed=True)
    assert [(one.slug, one.action) for one in planned] == [
        ("top", "run"),
        ("left", "run"),
        ("right", "run"),
        ("end", "if-needed"),
    ]
    assert planned[0].why == "no sealed run of it is recorded"
    sealed = [replace(one, sealed=True) for one in reports()]
    assert all(one.is_idle for one in plan(diamond(), sealed, Selection(), sealed=True))


def test_a_deterministic_run_makes_what_no_deterministic_run_made() -> None:
    seen = reports(left="stale")
    seen[3] = replace(seen[3], deterministic=True)
    planned = plan(diamond(), seen, Selection(), deterministic=True)
    assert [(one.slug, one.action) for one in planned] == [
        ("top", "run"),
        ("left", "run"),
        ("right", "run"),
        ("end", "if-needed"),
    ]
    assert planned[0].why == "no deterministic run of it is recorded"
    every = [replace(one, deterministic=True) for one in reports()]
    assert all(one.is_idle for one in plan(diamond(), every, Selection(), deterministic=True))
