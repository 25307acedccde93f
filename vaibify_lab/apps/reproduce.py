"""``reproduce``: the project confirmed, or not, as a stranger would confirm it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project
from vaibify_lab.core.errors import CannotCheck, UsageError

if TYPE_CHECKING:
    from vaibify_lab.ceremony.reproduce import Reproduction
    from vaibify_lab.project import Project

_EVERY_SECONDS = 0.1


@dataclass(slots=True)
class Lines:
    """The four lines of the ceremony, as they come."""

    screen: Screen
    _head: str = field(default="")
    _told: float = field(default=0.0)

    def begin(self, number: int, what: str) -> None:
        """Begin a tier's line."""
        self._head = f"[{number}/4] {what} ... "
        self.screen.begin(self._head)
        self.screen.progress(self._head)

    def done(self, number: int, line: str, below: Sequence[str]) -> None:
        """End it; what is wrong comes below."""
        self.screen.finish(self._head, line, colour=_colour(line))
        for text in below:
            self.screen.line(f"      {text}", hang=8)

    def progress(self, done: int, listed: int, read: int) -> None:
        """Say how far the hashing is, now and then."""
        now = time.monotonic()
        if now - self._told > _EVERY_SECONDS:
            self._told = now
            self.screen.progress(f"{self._head}{done}/{listed} ({read / 1e6:,.0f} MB)")

    def note(self, text: str) -> None:
        """Say something between two lines."""
        self.screen.line(f"      note: {text}", hang=8, colour="yellow")

    def event(self, event: dict[str, Any]) -> None:
        """Say what a rerun does."""
        if event.get("step"):
            self.screen.progress(f"{self._head}{event['step']}: {event['event']}")
        elif event["event"] == "preparing":
            self.screen.progress(f"{self._head}{event.get('text', '')}")


def tier(word: str) -> int:
    """Read the number of a tier that can be skipped."""
    if word not in ("1", "2", "3"):
        raise UsageError(f"--skip-tier takes 1, 2 or 3, not {word!r}")
    return int(word)


def _arguments(parser: Parser) -> None:
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--rerun", action="store_true", help="also run the workflow again, on a copy"
    )
    again.add_argument("--no-rerun", dest="rerun", action="store_false", help="do not; the default")
    parser.add_argument(
        "--skip-tier",
        type=tier,
        action="append",
        default=[],
        metavar="1|2|3",
        help="leave a tier out, and say so; may be given again",
    )
    parser.add_argument("--report", metavar="FILE", help="write what was found as one HTML page")


def _execute(given: Namespace, screen: Screen) -> int:
    if given.report is not None:
        require_writable(Path(given.report))
    project = open_project(given, cached=False)
    found = confirm(project, given.workflow, given.skip_tier, screen, rerun=given.rerun)
    if given.report is not None:
        _write_page(project, found, Path(given.report))
        screen.line(f"The whole report: {given.report}")
    screen.document(found.as_json())
    if found.exit_code:
        screen.failed(f"{COMMAND} reproduce: not confirmed: {_first_fault(found)}")
    return found.exit_code


def _first_fault(found: Reproduction) -> str:
    """Say what keeps it from being confirmed, in one line."""
    for one in found.tiers:
        if one.state in ("failed", "not-checkable"):
            more = f" (and {len(one.problems) - 1} more)" if len(one.problems) > 1 else ""
            return one.problems[0].line + more if one.problems else f"tier {one.tier} is {one.line}"
    faults = [text for one in found.reruns or () for text in one.problems]
    faults += [
        f"{output.path}: {output.verdict} when run again"
        for one in found.reruns or ()
        for output in one.outputs
        if not output.passes
    ]
    return faults[0] if faults else "nothing was verified"


def confirm(
    project: Project,
    workflow: str | None,
    skip: Sequence[int],
    screen: Screen,
    *,
    rerun: bool = False,
) -> Reproduction:
    """Walk the tiers, telling each, and say the verdict."""
    from vaibify_lab.ceremony.reproduce import Asked, Telling

    lines = Lines(screen)
    asked = Asked(frozenset(skip), rerun, workflow, project.person())
    telling = Telling(lines.begin, lines.done, lines.progress, lines.event, lines.note)
    found = project.reproduce(asked, telling)
    screen.line()
    screen.line(found.summary, hang=3, colour="green" if found.confirmed else "red")
    words = _skipping(found)
    if words:
        text = f"To leave out what cannot be checked here: {COMMAND} reproduce {words}"
        screen.line(text, hang=3)
    return found


def _skipping(found: Reproduction) -> str:
    """Return options that leave out what cannot be checked; "" where nothing would be left."""
    out = [one.tier for one in found.tiers if one.state in ("skipped", "not-checkable")]
    left = [one for one in found.tiers if one.tier not in out]
    is_worth_it = any(one.checked or one.state == "failed" for one in left)
    if not is_worth_it or all(one.state != "not-checkable" for one in found.tiers):
        return ""
    return " ".join(f"--skip-tier {number}" for number in out)


def require_writable(path: Path) -> None:
    """Refuse a report that could not be written, before anything is looked at.

    Raises
    ------
    UsageError
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        text = "is a folder" if path.is_dir() else "its folder does not exist"
        raise UsageError(f"--report cannot be written: {text}", where=str(path))
    if not os.access(path.absolute().parent, os.W_OK):
        text = "--report cannot be written: its folder is read-only"
        raise UsageError(text, where=str(path), action="name a file elsewhere")


def _write_page(project: Project, found: Reproduction, path: Path) -> None:
    from vaibify_lab.ceremony.page import page

    text = page(project.opened, found)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        text = f"the report cannot be written: {error.strerror}"
        raise CannotCheck(text, where=str(path)) from None


def _colour(line: str) -> Colour | None:
    if line.startswith("FAILED"):
        return "red"
    if line.startswith(("skipped", "not checkable", "structure only")):
        return "yellow"
    return "green"


VERB = Verb(
    "reproduce",
    example=f"{COMMAND} reproduce --skip-tier 3 --report report.html",
    execute=_execute,
    arguments=_arguments,
    more="Tier 1 reads every byte of MANIFEST.sha256, 2 asks for every package of "
    "requirements.lock, 3 for the pinned image; --rerun runs the workflow again on a copy "
    "and compares. Nothing is written in the repository. Exits 0 when all that was asked "
    "is confirmed, 1 when something failed or could not be checked, 2 without the files "
    "that it needs.",
    leaves="nothing was written in the repository",
)
