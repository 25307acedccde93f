"""Writing the envelope: manifest, lock and environment.json, from bytes read just now."""

from __future__ import annotations

import bisect
import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from vaibify_lab.core.clashes import RENAME
from vaibify_lab.core.differences import STATE_TEXT
from vaibify_lab.core.errors import InvalidFile, MissingFile, NotPassed, UnsafePath, VaibifyError
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.paths import as_word, shown
from vaibify_lab.envelope import environment
from vaibify_lab.envelope.environment import EnvironmentFile, parse_environment
from vaibify_lab.envelope.host_binaries import capture_host_binaries
from vaibify_lab.envelope.manifest import format_manifest
from vaibify_lab.files.disk_names import name_clashes
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.own import read_own
from vaibify_lab.runs.aside import left_aside
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.reach import Reach

MANIFEST = "MANIFEST.sha256"
SOURCES = ("requirements.in", "pyproject.toml")
ALONGSIDE = (
    "requirements.in",
    LOCK,
    environment.NAME,
    "vaibify.yml",
    "container.conf",
    "Dockerfile",
)
EPOCH_WITHOUT_COMMIT = 315532800  # 1980-01-01T00:00:00Z: zip files cannot hold an earlier time
_NOT_WRITTEN = ", so the manifest was not written"
Part = Literal["manifest", "lock", "environment"]


def manifested(opened: Opened, workflows: Iterable[Workflow]) -> tuple[str, ...]:
    """Return every repository path that the manifest covers, for all workflows."""
    return covered_by(opened, [(workflow, opened.reach(workflow)) for workflow in workflows])


def covered_by(opened: Opened, seen: Iterable[tuple[Workflow, Reach]]) -> tuple[str, ...]:
    """Return the same for workflows whose files have been looked for just now.

    Raises
    ------
    UnsafePath, MissingFile
        For a declared folder that holds a link or anything else that is no regular file.
    """
    known = tuple(seen)
    for folder in (one for _, reach in known for one in reach.folders.faults):
        opened.tree.list_files(folder)
    present = tuple(path for path in ALONGSIDE if opened.tree.lstat(path) is not None)
    return opened.memory.of(_covered, known, present)


def output_folders(workflows: Iterable[Workflow]) -> tuple[str, ...]:
    """Return the folders that are declared as outputs: something must be listed in each."""
    steps = (step for workflow in workflows for step in workflow.steps)
    return tuple(path for step in steps for path in step.outputs if path.endswith("/"))


def _covered(seen: Iterable[tuple[Workflow, Reach]], present: Iterable[str]) -> tuple[str, ...]:
    """Return what is listed.

    Every path-list field of every step, the code its scripts reach, its test files, the workflow
    files, and the envelope's other files where they exist.
    """
    found: dict[str, None] = {}
    for workflow, reach in seen:
        found[workflow.path] = None
        for step in workflow.steps:
            found.update(dict.fromkeys(reach.declared[step.slug]))
            found.update(dict.fromkeys(reach.code[step.slug].files))
            scripts = (one for one in step.declared_scripts or () if not one.endswith("/"))
            found.update(dict.fromkeys(scripts))
            found.update(dict.fromkeys(reach.tests[step.slug]))
    found.update(dict.fromkeys(present))
    return tuple(found)


def write_manifest(opened: Opened) -> int:
    """Write MANIFEST.sha256 from every byte of what it covers; return the number of files.

    Raises
    ------
    MissingFile, UnsafePath, InvalidFile
        Naming the first file that is missing, is or lies below a link, or holds an LFS pointer,
        or two whose names some disk takes for one; or a declared output folder without a file.
    NotPassed
        A run was cut off: what it left half made is nobody's output.
    """
    _require_cleared(opened)
    workflows = [opened.workflow(path) for path in opened.workflow_paths()]
    paths = manifested(opened, workflows)
    _require_merged(opened, paths)
    _require_told_apart(opened, paths)
    _require_filled(output_folders(workflows), paths)
    hashes: dict[str, str] = {}
    for path, state in hash_many(opened.tree, paths).items():
        if state.kind != "file" or state.sha256 is None:
            raise _refused(path, state.kind, state.detail)
        hashes[path] = state.sha256
    if not hashes:
        raise MissingFile("there is no workflow, so there is nothing to list", where=MANIFEST)
    opened.tree.write(MANIFEST, format_manifest(hashes))
    return len(hashes)


def write_lock(
    opened: Opened,
    progress: Callable[[str], None] | None = None,
    *,
    python_version: str | None = None,
    allow_build: bool = False,
) -> int:
    """Resolve requirements.in (else pyproject.toml) into requirements.lock; return its size.

    ``python_version`` is used where vaibify.yml names none; see `compile_lock` for ``allow_build``.

    Raises
    ------
    MissingFile
        There is nothing to make it from.
    InvalidFile
        It would list nothing, which no workflow declares: every check would refuse it.
    """
    source = next((one for one in SOURCES if opened.tree.lstat(one) is not None), None)
    if source is None:
        raise MissingFile(
            "there is no requirements.in (nor pyproject.toml) to make the lock from",
            where=LOCK,
            action="write one package a line into requirements.in; it may be empty",
        )
    from vaibify_lab.envelope.lock import parse_lock
    from vaibify_lab.envelope.lock_compile import compile_lock

    kept = opened.tree.read(LOCK) if opened.tree.lstat(LOCK) is not None else None
    version = opened.project_file().python_version or python_version
    data = compile_lock(
        opened.tree.root,
        source,
        version,
        keep=kept,
        progress=progress,
        allow_build=allow_build,
    )
    if not parse_lock(data, declared_none=True).packages and not _needs_none(opened):
        text = "names no package, and a lock of none is refused unless it is declared"
        action = f"name packages in {source}, or set bNoPythonPackages in the workflow"
        raise InvalidFile(text, where=source, action=action)
    opened.tree.write(LOCK, data)
    return len(data)


def _needs_none(opened: Opened) -> bool:
    return all(opened.workflow(path).no_python_packages for path in opened.workflow_paths())


def write_environment(opened: Opened) -> EnvironmentFile:
    """Bring environment.json up to date; written only when something in it changed.

    Where an image is pinned, the lock's hash stays that of the lock the image was built from.
    """
    old = read_environment(opened)
    workflows = [opened.workflow(path) for path in opened.workflow_paths()]
    binaries = sorted({path for workflow in workflows for path in workflow.host_binaries})
    lock = hash_many(opened.tree, [LOCK])[LOCK].sha256
    epoch = old.source_date_epoch if old is not None else None
    new = dataclasses.replace(
        old or EnvironmentFile(),
        host_binaries=tuple(capture_host_binaries(binaries, opened.tree.root)),
        source_date_epoch=_epoch(opened) if epoch is None else epoch,
        lock_sha256=old.lock_sha256 if old and old.config_digest else lock,
    )
    if new != old:
        opened.tree.write(environment.NAME, new.to_bytes())
    return new


def read_environment(opened: Opened) -> EnvironmentFile | None:
    """Return environment.json; None where there is none."""
    if opened.tree.lstat(environment.NAME) is None:
        return None
    return parse_environment(read_own(opened.tree, environment.NAME))


def _epoch(opened: Opened) -> int:
    return opened.repository.snapshot().commit_time or EPOCH_WITHOUT_COMMIT


def _require_merged(opened: Opened, paths: Iterable[str]) -> None:
    unmerged = opened.repository.snapshot().unmerged
    for path in (one for one in paths if one in unmerged):
        text = "is in the middle of a merge"
        raise NotPassed(
            text, where=shown(path), action=f"resolve it, then: git add {as_word(path)}"
        )


def _require_told_apart(opened: Opened, paths: Iterable[str]) -> None:
    """Refuse what a clone on another disk could not hold, by the rule of declared paths."""
    for clash in name_clashes(opened.tree, paths):
        raise InvalidFile(f"cannot list both: {clash}", where=MANIFEST, action=RENAME)


def _require_filled(folders: Iterable[str], paths: Sequence[str]) -> None:
    """Refuse a declared output folder without a file, as a declared file that is missing."""
    ordered = sorted(paths)
    for folder in folders:
        at = bisect.bisect_left(ordered, folder)
        if not any(path.startswith(folder) for path in ordered[at : at + 1]):
            raise MissingFile(f"holds no file{_NOT_WRITTEN}", where=shown(folder))


def _require_cleared(opened: Opened) -> None:
    for aside in () if opened.local_is_tracked() else left_aside(opened.tree):
        settled = aside.is_empty() or (aside.fault() is None and aside.is_settled())
        if not settled:
            text = f"a run was cut off: the outputs of {aside.slug} from before it lie there"
            raise NotPassed(text, where=aside.folder, action="jupyter vaibify run puts them back")


def _refused(path: str, kind: str, detail: str) -> VaibifyError:
    where = shown(path)
    if kind == "missing":
        return MissingFile(f"is missing{_NOT_WRITTEN}", where=where)
    if kind == "lfs-pointer":
        text = "holds a git LFS pointer, not the content"
        return InvalidFile(text, where=where, action="git lfs pull")
    if kind in ("link", "not-regular") and detail:
        return UnsafePath(f"is {detail}, which a manifest cannot list", where=where)
    more = f" ({detail})" if detail else ""
    return UnsafePath(f"{STATE_TEXT.get(kind, kind)}{more}: it cannot be listed", where=where)


def lock_digest(data: bytes) -> str:
    """Return the SHA-256 of a lock's bytes."""
    return hashlib.sha256(data).hexdigest()
