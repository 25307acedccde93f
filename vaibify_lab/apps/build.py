"""``build``: the image that steps run in, made, looked into and pinned."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of, open_project

if TYPE_CHECKING:
    from vaibify_lab.engines.image.stream import BuildLine
    from vaibify_lab.runs.imaging import BuildReport


@dataclass(slots=True)
class Lines:
    """A build's lines: its steps stay, what they say passes by."""

    screen: Screen
    _step: int = 0

    def tell(self, line: BuildLine) -> None:
        """Take one line."""
        self.screen.json_line({"event": "buildLine", **asdict(line)})
        if line.step != self._step:
            self._step = line.step
            self.screen.line(f"  {line.text}", hang=4)
        else:
            head = f"[{line.step}/{line.steps}] " if line.step else ""
            self.screen.progress(f"  {head}{line.text}")


def _arguments(parser: Parser) -> None:
    parser.add_argument("--no-cache", action="store_true", help="make every layer anew")
    parser.add_argument("--push", metavar="REF", help="push it, as host/name:tag, and pin that")
    parser.add_argument("--base-image", metavar="REF", help="instead of vaibify.yml's baseImage")


def _execute(given: Namespace, screen: Screen) -> int:
    report = open_project(given, cached=False).build(
        base_image=given.base_image,
        no_cache=given.no_cache,
        push=given.push,
        tell=Lines(screen).tell,
    )
    _show(report, screen)
    screen.json_line({"event": "buildComplete", **report.as_json()})
    return 0


def _show(report: BuildReport, screen: Screen) -> None:
    for text in report.warnings:
        screen.line(f"note: {text}", hang=6, colour="yellow")
    for one in report.bases:
        screen.line(f"  base: {one.name} is {one.pinned}", hang=4)
    for source in report.sources:
        screen.line(f"  {source.line.name}: {source.line.ref} is {source.commit}", hang=4)
    mark = screen.symbol("✓", "+")
    packages = count_of(report.packages, "package")
    screen.line(
        f"{mark} {report.image_name}: {report.config_digest} ({report.platform}, {packages} of the "
        f"lock, {report.seconds:.0f} s)",
        hang=2,
    )
    if report.registry_digest:
        screen.line(f"{mark} others pull it as {report.registry_digest}", hang=2)
    else:
        screen.line(f"  nobody else can pull it yet: {COMMAND} build --push REF", hang=4)


VERB = Verb(
    "build",
    example=f"{COMMAND} build --push ghcr.io/me/project:v1",
    execute=_execute,
    arguments=_arguments,
    more="From vaibify.yml, container.conf and requirements.lock, or a Dockerfile of your own. "
    "The lock is made where there is none or its source changed. What the image then holds is "
    "compared with it. Its digest is recorded in .vaibify/environment.json; commit that.",
    leaves="layers that were made are kept; nothing was pinned",
    in_workflow=False,
)
