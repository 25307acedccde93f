"""``pins``: what a step's last passed run read and wrote: verified, modified or missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of, open_project
from vaibify_lab.core.paths import shown

if TYPE_CHECKING:
    from vaibify_lab.project.provenance import CheckedPins
    from vaibify_lab.provenance.pins import Break, Chain, Pinned

COLOURS: dict[str, Colour] = {"verified": "green", "missing": "red", "modified": "red"}
_MOST_BREAKS = 10


def _arguments(parser: Parser) -> None:
    parser.add_argument("step", metavar="STEP", help="slug, name or StepNN")


def _execute(given: Namespace, screen: Screen) -> int:
    found = open_project(given).pins(given.step)
    _show(screen, found)
    screen.document(found.to_json())
    if not found.chain.breaks:
        return 0
    where = found.chain.broken_at
    screen.failed(f"{COMMAND} pins: {found.chain.status}; the chain breaks first at {where}")
    return 1


def _show(screen: Screen, found: CheckedPins) -> None:
    own = found.own
    if own.run_id is not None:
        screen.line(f"{own.slug}: {_counted(own.contents)} pinned by run {own.run_id}")
    elif not own.fault:
        screen.line(f"{own.slug}: no pins (no run of it that passed is on record)")
    for one in own.contents:
        _content(screen, one)
    for new in own.added:
        word = "added" if new.status == "modified" else new.status
        text = f"  {word:<8}  {new.role:<6}  {shown(new.path)}  not pinned by that run"
        screen.line(text, hang=20, colour=COLOURS.get(new.status, "yellow"))
    behind = len(found.chain.steps) - 1
    if behind:
        screen.line(f"It rests on {count_of(behind, 'step')}.")
    show_going_on(screen, found.chain)
    if found.chain.breaks:
        screen.line(f"The chain breaks first at {found.chain.broken_at}:", hang=2)
    elif behind:
        screen.line("Everything is as it was pinned, the whole way back.", colour="green")
    show_breaks(screen, found.chain.breaks)
    if found.chain.breaks and not found.chain.going_on:
        screen.line(f"What mends it: {COMMAND} status {found.chain.broken_at} --why")


def _counted(contents: Sequence[Pinned]) -> str:
    roles = [one.role for one in contents]
    named = {"input": "input", "code": "code file", "output": "output"}
    there = [count_of(roles.count(role), noun) for role, noun in named.items() if role in roles]
    return ", ".join(there) or "nothing"


def _content(screen: Screen, one: Pinned) -> None:
    made = f", made by {one.maker}" if one.maker else ""
    about = f"  {one.status:<8}  {one.role:<6}  {one.path}  version {one.version}{made}"
    screen.line(about, hang=20, colour=COLOURS.get(one.status, "yellow"))


def show_going_on(screen: Screen, chain: Chain) -> None:
    """Say at which steps a run is: what they make is not yet what will be."""
    for text in chain.going_on:
        screen.line(f"note: {text}", hang=3)


def show_breaks(screen: Screen, breaks: Sequence[Break]) -> None:
    """Show where a chain does not hold, the first places of many."""
    for one in breaks[:_MOST_BREAKS]:
        was, now = (one.pinned.sha256, one.pinned.now) if one.pinned else ("", None)
        hashes = f" (pinned {was[:12]}, now {now[:12]})" if now else ""
        screen.line(f"  {one.step}: {one.text}{hashes}", hang=4, colour="yellow")
    if len(breaks) > _MOST_BREAKS:
        screen.line(f"  and {len(breaks) - _MOST_BREAKS} more; --json has all of them")


VERB = Verb(
    "pins",
    example=f"{COMMAND} pins trend",
    execute=_execute,
    arguments=_arguments,
    more="Checks the inputs, code and outputs that the last passed run of the step recorded, and "
    "those of every step that it rests on. Exits 1 when one of them is modified, missing or "
    "cannot be read, or a file was added to what the step reads; 0 also when nothing is pinned.",
)
