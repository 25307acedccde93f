"""Bytes that differ in nothing but their line endings, and the attribute that prevents it."""

from __future__ import annotations

import hashlib

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.tree import Tree

_GIT_LOOKS_AT = 8000  # git takes a file with a NUL among its first 8000 bytes for binary
_NAMED = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


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


def attribute_line(path: str) -> str:
    """Return the line for .gitattributes that keeps git from converting exactly this file."""
    pattern = "/" + "".join(f"\\{char}" if char in "*?[]\\" else char for char in path)
    if not any(char.isspace() or char in '"\\' or not char.isprintable() for char in pattern):
        return f"{pattern} -text"
    return f'"{_quoted(pattern)}" -text'


def _quoted(pattern: str) -> str:
    return "".join(
        _NAMED.get(char) or (char if char.isprintable() else _octal(char)) for char in pattern
    )


def _octal(char: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
