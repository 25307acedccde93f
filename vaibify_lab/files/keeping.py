"""Copies of bytes that somebody signed, in the user's cache folder, named by their hash.

They serve to show what was signed beside what is there now. A copy is believed by its hash alone;
losing one costs nothing but that view.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from vaibify_lab.files.cachefile import cache_folder

LARGEST = 32 * 2**20
MOST_BYTES = 2**30


def keep(data: bytes, place: Path | None = None) -> None:
    """Keep a copy; a folder that cannot be written is no error. The oldest make room."""
    folder = place or _folder()
    target = folder / hashlib.sha256(data).hexdigest()
    if len(data) > LARGEST:
        return
    temporary = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(target)
        _make_room(folder)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def kept(sha256: str, place: Path | None = None) -> bytes | None:
    """Return the bytes of that hash; None when they are not kept."""
    return read_if(place or _folder(), sha256, sha256)


def read_if(folder: Path, name: str, sha256: str) -> bytes | None:
    """Return a file's bytes when they have that hash and are not too many."""
    try:
        with open(folder / name, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def _folder() -> Path:
    return cache_folder() / "vaibify_lab" / "signed"


def _make_room(folder: Path) -> None:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            found.append((status.st_mtime_ns, status.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MOST_BYTES:
            return
        os.unlink(path)
        total -= size
