"""``replay``: a recorded run made again, bit by bit, or the layer that drifted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of, open_project
from vaibify_lab.core.errors import UsageError

if TYPE_CHECKING:
    from vaibify_lab.ceremony.replayed import Replay, StepReplay

_STATES = {
    "identical": "bit-identical",
    "equal": "the same in other bytes",
    "differs": "differs",
    "drifted": "not run: what it stood on is not to be had",
    "failed": "failed",
    "impossible": "cannot be made again",
}


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "steps", nargs="*", metavar="STEP|RUN", help="a step, or a kept run's fingerprint"
    )
    parser.add_argument("--all", action="store_true", help="every step")
    parser.add_argument(
        "--accept", metavar="COMPONENTS", help="what may differ, with commas: kernel,cpu,driver"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    if bool(given.steps) == given.all:
        raise UsageError("replay takes steps or --all", action=f"{COMMAND} replay STEP")
    accept = [one.strip() for one in (given.accept or "").split(",") if one.strip()]

    def tell(event: dict[str, Any]) -> None:
        if event.get("step"):
            screen.progress(f"{event['step']}: {event['event']}")

    found = open_project(given, cached=False).replay(given.steps, accept, tell)
    for one in found.steps:
        _show(screen, one)
    if found.kept is not None:
        screen.line(f"What was found is kept in {found.kept}.", hang=2)
    screen.document(found.to_json())
    if found.is_identical:
        return 0
    screen.failed(f"{COMMAND} replay: {_first_fault(found)}")
    return 1


def _show(screen: Screen, one: StepReplay) -> None:
    for other in one.accepted:
        screen.line(f"{one.slug}: accepted: {other.text}", hang=2, colour="yellow")
    state = _STATES[one.state] if one.is_refused or one.outputs else "not run"
    count = f" ({count_of(len(one.outputs), 'output')})" if one.outputs else ""
    if one.is_identical:
        screen.line(f"{screen.symbol('✓', '+')} {one.slug}: {state}{count}", colour="green")
        return
    screen.line(f"{screen.symbol('✗', 'x')} {one.slug}: {state}{count}", hang=2, colour="red")
    for text in one.problems:
        screen.line(f"    {text}", hang=6)
    for output in one.outputs:
        if output.verdict != "identical":
            screen.line(f"    {output.line}", hang=6)
    for different in (*one.drift, *one.found):
        screen.line(f"    {different.layer}: {different.text}", hang=6)
    if one.layer is not None:
        screen.line(f"    layer that drifted: {one.layer}", hang=6)
    if one.may_help:
        screen.line(f"    {one.may_help}", hang=6)


def _first_fault(found: Replay) -> str:
    """Say in a line what kept it from being bit-identical."""
    refused = [one for one in found.steps if one.is_refused]
    one = next(iter(refused), None) or next(one for one in found.steps if not one.is_identical)
    if one.drift:
        first = min(one.drift, key=lambda different: different.layer != one.layer)
        return f"step {one.slug!r} was not run: {one.layer}: {first.text}"
    if one.problems:
        return f"step {one.slug!r}: {one.problems[0]}"
    other = next(output for output in one.outputs if output.verdict != "identical")
    return f"step {one.slug!r}: {other.path} is {other.verdict}; layer that drifted: {one.layer}"


VERB = Verb(
    "replay",
    example=f"{COMMAND} replay trend\n{COMMAND} replay --all --accept kernel,cpu",
    execute=_execute,
    arguments=_arguments,
    more="Makes the last passed run of a step, or a run that cite kept, again on a copy, with "
    "the same inputs, code, lock, image, seed and date. Where one of them, or a component of "
    "env_hash, is not as recorded, nothing is run and each difference is named; --accept runs all "
    "the same and compares. Exits 0 only when every output is bit-identical.",
    leaves="nothing of the project was changed",
)
