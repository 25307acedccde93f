"""``init``: the files that make a git repository a project."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, place


def _arguments(parser: Parser) -> None:
    parser.add_argument("--name", metavar="N", help="the project's name (the folder's by default)")


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.init import init_project
    from vaibify_lab.runs.opened import Opened

    done = init_project(Opened(place(given)), name=given.name)
    sign = screen.symbol("✓", "+")
    for path in done.written:
        screen.line(f"{sign} wrote {path}")
    for path in done.left:
        screen.line(f"- left {path} as it was")
    for path, rule in done.ignored.items():
        text = f"! {path} is ignored by git, so a clone would lack it ({rule})"
        screen.line(text, hang=2, colour="yellow")
    if done.written:
        screen.line(f"Next: describe your steps in workflow.json, then {COMMAND} run", hang=6)
    screen.document(
        {"written": list(done.written), "left": list(done.left), "ignored": done.ignored}
    )
    return 0


VERB = Verb(
    "init",
    example="git init && jupyter vaibify init --name my-analysis",
    execute=_execute,
    arguments=_arguments,
    more="Writes vaibify.yml, container.conf, workflow.json, requirements.in and what git must "
    "know into the enclosing repository. A file that is there is not touched.",
    leaves="files that were written are whole; run it again for the rest",
    in_workflow=False,
)
