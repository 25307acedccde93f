"""``check``: what would keep the steps from running, and a clone from being the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vaibify_lab.apps import findings_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import (
    COMMAND,
    Namespace,
    Parser,
    Verb,
    count_of,
    open_project,
    place,
)
from vaibify_lab.core.errors import UsageError

if TYPE_CHECKING:
    from vaibify_lab.core.finding import Finding
    from vaibify_lab.project import Project


def _arguments(parser: Parser) -> None:
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", help="notebooks, not the steps")
    parser.add_argument(
        "--publish", action="store_true", help="also what a clone of the last commit would lack"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.preflight import fails_check

    project = open_project(given)
    screen.progress("looking ...")
    if given.notebooks:
        findings = _of_notebooks(project, given)
        checked = count_of(len(given.notebooks), "notebook")
    else:
        findings = project.check(publish=given.publish)
        checked = count_of(len(project.opened.workflow(project.path).steps), "step")
    findings_view.show(screen, findings)
    if not findings:
        screen.line(f"{screen.symbol('✓', '+')} nothing is wrong with {checked}", colour="green")
    failed = fails_check(findings)
    screen.document({"passed": not failed, "findings": [one.to_json() for one in findings]})
    if failed:
        bad = next(one for one in findings if fails_check([one]))
        screen.failed(f"{COMMAND} check: {bad}")
    return 1 if failed else 0


def _of_notebooks(project: Project, given: Namespace) -> list[Finding]:
    from vaibify_lab.project.notebook_check import check_notebook, look_without_workflow

    if given.publish:
        raise UsageError("--publish is of the whole repository", action="leave the notebooks out")
    named, start = getattr(given, "workflow", None), place(given)
    has_workflow = named is not None or project.opened.workflow_paths()
    look = project.look() if has_workflow else look_without_workflow(project.opened)
    paths = [os.path.relpath(start / one, project.root) for one in given.notebooks]
    return [one for path in paths for one in check_notebook(project.opened, look, path)]


VERB = Verb(
    "check",
    example=f"{COMMAND} check --publish",
    execute=_execute,
    arguments=_arguments,
    more="Modules, inputs, commands, lock, names: what can be told without running a step. "
    "Exits 1 when something is not right, a key that nobody knows included. Of a notebook: "
    "modules, files, names, kernels and magics that others would not have, and shell commands that "
    "fail unheard.",
)
