"""The build context: what the Dockerfile needs and nothing else of the repository."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import IO

from vaibify_lab.core.errors import InvalidFile, MissingFile
from vaibify_lab.core.paths import as_word, fault_of, is_protected, is_within, shown
from vaibify_lab.engines.image.dockerfile import NAME, SOURCES
from vaibify_lab.engines.image.sources import Exported

LARGEST_FILE = 512 * 2**20


def write_context(file: IO[bytes], files: Mapping[str, bytes], sources: Sequence[Exported]) -> int:
    """Write the context as a tar of fixed times and owners; return its bytes."""
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
        for source in sources:
            _add_source(tar, source)
    size = file.tell()
    file.seek(0)
    return size


def _add_source(tar: tarfile.TarFile, source: Exported) -> None:
    with tarfile.open(source.tar, "r:") as there:
        for entry in there:
            entry.name = f"{SOURCES}/{source.resolved.line.name}/{entry.name}"
            tar.addfile(entry, there.extractfile(entry) if entry.isreg() else None)


def wanted_files(copied: Sequence[str], tracked: Sequence[str]) -> tuple[str, ...]:
    """Return the tracked files that COPY and ADD of the project's own Dockerfile name.

    Parameters
    ----------
    copied : sequence of str
        As written there.
    tracked : sequence of str
        Repository paths of every file in git.

    Raises
    ------
    InvalidFile
        When the whole repository, or what no image may hold, is copied.
    MissingFile
        When git has no such file.
    """
    found: dict[str, None] = {}
    for written in copied:
        path = written.removeprefix("./").rstrip("/")
        if is_within(path, SOURCES) and path:
            continue
        _require_part(written, path)
        hits = [one for one in tracked if is_within(one, path) or _matches(one, path)]
        if not hits:
            text = f"copies {shown(written)!r}, which git does not track"
            raise MissingFile(text, where=NAME, action=f"git add -- {as_word(path)}")
        found |= dict.fromkeys(one for one in hits if not is_protected(one))
    return tuple(found)


def _require_part(written: str, path: str) -> None:
    if path in ("", ".", "*"):
        text = f"copies the whole repository ({shown(written)!r}), results and all"
        raise InvalidFile(text, where=NAME, action="name the files that the image needs")
    if "$" in path:
        raise InvalidFile(f"copies {shown(written)!r}: write the path itself", where=NAME)
    fault = fault_of(path.replace("*", "x").replace("?", "x"))
    if fault or is_protected(path):
        raise InvalidFile(f"copies {shown(written)!r}, which {fault or 'no image may'}", where=NAME)


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))
