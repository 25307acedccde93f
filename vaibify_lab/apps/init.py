"""``init``: the files that make a git repository a project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of, place

if TYPE_CHECKING:
    from vaibify_lab.notebooks.propose import Proposal
    from vaibify_lab.runs.opened import Opened


def _arguments(parser: Parser) -> None:
    parser.add_argument("--name", metavar="N", help="the project's name (the folder's by default)")
    parser.add_argument(
        "--from-notebook", metavar="FILE", help="also propose steps from a notebook's cells"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.init import init_project
    from vaibify_lab.runs.opened import Opened

    opened = Opened(place(given))
    proposed = [] if given.from_notebook is None else _proposed(opened, given)
    done = init_project(opened, name=given.name)
    sign = screen.symbol("✓", "+")
    for path in done.written:
        screen.line(f"{sign} wrote {path}")
    for path in done.left:
        screen.line(f"- left {path} as it was")
    for path, rule in done.ignored.items():
        text = f"! {path} is ignored by git, so a clone would lack it ({rule})"
        screen.line(text, hang=2, colour="yellow")
    for one in proposed:
        screen.line(f"{given.from_notebook} cell {one.number} could begin with:")
        screen.line(f"  {one.line}", hang=4)
    if given.from_notebook is not None:
        screen.line(
            f"{count_of(len(proposed), 'cell')} could be a step; the notebook was only read"
        )
    elif done.written:
        screen.line(f"Next: describe your steps in workflow.json, then {COMMAND} run", hang=6)
    screen.document(
        {
            "written": list(done.written),
            "left": list(done.left),
            "ignored": done.ignored,
            "proposals": [one.to_json() for one in proposed],
        }
    )
    return 0


def _proposed(opened: Opened, given: Namespace) -> list[Proposal]:
    """Read the notebook before anything is written."""
    from vaibify_lab.project.cells import proposals

    return proposals(opened, os.path.relpath(place(given) / given.from_notebook, opened.tree.root))


VERB = Verb(
    "init",
    example="git init && jupyter vaibify init --name my-analysis",
    execute=_execute,
    arguments=_arguments,
    more="Writes vaibify.yml, container.conf, workflow.json, requirements.in and what git must "
    "know into the enclosing repository. A file that is there is not touched. With "
    "--from-notebook, the lines by which its cells would be steps.",
    leaves="files that were written are whole; run it again for the rest",
    in_workflow=False,
)
