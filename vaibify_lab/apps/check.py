"""``check``: what would keep the steps from running, and a clone from being the same."""

from __future__ import annotations

from vaibify_lab.apps import findings_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of, open_project


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "--publish", action="store_true", help="also what a clone of the last commit would lack"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.preflight import fails_check

    project = open_project(given)
    screen.progress("looking ...")
    findings = project.check(publish=given.publish)
    findings_view.show(screen, findings)
    steps = count_of(len(project.opened.workflow(project.path).steps), "step")
    if not findings:
        screen.line(f"{screen.symbol('✓', '+')} nothing is wrong with {steps}", colour="green")
    failed = fails_check(findings)
    screen.document({"passed": not failed, "findings": [one.to_json() for one in findings]})
    if failed:
        bad = next(one for one in findings if fails_check([one]))
        screen.failed(f"{COMMAND} check: {bad}")
    return 1 if failed else 0


VERB = Verb(
    "check",
    example=f"{COMMAND} check --publish",
    execute=_execute,
    arguments=_arguments,
    more="Modules, inputs, commands, lock, names: what can be told without running a step. "
    "Exits 1 when something is not right, a key that nobody knows included.",
)
