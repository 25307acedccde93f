"""``start``: the project's long-lived container."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "--with-mounts",
        action="store_true",
        help="also mount the folders of this machine that vaibify.yml names (bindMounts)",
    )


def _execute(given: Namespace, screen: Screen) -> int:
    started, left = open_project(given).image().start(with_mounts=given.with_mounts)
    how = "runs already" if started.already else "runs"
    screen.line(f"{screen.symbol('✓', '+')} {started.name} {how}", hang=2)
    for mount in started.mounts:
        mode = "writable" if mount.writable else "read-only"
        screen.line(f"  {mount.target} is {mount.source} ({mode})", hang=4)
    for one in left:
        text = f"vaibify.yml also asks for {one}: look at it, then {COMMAND} start --with-mounts"
        screen.line(f"note: {text}", hang=6, colour="yellow")
    screen.document({**started.to_json(), "not_mounted": list(left)})
    return 0


VERB = Verb(
    "start",
    example=f"{COMMAND} start && {COMMAND} shell",
    execute=_execute,
    arguments=_arguments,
    more="From the pinned image, the repository writable, .git and .vaibify read-only. Steps "
    "do not run in it: each has a container of its own.",
    in_workflow=False,
)
