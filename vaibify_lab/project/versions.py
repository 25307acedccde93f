"""The bytes of a step's output: those there now, or those that somebody signed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from vaibify_lab.core.errors import InvalidFile, MissingFile, TooLarge, VersionUnknown
from vaibify_lab.core.facts import SignOffs
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.files.history import find_version
from vaibify_lab.files.keeping import kept
from vaibify_lab.runs.opened import Look, Opened

LARGEST = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Version:
    """Bytes, and their SHA-256."""

    data: bytes
    sha256: str


def output_now(opened: Opened, look: Look, step: Step, path: str) -> Version:
    """Return a declared output as it is.

    Raises
    ------
    MissingFile
        Also for a file that is no output of the step.
    UnsafePath, TooLarge
    """
    _require_output(look, step, path)
    try:
        data = opened.tree.read(path, LARGEST)
    except InvalidFile:
        text = f"is larger than the {LARGEST} bytes that are sent"
        raise TooLarge(text, where=shown(path)) from None
    return Version(data, hashlib.sha256(data).hexdigest())


def output_signed(opened: Opened, look: Look, step: Step, path: str) -> Version:
    """Return an output as it was when it was last signed.

    Raises
    ------
    VersionUnknown
        Nothing is signed, or nobody here has the bytes.
    """
    found = look.facts.sign_offs.get(step.slug)
    sha256 = found.entries[-1].hashes.get(path) if isinstance(found, SignOffs) else None
    if sha256 is None:
        raise VersionUnknown("was not signed", where=shown(path))
    if look.world.state(path).sha256 == sha256:
        now = output_now(opened, look, step, path)
        if now.sha256 == sha256:
            return now
    data = kept(sha256)
    if data is None:
        data = find_version(opened.repository, path, sha256)
    if data is None:
        text = "the bytes that were signed are neither kept on this machine nor in git's history"
        raise VersionUnknown(text, where=shown(path))
    return Version(data, sha256)


def _require_output(look: Look, step: Step, path: str) -> None:
    if path not in look.world.outputs(step):
        raise MissingFile(f"is no output of step {step.slug!r}", where=shown(path))
