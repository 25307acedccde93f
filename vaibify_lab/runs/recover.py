"""What a crashed run left: processes ended, old outputs put back, its loss recorded.

Under the lock only, and only where git does not track this machine's own files: what a repository
ships there must not move a file.
"""

from __future__ import annotations

from typing import Any

from vaibify_lab.core.errors import RunInProgress, VaibifyError
from vaibify_lab.core.facts import FactFault, RunRecord
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.aside import Aside, left_aside, remove_empty
from vaibify_lab.runs.clearing import clear, drop_drafts
from vaibify_lab.runs.journal import JournalWriter, each_event, now, shown_time
from vaibify_lab.runs.live import Unfinished, current_run, unfinished
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.stopping import end_leftovers


def recover(opened: Opened, journal: JournalWriter) -> None:
    """Bring back the state before a run that lost its runner.

    Raises
    ------
    RunInProgress
        Its runner lives, or is on another machine where nobody here can know.
    CannotCheck
        Processes of it could not be ended, or its engine does not answer: they may still write.
    """
    if opened.local_is_tracked():
        text = "is tracked by git: what lies there is not believed, no crashed run is looked for"
        journal.write("warning", text=f"{LOCAL} {text}", path=LOCAL)
        return
    lost = unfinished(opened.tree.root)
    if lost is not None:
        _require_gone(lost)
        for slug in end_leftovers(lost):
            text = f"ended what run {lost.folder.run_id} left running"
            journal.write("note", step=slug, text=text)
    for aside in left_aside(opened.tree):
        _restore(aside, journal)
    remove_empty(opened.tree)
    drop_drafts(opened.tree)
    if (last := current_run(opened.tree.root)) is not None:
        clear(last)
    if lost is not None:
        _record_loss(opened, lost, journal)


def _require_gone(run: Unfinished) -> None:
    alive = run.alive
    if alive is False or (alive is None and run.acknowledged):
        return
    first: dict[str, Any] = next(each_event(run.folder), {})
    since = shown_time(first.get("time"))
    text = f"a run is in progress: {run.folder.run_id}, since {since}"
    action = "wait for it, or end it with: jupyter vaibify stop-run"
    if alive is None and run.runner is not None:
        text += f", on {run.runner.host}; whether it still runs cannot be seen from here"
        action = "if it is gone: jupyter vaibify acknowledge"
    raise RunInProgress(text, action=action)


def _restore(aside: Aside, journal: JournalWriter) -> None:
    fault = None if aside.is_empty() else aside.fault()
    if aside.is_empty() or (fault is None and aside.is_settled()):
        aside.drop()
        return
    if fault is not None:
        text = f"left alone what is not a run's: {fault}"
        journal.write("warning", step=aside.slug, text=text, path=aside.folder)
        return
    run_id, had = aside.run_id, aside.held_any()
    apart = aside.put_back()
    told = (
        [f"put back the outputs of {aside.slug} that run {run_id} had moved aside"] if had else []
    )
    told += [f"what run {run_id} wrote is in {aside.leftovers}"] if apart else []
    if told:
        journal.write("note", step=aside.slug, text="; ".join(told))


def _record_loss(opened: Opened, run: Unfinished, journal: JournalWriter) -> None:
    """Write the records that the lost runner could not: its steps were interrupted.

    A step of which it ran the tests alone has lost those, which its marker does not have.
    """
    running = run.begun
    try:
        workflow = opened.workflow(str(run.started.get("workflow", "")))
    except VaibifyError as error:
        if running:
            journal.write("warning", text=f"not recorded as interrupted: {', '.join(running)}")
            journal.write("warning", text=str(error))
        return
    steps = [workflow.by_slug[slug] for slug in running if slug in workflow.by_slug]
    store = opened.facts_of(workflow)
    for slug, found in _records(opened, workflow, steps).items():
        if isinstance(found, FactFault) or (found and found.run_id == run.folder.run_id):
            continue  # unreadable, and to be looked at first; or its end was recorded
        store.write_record(_interrupted(workflow, workflow.by_slug[slug], run, found))


def _records(
    opened: Opened, workflow: Workflow, steps: list[Step]
) -> dict[str, RunRecord | FactFault | None]:
    slugs = [step.slug for step in steps]
    records = opened.facts_of(workflow).load(slugs).records
    return {slug: records.get(slug) for slug in slugs}


def _interrupted(
    workflow: Workflow, step: Step, run: Unfinished, old: RunRecord | None
) -> RunRecord:
    begun = [one for one in each_event(run.folder) if one.get("step") == step.slug]
    return RunRecord(
        workflow=workflow.stem,
        step=step.slug,
        name=step.name,
        outcome="interrupted",
        run_id=run.folder.run_id,
        started=shown_time(begun[0].get("time") if begun else None),
        ended=now(),
        reason_code="runner-lost",
        reason="its runner was lost before it ended",
        person=str(run.started.get("person", "")),
        directory=step.directory,
        commands=step.commands,
        engine=dict(run.started.get("engine") or {}),
        isolation=str(run.started.get("isolation") or "none"),
        acknowledged=now() if run.acknowledged else None,
        last_passed=old.passed if old is not None else None,
    )
