"""The workflow file read and written whole by an editor that says which version it edited."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from vaibify_lab.core import jsonio, workflow_file
from vaibify_lab.core.errors import InvalidFile, StaleCopy
from vaibify_lab.runs.opened import Opened

_INDENT = re.compile(r'\n([ \t]+)"')


def read_workflow(opened: Opened, path: str) -> dict[str, Any]:
    """Return the file's text and hash, and its JSON where it is JSON."""
    data = opened.tree.read(path)
    try:
        document = jsonio.loads(data, path)
    except InvalidFile:
        document = None
    text = data.decode("utf-8", "replace")
    return {"path": path, "sha256": _digest(data), "text": text, "document": document}


def write_workflow(
    opened: Opened, path: str, seen: str, *, text: str | None = None, document: Any = None
) -> dict[str, Any]:
    """Put a new text, or a document with the file's own indent, in place of the version seen.

    Raises
    ------
    StaleCopy
        The file is another by now; its hash is among the details.
    InvalidFile
        The new one breaks the rules of workflow.json.
    """
    before = opened.tree.read(path)
    there = _digest(before)
    if there != seen:
        raise StaleCopy(
            "was changed since it was read",
            where=path,
            action="read it again",
            details={"sha256": there},
        )
    new = text if text is not None else as_text(document, before.decode("utf-8", "replace"))
    data = new.encode("utf-8", "surrogatepass")
    workflow_file.parse(data, path)
    opened.tree.write(path, data)
    return {"path": path, "sha256": _digest(data)}


def as_text(document: Any, before: str) -> str:
    """Return a document as the file's text, with the indent that the file has."""
    found = _INDENT.search(before)
    indent = found[1] if found else "  "
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
