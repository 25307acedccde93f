"""``sign-off``: a person's word on exactly the bytes that a step's last run wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaibify_lab.apps.report_view import width_of_names
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.text import fill
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project
from vaibify_lab.core.errors import NotPassed, UsageError
from vaibify_lab.core.paths import shown

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.vouching import SignedOff, ToSign


def _arguments(parser: Parser) -> None:
    parser.add_argument("step", metavar="STEP", help="the step that you looked at")
    verdict = parser.add_mutually_exclusive_group(required=True)
    verdict.add_argument(
        "--pass", dest="verdict", action="store_const", const="passed", help="it is right"
    )
    verdict.add_argument(
        "--fail", dest="verdict", action="store_const", const="failed", help="it is not"
    )
    parser.add_argument("--note", default="", metavar="T", help="what you want to add")
    parser.add_argument("--name", metavar="N", help="your name (git's identity by default)")


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.project.signing import doubts_about, name_of

    project = open_project(given)
    slug = project.step(given.step).slug
    name = name_of(project, given.name)
    if not given.note.isprintable():
        raise UsageError("--note takes one line of text")
    seen = project.to_sign(slug)
    _show(screen, project, seen, f"{slug} as {given.verdict.upper()}, by {name}")
    report = next(one for one in project.report().steps if one.slug == slug)
    if report.run != "current":
        screen.line(f"note: the step is {report.run}: {report.reasons[0].text}", colour="yellow")
    for doubt in doubts_about(project, slug):
        screen.line(f"warning: {doubt}", hang=3, colour="yellow")
    if screen.can_ask() and not screen.agrees("Sign?"):
        raise NotPassed("nothing was signed")
    signed = project.sign_off(seen, given.verdict, by=name, note=given.note)
    entry = signed.entry
    sign = screen.symbol("✓", "+")
    how = "with an SSH signature" if entry.signature else f"unsigned: {entry.unsigned_reason}"
    screen.line(f"{sign} {slug} is signed off as {entry.verdict} by {name} ({how})", hang=2)
    if signed.warning:
        screen.line(f"warning: {signed.warning}", hang=3, colour="yellow")
    screen.document(_answer(project, slug, signed))
    return 0


def _show(screen: Screen, project: Project, seen: ToSign, what: str) -> None:
    screen.line(f"Signing {what}:")
    room = 60 if screen.width is None else screen.width - 38
    wide = width_of_names(list(seen.hashes), room)
    for path, sha256 in seen.hashes.items():
        status = project.opened.tree.lstat(path)
        size = "" if status is None else f"{status.st_size:,} bytes"
        screen.line(f"  {fill(shown(path), wide)}  {sha256[:12]}  {size:>20}")
    if not seen.hashes:
        screen.line("  (the step declares no output)")


def _answer(project: Project, slug: str, signed: SignedOff) -> dict[str, object]:
    entry, fault = signed.entry, signed.envelope_fault
    return {
        "workflow": project.path,
        "step": slug,
        "verdict": entry.verdict,
        "by": entry.by,
        "when": entry.when,
        "note": entry.note,
        "run_id": entry.run_id,
        "hashes": dict(entry.hashes),
        "signed": entry.signature is not None,
        "unsigned_reason": entry.unsigned_reason,
        "envelope_fault": None if fault is None else fault.to_json(),
    }


VERB = Verb(
    "sign-off",
    example=f'{COMMAND} sign-off figure --pass --note "looks right"',
    execute=_execute,
    arguments=_arguments,
    more="Shows what is signed and, on a terminal, asks. Signed with SSH where git has a key.",
    leaves="nothing was signed",
)
