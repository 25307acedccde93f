"""``lineage``: what a step comes from, the whole way back, as text, JSON or a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaibify_lab.apps.pins import COLOURS, show_breaks, show_going_on
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project
from vaibify_lab.core.errors import UsageError

if TYPE_CHECKING:
    from vaibify_lab.provenance.lineage import Lineage
    from vaibify_lab.provenance.pins import Pinned, StepPins

_WORDS = {"input": "read", "code": "ran", "output": "made"}


def _arguments(parser: Parser) -> None:
    parser.add_argument("step", nargs="?", metavar="STEP", help="slug, name or StepNN")
    parser.add_argument(
        "--format", choices=("text", "json", "svg"), default="text", help="svg is a picture"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    if given.json and given.format == "svg":
        raise UsageError("--json asks for JSON, and --format svg for a picture")
    found = open_project(given).lineage(given.step)
    if given.format == "svg":
        from vaibify_lab.provenance.picture.svg import svg

        screen.picture(svg(found))
    elif given.format == "json":
        screen.one_document(found.to_json())
    else:
        _show(screen, found)
        screen.document(found.to_json())
    return 0


def _show(screen: Screen, found: Lineage) -> None:
    names = {node.id: node.name for node in found.nodes if node.pinned is None}
    for step in found.chain.steps:
        _step(screen, step, names[step.slug])
    if not found.chain.steps:
        screen.line("The workflow has no step yet: write one into listSteps.")
    show_going_on(screen, found.chain)
    if found.chain.breaks:
        screen.line(f"The chain breaks first at {found.chain.broken_at}:", hang=2)
        show_breaks(screen, found.chain.breaks)


def _step(screen: Screen, step: StepPins, name: str) -> None:
    title = name if name == step.slug else f"{name} ({step.slug})"
    screen.line(f"{title}: {step.status}", hang=2, colour="bold")
    for one in step.contents:
        _content(screen, one)


def _content(screen: Screen, one: Pinned) -> None:
    made = f", made by {one.maker}" if one.maker else ""
    status = "" if one.status == "verified" else f", {one.status}"
    about = f"  {_WORDS[one.role]}  {one.path}, version {one.version}{made}{status}"
    colour = None if one.status == "verified" else COLOURS.get(one.status, "yellow")
    screen.line(about, hang=8, colour=colour)


VERB = Verb(
    "lineage",
    example=f"{COMMAND} lineage figure --format svg > figure-lineage.svg",
    execute=_execute,
    arguments=_arguments,
    more="What the step's last passed run read, which runs made that, and so on, the whole way "
    "back; without a step, all steps. Exits 0 whatever it shows; `pins` is the one that judges.",
)
