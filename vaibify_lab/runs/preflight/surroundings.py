"""What is around the steps: the machine, the engine, git, and the files that people write."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from vaibify_lab.core.finding import Finding
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.preflight.inspection import Inspection

UNKNOWN_KEY = "unknown-key"
LOW_DISK = 200 * 10**6
_UNKNOWN = re.compile(r"(?:step '.*': |[\w./-]+: )?unknown key ")
# What an engine says it cannot prevent, by code, that lets a step reach the network.
_OPEN = ("network", "tcp", "sockets")


def surrounding_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong whichever steps run."""
    yield from _said_while_reading(inspection)
    yield from _machine(inspection)
    yield from _network(inspection)
    yield from _git(inspection)


def _said_while_reading(inspection: Inspection) -> Iterator[Finding]:
    path = inspection.workflow.path
    said = [(text, f"{path}: {text}") for text in inspection.workflow.warnings]
    said += [(text, text) for text in inspection.project.warnings]
    for bare, text in said:
        code = UNKNOWN_KEY if _UNKNOWN.match(bare) else "workflow-warning"
        yield Finding("warning", code, text)
    if not inspection.workflow.steps:
        text = f"{inspection.workflow.path} has no step yet"
        yield Finding("warning", "no-steps", text, action="add one to listSteps")


def _machine(inspection: Inspection) -> Iterator[Finding]:
    path = inspection.engine.path
    if path is not None and shutil.which("bash", path=path) is None:
        text = f"bash is not installed where steps look for it ({path})"
        yield Finding("error", "bash-missing", text, action="install bash; steps run in it")
    free = shutil.disk_usage(inspection.tree.root).free
    if free < LOW_DISK:
        text = f"only {free // 10**6} MB are free on the disk of this repository"
        yield Finding("error", "disk-nearly-full", text, action="free some space")


def _network(inspection: Inspection) -> Iterator[Finding]:
    if not inspection.project.network_isolation:
        return
    for code in _OPEN:
        if code in inspection.engine.cannot_prevent:
            said = inspection.engine.cannot_prevent[code]
            text = f"networkIsolation is asked for, but here {said}"
            action = "install bubblewrap, which can hold it"
            yield Finding("warning", "network-open", text, action=action)


def _git(inspection: Inspection) -> Iterator[Finding]:
    if inspection.repository.identity() is None:
        text = "git knows no name and address of yours, which a sign-off needs"
        action = 'git config user.name "Your Name" && git config user.email you@example.org'
        yield Finding("warning", "no-identity", text, action=action)
    index = inspection.repository.snapshot().index
    tracked = next((path for path in index if path.startswith(f"{LOCAL}/")), None)
    if tracked is not None:
        text = f"git tracks {tracked!r}: files in {LOCAL} are one machine's own and not believed"
        action = f"git rm -r {LOCAL}"
        yield Finding("warning", "local-tracked", text, None, tracked, action)
