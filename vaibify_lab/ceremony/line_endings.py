"""Bytes that differ in nothing but their line endings."""

from __future__ import annotations

import hashlib

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.tree import Tree

_GIT_LOOKS_AT = 8000  # git takes a file with a NUL among its first 8000 bytes for binary


def only_line_endings_differ(tree: Tree, path: str, sha256: str) -> bool:
    """Tell whether the file would have this hash with LF, or with CRLF, on every line.

    False as well for a file that is binary, too large to be read at once, or gone meanwhile.
    """
    try:
        data = tree.read(path)
    except VaibifyError:
        return False
    if b"\0" in data[:_GIT_LOOKS_AT]:
        return False
    with_lf = data.replace(b"\r\n", b"\n")
    versions = (with_lf, with_lf.replace(b"\n", b"\r\n"))
    return any(hashlib.sha256(version).hexdigest() == sha256 for version in versions)
