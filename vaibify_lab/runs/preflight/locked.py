"""requirements.lock before a run: is it there, sound, of this source, for a Python that is here."""

from __future__ import annotations

from collections.abc import Iterator

from vaibify_lab.core.finding import Finding
from vaibify_lab.envelope.lock import NAME, Lock
from vaibify_lab.envelope.lock_compile import this_platform
from vaibify_lab.files.hashing import pointer_in
from vaibify_lab.files.own import POINTER, PULL
from vaibify_lab.runs.preflight.inspection import Inspection

MAKE_LOCK = "jupyter vaibify envelope --only lock"
_NONE_NEEDED = "set bNoPythonPackages, or name packages in requirements.in and make the lock anew"
_MOST = 5


def lock_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong with the lock."""
    lock = inspection.locked
    if lock is None:
        if not inspection.workflow.no_python_packages:
            version = inspection.engine.python or "version unknown"
            text = f"there is no {NAME}: steps run in the Python that runs this ({version})"
            yield Finding("warning", "no-lock", text, None, NAME, MAKE_LOCK)
        return
    pointers = list(_pointers(inspection))
    yield from pointers
    if pointers:
        return
    yield from _problems(lock)
    if (
        inspection.requirements is not None
        and lock.matches_source(inspection.requirements) is False
    ):
        text = f"{NAME} is out of date: it was made from another {inspection.source}"
        yield Finding("error", "lock-out-of-date", text, None, NAME, MAKE_LOCK)
    yield from _python(inspection, lock)
    if lock.platform not in (None, this_platform()):
        text = f"{NAME} was made for {lock.platform}, this is {this_platform()}"
        action = f"if packages cannot be installed: {MAKE_LOCK}"
        yield Finding("warning", "lock-platform", text, None, NAME, action)


def _pointers(inspection: Inspection) -> Iterator[Finding]:
    """Yield that the lock, or what it is made from, is here as a pointer alone."""
    files = {NAME: inspection.lock, inspection.source: inspection.requirements}
    for path, data in files.items():
        if data is not None and pointer_in(data) is not None:
            yield Finding("error", "lock-lfs", f"{path} {POINTER}", None, path, PULL)


def _problems(lock: Lock) -> Iterator[Finding]:
    for problem in lock.problems[:_MOST]:
        at = f"{NAME}:{problem.line}" if problem.line else NAME
        action = _NONE_NEEDED if problem.code == "no-packages" else MAKE_LOCK
        yield Finding("error", "lock-unusable", f"{at}: {problem.text}", None, NAME, action)
    if len(lock.problems) > _MOST:
        text = f"{NAME}: {len(lock.problems) - _MOST} more lines are wrong"
        yield Finding("error", "lock-unusable", text, None, NAME, MAKE_LOCK)


def _python(inspection: Inspection, lock: Lock) -> Iterator[Finding]:
    engine, said = inspection.engine, inspection.project.python_version
    if engine.python_fault is not None:
        fault = engine.python_fault
        yield Finding("error", "lock-python", f"{NAME} {fault.text}", None, NAME, fault.action)
    elif lock.python and engine.python and not _agree(lock.python, engine.python):
        text = f"{NAME} is for Python {lock.python}, steps here run in {engine.python}"
        yield Finding("error", "lock-python", text, None, NAME, MAKE_LOCK)
    if lock.python and said and not _agree(lock.python, said):
        text = f"{NAME} is for Python {lock.python}, vaibify.yml says {said}"
        action = f"correct pythonVersion, or: {MAKE_LOCK}"
        yield Finding("warning", "lock-python", text, None, NAME, action)


def _agree(one: str, other: str) -> bool:
    """Tell whether two versions agree as far as both say."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return all(mine == yours for mine, yours in pairs)
