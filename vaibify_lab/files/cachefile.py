"""Files in the user's cache folder: believed only when they are ours, whole and of this format.

Losing one costs time and nothing else, so a folder that cannot be written is no error.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_MAGIC = "vaibify_lab cache 1"
_LONGEST_HEAD = 200


def cache_place(kind: str, root: Path) -> Path:
    """Return where the cache of ``kind`` for a root lies: one file, named by the root's hash."""
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    return cache_folder() / "vaibify_lab" / kind / name


def load_cache(place: Path, label: str) -> bytes | None:
    """Return what was kept under ``label``; None when it is damaged, another's or not there.

    ``label`` says what the content is for (a kind and the canonical root), so that a file that was
    copied from elsewhere is not taken for ours.
    """
    try:
        opened = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return None
        head, body = file.readline(_LONGEST_HEAD), file.read()
    return body if head == _head(label, [body]) else None


def save_cache(place: Path, label: str, body: Sequence[bytes]) -> None:
    """Keep ``body``, given in pieces, for the next process, whole or not at all."""
    temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.writelines((_head(label, body), *body))
        temporary.replace(place)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def _head(label: str, body: Sequence[bytes]) -> bytes:
    digest = hashlib.sha256(os.fsencode(label) + b"\0")
    for piece in body:
        digest.update(piece)
    return f"{_MAGIC} {digest.hexdigest()}\n".encode("ascii")


def cache_folder() -> Path:
    """Return the user's cache folder; it may not exist."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():  # a user without a home: nowhere, rather than the working directory
        home = Path(os.devnull)
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
