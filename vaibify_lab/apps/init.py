"""``init``: the files that make a git repository a project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, place

_MADE = ("saDataFiles", "saPlotFiles", "saOutputFiles")


def _arguments(parser: Parser) -> None:
    parser.add_argument("--name", metavar="N", help="the project's name (the folder's by default)")
    parser.add_argument(
        "--from-notebook", metavar="FILE", help="propose steps from this notebook's cells"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.project.notebooks import repository_path
    from vaibify_lab.runs.init import init_project
    from vaibify_lab.runs.opened import Opened

    opened = Opened(place(given))
    notebook = given.from_notebook and repository_path(opened, Path(given.from_notebook))
    done = init_project(opened, name=given.name, notebook=notebook)
    sign = screen.symbol("✓", "+")
    for path in done.written:
        screen.line(f"{sign} wrote {path}")
    for path in done.left:
        screen.line(f"- left {path} as it was")
    for path, rule in done.ignored.items():
        text = f"! {path} is ignored by git, so a clone would lack it ({rule})"
        screen.line(text, hang=2, colour="yellow")
    is_written = "workflow.json" in done.written
    for step in done.proposed:
        _propose(screen, step, is_written=is_written)
    if done.proposed and not is_written:
        text = "A workflow with steps is never written over: put what you want of these into its"
        screen.line(f"{text} listSteps; --json prints them as they stand there", hang=2)
    if done.written:
        screen.line(f"Next: describe your steps in workflow.json, then {COMMAND} run", hang=6)
    screen.document(
        {
            "written": list(done.written),
            "left": list(done.left),
            "ignored": done.ignored,
            "proposed": [dict(step) for step in done.proposed],
        }
    )
    return 0


def _propose(screen: Screen, step: Mapping[str, Any], *, is_written: bool) -> None:
    head = "step" if is_written else "proposed, not written: step"
    made = [path for key in _MADE for path in step.get(key, ())]
    screen.line(f"  {head} {step['sName']!r} makes {', '.join(made)}", hang=4)
    if step.get("saInputDataFiles"):
        screen.line(f"    from {', '.join(step['saInputDataFiles'])}", hang=6)


VERB = Verb(
    "init",
    example="git init && jupyter vaibify init --name my-analysis",
    execute=_execute,
    arguments=_arguments,
    more="Writes vaibify.yml, container.conf, workflow.json, requirements.in and what git must "
    "know into the enclosing repository. A file that is there is not touched, but for a "
    "workflow.json without a step, which takes those of --from-notebook. "
    "--from-notebook reads a notebook and proposes a step for what makes files, with the cells it "
    "rests on in a script; look at them before you run them.",
    leaves="files that were written are whole; run it again for the rest",
    in_workflow=False,
)
