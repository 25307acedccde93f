"""A review: a reviewer's word, with what was checked of which bytes. A document, kept nowhere."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vaibify_lab._version import __version__
from vaibify_lab.core.errors import StaleCopy, UsageError
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.manifest import NAME as MANIFEST
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.project.signing import name_of
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.opened import Opened

if TYPE_CHECKING:
    from vaibify_lab.project.facade import Project

FORMAT = "vaibify-lab/review-1"
VERDICTS = ("holds", "does-not-hold", "undecided")
Check = Mapping[str, Any]


def about(opened: Opened) -> dict[str, Any]:
    """Return which commit and which manifest are here, and the bytes that differ from that commit.

    ``uncommitted`` maps a path to the SHA-256 of its bytes, None where it is no file any more.
    """
    snapshot = opened.repository.snapshot()
    tracked = [path for path, (mode, _) in snapshot.index.items() if mode.startswith("10")]
    digest = None
    if opened.tree.lstat(MANIFEST) is not None:
        digest = hashlib.sha256(opened.tree.read(MANIFEST)).hexdigest()
    dirty = hash_many(opened.tree, opened.observer.dirty(tracked))
    return {
        "commit": snapshot.commit,
        "manifest_sha256": digest,
        "uncommitted": {shown(path): state.sha256 for path, state in dirty.items()},
    }


def write_review(
    project: Project, asked: Mapping[str, Any], checks: Sequence[Check], reruns: Sequence[Check]
) -> dict[str, Any]:
    """Return the review as a document.

    Parameters
    ----------
    project : Project
        Opened for this.
    asked : mapping
        ``verdict``, ``text``, and ``by`` where git's identity is not to be used.
    checks, reruns : sequences of mappings
        The jobs of these kinds that were done, oldest first, as the server tells of them.

    Raises
    ------
    UsageError
        Without a name or a text.
    StaleCopy
        When nothing was checked of what is here now.
    """
    by, text = name_of(project, asked.get("by")), asked.get("text", "").strip()
    if not text:
        raise UsageError("text: a review says why", action="write at least a sentence")
    here = about(project.opened)
    checked = [one for one in checks if one["result"]["about"] == here]
    if not checked:
        what = "the project is another than the one that was checked" if checks else "unchecked yet"
        raise StaleCopy(what, where="review", action="check it again, then write the review")
    return {
        "format": FORMAT,
        "verdict": asked["verdict"],
        "by": by,
        "text": text,
        "written": now(),
        "signed": False,
        "project": {"name": _name(project), "workflow": project.path, **here},
        "checked": _told(checked[-1]),
        "reruns": _latest([one for one in reruns if _is_of(one, project.path, here)]),
        "software": {
            "vaibify_lab": __version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        },
    }


def _name(project: Project) -> str:
    return project.opened.workflow(project.path).name


def _is_of(rerun: Check, workflow: str, here: Mapping[str, Any]) -> bool:
    result = rerun["result"]
    return bool(result["workflow"] == workflow and result["about"] == here)


def _told(job: Check) -> dict[str, Any]:
    """Return a job's result with its times; what it was about stands once, above."""
    result = {key: value for key, value in job["result"].items() if key != "about"}
    return {"started": job["started"], "ended": job["ended"], **result}


def _latest(reruns: Sequence[Check]) -> list[dict[str, Any]]:
    """Return the newest rerun of each choice of steps."""
    by_steps = {tuple(one["result"]["steps"]): one for one in reruns}
    return [_told(one) for one in by_steps.values()]
