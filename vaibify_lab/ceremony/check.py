"""``check``: what would keep the steps from running, and a clone from being the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from vaibify_lab.ceremony.damaged import damaged
from vaibify_lab.ceremony.publishable import publish_findings
from vaibify_lab.ceremony.recorded import not_as_recorded
from vaibify_lab.ceremony.standing import to_be_committed
from vaibify_lab.core.clashes import RENAME
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.merging import after_merge
from vaibify_lab.envelope import environment
from vaibify_lab.files.disk_names import name_clashes
from vaibify_lab.runs.enveloping import MANIFEST, manifested, read_environment
from vaibify_lab.runs.inspecting import engine_facts, inspect
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.preflight import preflight
from vaibify_lab.runs.preflight.undeclared import told_of, undeclared_in_code


def check(opened: Opened, look: Look, *, publish: bool = False) -> list[Finding]:
    """Return what is wrong before anything runs; with ``publish``, also what a clone lacks.

    Nothing is installed or made to find this out.
    """
    slugs = [step.slug for step in look.workflow.steps]
    options = RunOptions(look.workflow.path)
    wrong = list(damaged(opened, look))
    is_read = all(one.path != environment.NAME for one in wrong)
    facts = engine_facts(opened, options, read_environment(opened) if is_read else None)
    inspection = inspect(opened, look, facts, ())
    found = [*wrong, *preflight(inspection, slugs)]
    for step in look.workflow.steps:
        undeclared = undeclared_in_code(inspection, step, look.reach.tests[step.slug])
        found += told_of(undeclared)
    found += _names(opened, opened.workflow_paths() if publish else [look.workflow.path])
    found += _of_clone(opened) if publish else ()
    if opened.repository.snapshot().unmerged:
        found = [dataclasses.replace(one, action=after_merge(one.action)) for one in found]
    return found


def _names(opened: Opened, workflows: Iterable[str]) -> Iterator[Finding]:
    """Yield the names for which no manifest is written."""
    try:
        paths = manifested(opened, [opened.workflow(path) for path in workflows])
    except VaibifyError:  # a link in a declared folder: told where the manifest is asked for
        return
    for clash in name_clashes(opened.tree, paths):
        yield Finding("error", "name-clash", str(clash), None, clash.other, RENAME)


def _read_undeclared(opened: Opened) -> list[str]:
    """Return what runs read undeclared and is here: no manifest lists it, and a clone needs it."""
    passed = (record.passed for record in opened.records())
    paths = (path for one in passed if one is not None for path in one.undeclared_reads)
    return [path for path in paths if opened.tree.lstat(path) is not None]


def _of_clone(opened: Opened) -> list[Finding]:
    workflows = [opened.workflow(path) for path in opened.workflow_paths()]
    try:
        manifest = opened.manifest()
    except VaibifyError as error:
        text = f"{MANIFEST} {error.text}"
        return [Finding("error", "manifest-unusable", text, None, MANIFEST, error.action)]
    listed = [entry.path for entry in manifest.entries] if manifest else []
    covered = dict.fromkeys((*manifested(opened, workflows), *listed))
    paths = (*to_be_committed(opened, workflows, tuple(covered)), *_read_undeclared(opened))
    paths = tuple(dict.fromkeys(paths))
    unlike = not_as_recorded(opened, workflows)
    states, blobs = opened.cache.observe_both(paths, opened.repository.snapshot().object_format)
    return [*unlike, *publish_findings(opened.repository, blobs, manifest, states)]
