"""``check``: what would keep the steps from running, and a clone from being the same."""

from __future__ import annotations

from vaibify_lab.ceremony.publishable import publish_findings
from vaibify_lab.ceremony.standing import to_be_committed
from vaibify_lab.core.finding import Finding
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.envelope.manifest import parse_manifest
from vaibify_lab.runs.enveloping import MANIFEST, manifested
from vaibify_lab.runs.inspecting import inspect
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.preflight import preflight


def check(opened: Opened, look: Look, *, publish: bool = False) -> list[Finding]:
    """Return what is wrong before anything runs; with ``publish``, also what a clone lacks.

    Nothing is installed or made to find this out.
    """
    slugs = [step.slug for step in look.workflow.steps]
    found = preflight(inspect(opened, look, LocalEngine(), ()), slugs)
    return [*found, *(_of_clone(opened) if publish else ())]


def _of_clone(opened: Opened) -> list[Finding]:
    workflows = [opened.workflow(path) for path in opened.workflow_paths()]
    manifest = None
    if opened.tree.lstat(MANIFEST) is not None:
        manifest = parse_manifest(opened.tree.read(MANIFEST))
    listed = [entry.path for entry in manifest.entries] if manifest else []
    covered = dict.fromkeys((*manifested(opened, workflows), *listed))
    paths = to_be_committed(opened, workflows, tuple(covered))
    blobs = opened.cache.blob_ids(paths, opened.repository.snapshot().object_format)
    return publish_findings(opened.repository, blobs, manifest)
