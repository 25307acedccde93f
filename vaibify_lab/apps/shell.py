"""``shell``: a terminal in the project's long-lived container."""

from __future__ import annotations

import subprocess

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Verb, open_project
from vaibify_lab.core.errors import UsageError


def _execute(given: Namespace, screen: Screen) -> int:
    if screen.as_json:
        raise UsageError("a shell is for people: it has no JSON", action=f"{COMMAND} shell")
    command = open_project(given).image().shell_command()
    return subprocess.run(command, check=False).returncode


VERB = Verb(
    "shell",
    example=f"{COMMAND} shell",
    execute=_execute,
    more=f"bash, where the project is. Exits as bash does. Needs `{COMMAND} start` before.",
    in_workflow=False,
)
