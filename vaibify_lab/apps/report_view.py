"""A report as a person reads it: one line a step, then why, then the ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.apps.text import columns, cut, fill
from vaibify_lab.apps.verb import count_of
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason, Rung, StepReport

if TYPE_CHECKING:
    from vaibify_lab.project.report import Report
    from vaibify_lab.runs.plan import Planned
    from vaibify_lab.runs.reuse import Reuse

MOST_MISSING = 3
_RUN_COLOURS: dict[str, Colour] = {
    "current": "green",
    "failed": "red",
    "running": "bold",
    "waiting": "bold",
}
_BADGES: dict[str, tuple[str, str, Colour]] = {
    "passed": ("✓", "+", "green"),
    "failed": ("✗", "x", "red"),
    "untested": ("○", "o", "yellow"),
    "unknown": ("?", "?", "yellow"),
    "none": ("-", "-", "dim"),
    "modified": ("!", "!", "yellow"),
}


def show(
    screen: Screen,
    report: Report,
    steps: Sequence[StepReport],
    planned: Sequence[Planned] | None = None,
    reuse: Mapping[str, Reuse] = MappingProxyType({}),
) -> None:
    """Show a report to people.

    Parameters
    ----------
    screen : Screen
        Where to.
    report : Report
        What is true now.
    steps : sequence of StepReport
        The steps to show.
    planned : sequence of Planned, optional
        What ``run`` would do; then every reason is given, not only the first.
    reuse : mapping of slug to Reuse, optional
        What the cache holds for steps that ``run`` would not skip.
    """
    screen.line(f"{report.workflow.name} ({report.workflow.path})", colour="bold")
    screen.line()
    _table(screen, steps)
    _reasons(screen, steps, planned, reuse)
    _notes(screen, steps)
    screen.line()
    for rung in report.levels:
        _rung(screen, rung, everything=planned is not None)
    for warning in report.warnings:
        screen.line(f"warning: {warning}", hang=3, colour="yellow")


def _table(screen: Screen, steps: Sequence[StepReport]) -> None:
    if not steps:
        screen.line("The workflow has no step yet: write one into listSteps.")
        return
    screen.line("green  run          I Q N U ^  step", colour="dim")
    for step in steps:
        _row(screen, step)
    meanings = [f"{_symbol(screen, state)} {state}" for state in _BADGES]
    screen.line(f"{', '.join(meanings)}.", colour="dim")
    text = "I integrity, Q qualitative, N quantitative tests, U your sign-off, ^ upstream."
    screen.line(text, colour="dim")
    green = sum(step.green for step in steps)
    screen.line(f"{green} of {count_of(len(steps), 'step')} green.")


def _row(screen: Screen, step: StepReport) -> None:
    upstream = "modified" if step.upstream_modified else "none"
    tests = (step.integrity, step.qualitative, step.quantitative)
    badges = [_badge(screen, state) for state in (*tests, step.user, upstream)]
    green = screen.paint("yes  ", "green") if step.green else "no   "
    run = screen.paint(fill(step.run, 11), _RUN_COLOURS.get(step.run, "yellow"))
    extra = "" if step.enabled else " (disabled)"
    name = shown(step.slug) + extra
    if screen.width is not None:
        name = cut(name, screen.width - 31)
    screen.painted(f"{green}  {run}  {' '.join(badges)}  {name}")


def _symbol(screen: Screen, state: str) -> str:
    fancy, plain, _ = _BADGES[state]
    return screen.symbol(fancy, plain)


def _badge(screen: Screen, state: str) -> str:
    return screen.paint(_symbol(screen, state), _BADGES[state][2])


def _reasons(
    screen: Screen,
    steps: Sequence[StepReport],
    planned: Sequence[Planned] | None,
    reuse: Mapping[str, Reuse],
) -> None:
    plans = {one.slug: one for one in planned or ()}
    everything = planned is not None
    said = [step for step in steps if step.reasons or everything]
    if said:
        screen.line()
    for step in said:
        reasons = step.reasons if everything else step.reasons[:1]
        texts = [sentence(one) for one in reasons]
        if step.slug in plans:
            texts.insert(0, _would(plans[step.slug]))
        if step.slug in reuse:
            texts.insert(1, _would_reuse(reuse[step.slug]))
        more = len(step.reasons) - len(reasons)
        if more:
            texts[-1] += f" (and {more} more: --why)"
        if len(texts) == 1:
            screen.line(f"{step.slug}: {texts[0]}", hang=3)
            continue
        screen.line(f"{step.slug}:")
        for text in texts:
            screen.line(f"   {text}", hang=6)


def _would(planned: Planned) -> str:
    if planned.action == "skip" and planned.tests_due:
        return f"run would run its tests alone: {planned.why}"
    if planned.action == "skip":
        return f"run would skip it: it {planned.why}"
    if planned.action == "run":
        return f"run would run it: {planned.why}"
    return f"run would run it if it still differs by then: {planned.why}"


def _would_reuse(reuse: Reuse) -> str:
    would = {"hit": "put its outputs back", "miss": "make them anew", "never": "make them anew"}
    return f"with its inputs as they are, run would {would[reuse.state]}: {reuse.text}"


def _notes(screen: Screen, steps: Sequence[StepReport]) -> None:
    """Say each note once, with the steps it is about."""
    about: dict[str, list[str]] = {}
    for step in steps:
        for note in step.notes:
            about.setdefault(sentence(note), []).append(step.slug)
    if about:
        screen.line()
    for text, slugs in about.items():
        who = "every step" if len(slugs) == len(steps) > 1 else ", ".join(slugs)
        screen.line(f"note: {who}: {text}", hang=3)


def _rung(screen: Screen, rung: Rung, *, everything: bool) -> None:
    head = f"{rung.level} {rung.title}: "
    if rung.met is True:
        screen.line(f"{head}{screen.symbol('✓', '+')} met", colour="green")
        return
    if len(rung.missing) == 1 and rung.missing[0].code == "not-available":
        screen.line(f"{head}{rung.missing[0].text}", colour="dim")
        return
    screen.line(f"{head}{'unknown' if rung.met == 'unknown' else 'not met'}", colour="yellow")
    shown_ones = rung.missing if everything else rung.missing[:MOST_MISSING]
    for reason in shown_ones:
        screen.line(f"   {sentence(reason)}", hang=6)
    more = len(rung.missing) - len(shown_ones)
    if more:
        screen.line(f"   and {more} more")


def sentence(reason: Reason) -> str:
    """Return a reason with its path, where the text does not name it, and its remedy."""
    text = reason.text
    if reason.path is not None and shown(reason.path) not in text:
        text = f"{shown(reason.path)}: {text}"
    return f"{text}; {reason.action}" if reason.action else text


def width_of_names(names: Sequence[str], most: int) -> int:
    """Return the width of a column of names."""
    return min(most, max((columns(shown(name)) for name in names), default=0))
