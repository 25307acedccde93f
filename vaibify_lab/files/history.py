"""Earlier bytes of a file, found in git by their SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from vaibify_lab.files.git import Repository
from vaibify_lab.files.keeping import read_if

_COMMITS = 300
_LARGEST = 64 * 2**20
_MOST_BYTES = 512 * 2**20


def find_version(repository: Repository, path: str, sha256: str) -> bytes | None:
    """Return the bytes of that hash that the path had, in the index or in HEAD's history.

    Git LFS's local objects are looked at too. The newest versions come first, and the search is
    bounded, so None means that they were not found.
    """
    objects = repository.common_dir / "lfs" / "objects" / sha256[:2] / sha256[2:4]
    data = read_if(objects, sha256, sha256)
    if data is not None or "\n" in path:
        return data
    for data in _versions(repository, path):
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
    return None


def _versions(repository: Repository, path: str) -> Iterator[bytes]:
    left = _MOST_BYTES
    for blob, size in _blobs(repository, path):
        if size > min(_LARGEST, left):
            continue
        left -= size
        yield repository.run("cat-file", "blob", blob)


def _blobs(repository: Repository, path: str) -> Iterator[tuple[str, int]]:
    """Yield the ids and sizes of the path's different versions, the newest first."""
    names = [f":{path}"]
    if repository.snapshot().commit is not None:
        listed = ("rev-list", f"--max-count={_COMMITS}", "HEAD", "--", path)
        commits = repository.run("--literal-pathspecs", *listed).decode("ascii").split()
        names += [f"{commit}:{path}" for commit in commits]
    asked = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
    lines = repository.run("cat-file", "--batch-check", input=asked).split(b"\n")
    seen: set[bytes] = set()
    for line in lines:
        parts = line.split(b" ")
        if len(parts) == 3 and parts[1] == b"blob" and parts[0] not in seen:
            seen.add(parts[0])
            yield parts[0].decode("ascii"), int(parts[2])
