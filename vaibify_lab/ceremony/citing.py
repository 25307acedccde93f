"""``cite``: the run behind a step's results, kept under its name and cited by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vaibify_lab import __version__
from vaibify_lab.ceremony.replays import failed_replay
from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import NotPassed
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import FINGERPRINT_FORMAT, circumstances_of, configuration
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import StepReport
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.provenance.citation import Task, checklist, citation
from vaibify_lab.provenance.kept import KeptRun, find_kept, keep, kept_run
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.standing import kept_packages


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation, with what a reader of it has to know."""

    run: KeptRun
    text: str
    tasks: tuple[Task, ...]
    notes: tuple[str, ...]
    is_new: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "step": self.run.step,
            "run_fingerprint": self.run.fingerprint,
            "folder": self.run.folder,
            "citation": self.text,
            "checklist": [one.to_json() for one in self.tasks],
            "notes": list(self.notes),
            "kept_now": self.is_new,
        }


def cite_step(opened: Opened, look: Look, slug: str, *, replace: bool = False) -> Cited:
    """Keep the run that made a step's results, unless it is kept, and cite it.

    Every byte of what it read and wrote is read: a citation stands for what is here.

    Raises
    ------
    NotPassed
        The step is not current, no name can stand for its run, or another run of this name is kept.
    """
    step = look.workflow.by_slug[slug]
    report = next(one for one in look.reports if one.slug == slug)
    run = _run_of(opened, look, step, report)
    there = kept_run(opened.tree, run.fingerprint)
    if there is not None and there.outputs == run.outputs:
        return _cited(opened, there, record=look.facts.records.get(slug))
    if there is not None and not replace:
        other = sorted(path for path in run.outputs if there.outputs.get(path) != run.outputs[path])
        text = f"a run of the same name wrote other bytes ({shown(other[0])}) and is kept"
        action = "the step is not deterministic; --replace keeps this run in its place"
        raise NotPassed(f"step {slug!r}: {text}", where=there.folder, action=action)
    packages = kept_packages(opened.tree, run.versions["components"].get("packages"))
    keep(opened.tree, run, _report(look, report), packages)
    return _cited(opened, run, is_new=True, record=look.facts.records.get(slug))


def cite_kept(opened: Opened, beginning: str) -> Cited | None:
    """Cite a run that is kept, by its fingerprint or the beginning of it; None: there is none."""
    found = find_kept(opened.tree, beginning)
    return _cited(opened, found) if found is not None else None


def _run_of(opened: Opened, look: Look, step: Step, report: StepReport) -> KeptRun:
    record = look.facts.records.get(step.slug)
    again = step.how_to_run
    if step.interactive:
        text = f"step {step.slug!r} is done by a person; no run can be told from another by a name"
        raise NotPassed(text, action="cite the steps that rest on it")
    if not isinstance(record, RunRecord) or report.run != "current":
        raise NotPassed(f"step {step.slug!r} is {report.run}", action=again)
    value = configuration(look.workflow, step, circumstances_of(record))
    if jsonio.digest(value) != record.fingerprint:  # an older format, or a forged record
        text = f"the record of step {step.slug!r} does not have the name that its run would have"
        raise NotPassed(text, action=again)
    _require_bytes(opened, step.slug, record, again)
    return KeptRun(
        record.fingerprint,
        project=look.project.name,
        workflow=look.workflow.path,
        step=step.slug,
        name=step.name,
        created=record.ended,
        configuration=value,
        inputs=record.pins.inputs,
        code=record.pins.code,
        outputs=record.pins.outputs,
        versions=_versions(record),
        host={"machine": dict(record.machine), **record.host},
        git={
            "commit": record.commit,
            "branch": record.branch,
            "shallow": record.shallow,
            "dirty": list(record.dirty),
        },
    )


def _require_bytes(opened: Opened, slug: str, record: RunRecord, again: str) -> None:
    pins = {**record.pins.inputs, **record.pins.code, **record.pins.outputs}
    for path, state in hash_many(opened.tree, pins).items():
        if path != shown(path):
            text = f"the name of {shown(path)}, a file of step {slug!r}, cannot be cited"
            raise NotPassed(text, action="rename it: letters that a line of UTF-8 text can hold")
        if state.kind != "file" or state.sha256 != pins[path]:
            text = f"{shown(path)} is not what the last run of {slug!r} read or wrote"
            raise NotPassed(text, action=again)


def _versions(record: RunRecord) -> dict[str, Any]:
    return {
        "vaibify_lab": __version__,
        "engine": dict(record.engine),
        "image": record.image,
        "lock_sha256": record.lock,
        "env_hash": record.env_hash,
        "components": dict(record.components),
        "variables": dict(record.variables),
    }


def _report(look: Look, report: StepReport) -> Mapping[str, Any]:
    marker = look.facts.markers.get(report.slug)
    return {"step": report.to_json(), "tested": report.tested, "has_marker": marker is not None}


def _cited(opened: Opened, run: KeptRun, *, is_new: bool = False, record: object = None) -> Cited:
    remote = opened.repository.config("remote.origin.url")
    notes = [*_notes(run, remote)]
    failed = failed_replay(opened.tree, record.run_id) if isinstance(record, RunRecord) else None
    if failed is not None:
        notes.append(f"a replay of it on this machine did not give the same bytes ({failed})")
    return Cited(run, citation(run), checklist(run, remote), tuple(notes), is_new)


def _notes(run: KeptRun, remote: str | None) -> Sequence[str]:
    found = []
    if not run.is_of_this_format:
        found.append(
            f"its fingerprint is of format {run.fingerprint_format}, this version makes format "
            f"{FINGERPRINT_FORMAT}: no run of today has its name"
        )
    if run.configuration.get("image") is None:
        found.append("it ran outside a container: what is below its Python packages is not pinned")
    if run.configuration.get("lock") is None:
        found.append("it ran without requirements.lock: its Python packages are not pinned")
    if not run.configuration.get("deterministic"):
        found.append("it did not run in deterministic mode: other bytes may come of it")
    if run.git.get("dirty"):
        found.append("when it ran, some of its files were not committed as they were")
    if remote is None:
        found.append("git has no remote named origin: say where the project can be had")
    return found
