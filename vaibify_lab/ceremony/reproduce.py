"""``reproduce``: what a stranger does with the project. Reads every byte, believes no cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaibify_lab.ceremony.engine_here import EngineHere
from vaibify_lab.ceremony.integrity import Listed, Progress, being_read
from vaibify_lab.ceremony.recorded import not_as_recorded
from vaibify_lab.ceremony.report import TierReport
from vaibify_lab.ceremony.tier1 import integrity, readable
from vaibify_lab.core.errors import UsageError, VaibifyError
from vaibify_lab.core.model import Workflow
from vaibify_lab.envelope import environment
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened

if TYPE_CHECKING:
    from vaibify_lab.ceremony.rerun import Rerun

HEADS = {
    1: "Verifying file integrity (MANIFEST.sha256)",
    2: "Reproducing Python env (requirements.lock)",
    3: "Pulling pinned container image",
    4: "Re-running workflow",
}
_NOTES = 5  # files that are not as recorded are named, the others counted


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reproduction is asked to do. ``skip`` holds tiers 1 to 3."""

    skip: frozenset[int] = frozenset()
    rerun: bool = False
    workflow: str | None = None
    person: str = ""


@dataclass(frozen=True, slots=True)
class Telling:
    """How to tell what goes on.

    A tier begins, a line is done, files are hashed, a run goes on; between the lines a note.
    """

    begin: Callable[[int, str], None]
    done: Callable[[int, str, Sequence[str]], None]
    progress: Progress | None = None
    event: Callable[[dict[str, Any]], None] | None = None
    note: Callable[[str], None] | None = None

    def preparing(self, text: str) -> None:
        """Tell what is done before an answer: a pull, a download."""
        if self.event is not None:
            self.event({"event": "preparing", "text": text})


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The verdict."""

    tiers: tuple[TierReport, ...]
    reruns: tuple[Rerun, ...] | None
    unlike: tuple[str, ...] = ()  # what is listed, and not of the recorded runs

    @property
    def confirmed(self) -> bool:
        """Tell whether everything that was asked for passed, and something was."""
        return self.verified_something and self._has_passed

    @property
    def verified_something(self) -> bool:
        """Tell whether anything was looked at; a tier may pass because there is nothing to ask."""
        return any(one.checked for one in self.tiers) or bool(self.reruns)

    @property
    def _has_passed(self) -> bool:
        again = self.reruns is None or (bool(self.reruns) and all(r.passed for r in self.reruns))
        return again and all(one.state in ("passed", "skipped") for one in self.tiers)

    @property
    def exit_code(self) -> int:
        """0 confirmed; 2 when an input file is missing or unreadable; else 1."""
        worst = max(one.exit_code for one in self.tiers)
        return worst or (0 if self.confirmed else 1)

    @property
    def summary(self) -> str:
        """What never claims more than was checked."""
        if not self.unlike:
            return self._verdict
        noun = "file or run is" if len(self.unlike) == 1 else "files or runs are"
        return f"{self._verdict} But {len(self.unlike)} {noun} not as recorded: see the notes."

    @property
    def _verdict(self) -> str:
        by_state = {
            state: [str(one.tier) for one in self.tiers if one.state == state]
            for state in ("passed", "failed", "skipped", "not-checkable")
        }
        if self._has_passed and not self.verified_something:
            return f"NOT confirmed. {_nothing_verified(by_state)}."
        if not self.confirmed:
            return _not_confirmed(by_state, self.reruns)
        if not by_state["skipped"]:
            return "L3 reproduction confirmed."
        by_state["passed"] += ["4"] if self.reruns else []
        passed, skipped = ", ".join(by_state["passed"]), ", ".join(by_state["skipped"])
        noun = "tiers" if len(by_state["passed"]) > 1 else "tier"
        return f"Confirmed: {noun} {passed}. Not checked: {skipped}."

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "confirmed": self.confirmed,
            "summary": self.summary,
            "tiers": [one.as_json() for one in self.tiers],
            "rerun": None if self.reruns is None else _merged(self.reruns),
            "not_as_recorded": list(self.unlike),
        }


def reproduce(opened: Opened, asked: Asked, telling: Telling) -> Reproduction:
    """Walk the tiers.

    Raises
    ------
    UsageError
        When every tier is skipped.
    """
    if asked.skip >= {1, 2, 3}:
        text = "every tier is skipped, so nothing would be confirmed"
        raise UsageError(text, action="leave one to be checked")
    with nullcontext() if 1 in asked.skip else being_read(opened.tree) as listed:
        return _walked(opened, asked, telling, listed)


def _walked(opened: Opened, asked: Asked, telling: Telling, listed: Listed | None) -> Reproduction:
    workflows, fault = readable(opened, asked.workflow)
    engine = EngineHere(opened, telling.preparing)
    checks: tuple[Callable[[], TierReport | None], ...] = (
        lambda: (
            None
            if listed is None
            else integrity(opened, listed, workflows, fault, telling.progress)
        ),
        lambda: None if 2 in asked.skip else _packages(opened, workflows, engine),
        lambda: None if 3 in asked.skip else _image(opened, engine),
    )
    tiers: list[TierReport] = []
    unlike: tuple[str, ...] = ()
    for number, check in enumerate(checks, 1):
        telling.begin(number, HEADS[number])
        report = check() or TierReport(number, "skipped", "skipped")
        telling.done(number, report.line, _lines(report))
        tiers.append(report)
        if number == 1 and report.state != "skipped":
            unlike = _unlike(opened, workflows, telling)
    reruns = _again(opened, workflows, fault, asked, telling)
    return Reproduction(tuple(tiers), reruns, unlike)


def _unlike(opened: Opened, workflows: Sequence[Workflow], telling: Telling) -> tuple[str, ...]:
    """Tell what of the manifest is not what the recorded runs read, ran or wrote."""
    try:
        found = not_as_recorded(opened, workflows)
    except VaibifyError:  # which tier 1 has said
        return ()
    texts = tuple(f"step {one.step!r}: {one.text}" for one in found)
    more = (f"and {len(texts) - _NOTES} more like these",) if len(texts) > _NOTES else ()
    for text in (*texts[:_NOTES], *more):
        if telling.note is not None:
            telling.note(text)
    return texts


def _again(
    opened: Opened,
    workflows: Sequence[Workflow],
    fault: VaibifyError | None,
    asked: Asked,
    telling: Telling,
) -> tuple[Rerun, ...] | None:
    """Run the workflows again; what differs from its pin is said before (case E08)."""
    if not asked.rerun:
        telling.begin(4, HEADS[4])
        telling.done(4, "skipped (use --rerun)", ())
        return None
    from vaibify_lab.ceremony.rerun import changed_since_pinned, rerun

    changed = [changed_since_pinned(opened, one) for one in workflows]
    for text in (text for one in changed for text in one):
        if telling.note is not None:
            telling.note(text)
    telling.begin(4, HEADS[4])
    reruns = tuple(
        rerun(opened, one, asked.person, texts, telling.event)
        for one, texts in zip(workflows, changed, strict=True)
    )
    telling.done(4, _rerun_line(reruns, fault), _rerun_lines(reruns))
    return reruns


def _packages(opened: Opened, workflows: Sequence[Workflow], engine: EngineHere) -> TierReport:
    from vaibify_lab.ceremony.packages import check_packages

    data = opened.tree.read(LOCK) if opened.tree.lstat(LOCK) is not None else None
    declared_none = bool(workflows) and all(one.no_python_packages for one in workflows)
    if data is None or declared_none:
        return check_packages(data, declared_none)
    image, why = engine.pinned_image()
    return check_packages(data, declared_none, image=image, why_not=why)


def _image(opened: Opened, engine: EngineHere) -> TierReport:
    from vaibify_lab.ceremony.image import check_image_file

    if opened.tree.lstat(environment.NAME) is None:
        return check_image_file(None)
    client, why = engine.client()
    data = opened.tree.read(environment.NAME)
    return check_image_file(data, client=client, why=why, tell=engine.tell)


def _lines(report: TierReport) -> list[str]:
    return [one.line for one in report.problems] + [f"note: {one}" for one in report.warnings]


def _rerun_line(reruns: Sequence[Rerun], fault: VaibifyError | None) -> str:
    if not reruns:
        return f"FAILED, {fault}" if fault else "FAILED, there is no workflow"
    return "; ".join(one.line for one in reruns)


def _rerun_lines(reruns: Sequence[Rerun]) -> list[str]:
    found = []
    for one in reruns:
        found += [c.line for c in one.outputs if c.verdict != "identical"]
        found += list(one.problems)
        found += [f"note: {one.hint}"] if one.hint else []
    return found


def _merged(reruns: Sequence[Rerun]) -> dict[str, Any]:
    outputs = [output for one in reruns for output in one.as_json()["outputs"]]
    problems = [text for one in reruns for text in one.problems]
    engine = reruns[0].engine if reruns else ""
    return {"outputs": outputs, "problems": problems, "engine": engine}


def _nothing_verified(by_state: dict[str, list[str]]) -> str:
    passed, skipped = ", ".join(by_state["passed"]), ", ".join(by_state["skipped"])
    return f"Nothing was verified: tier {passed} has nothing to look at; skipped: {skipped}"


def _not_confirmed(by_state: dict[str, list[str]], reruns: Sequence[Rerun] | None) -> str:
    parts = []
    if by_state["failed"]:
        parts.append(f"failed: {', '.join(by_state['failed'])}")
    if by_state["not-checkable"]:
        parts.append(f"not checkable here: {', '.join(by_state['not-checkable'])}")
    if reruns is not None and not (reruns and all(one.passed for one in reruns)):
        parts.append("failed: the rerun")
    if by_state["passed"]:
        parts.append(f"passed: {', '.join(by_state['passed'])}")
    if by_state["skipped"]:
        parts.append(f"skipped: {', '.join(by_state['skipped'])}")
    return f"NOT confirmed. Tiers {'; '.join(parts)}."
