"""``envelope``: the plain files by which anybody can check the project."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Parser, Verb, open_project


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "--only",
        choices=("manifest", "lock", "environment"),
        help="this part, and the manifest that lists it",
    )
    parser.add_argument(
        "--allow-build",
        action="store_true",
        help="packages that have no wheel may run their build's code on this machine",
    )


def _execute(given: Namespace, screen: Screen) -> int:
    project = open_project(given, cached=False)
    written = project.envelope(
        given.only, lambda text: screen.progress(f"  {text}"), allow_build=given.allow_build
    )
    for path, what in written:
        screen.line(f"{screen.symbol('✓', '+')} {path}: {what}", hang=2)
    unlike = project.not_as_recorded()
    for one in unlike:
        screen.line(f"note: {one}", hang=6, colour="yellow")
    screen.document(
        {
            "not_as_recorded": [one.to_json() for one in unlike],
            "written": [{"path": path, "holds": what} for path, what in written],
        }
    )
    return 0


VERB = Verb(
    "envelope",
    example="jupyter vaibify envelope --only lock",
    execute=_execute,
    arguments=_arguments,
    more="Writes MANIFEST.sha256, requirements.lock and .vaibify/environment.json from every "
    "byte, for all workflows of the repository. Commit them.",
    leaves="each file is the old or the new one, whole",
)
