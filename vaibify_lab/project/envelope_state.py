"""The envelope's three files as they are, read and not judged."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope import environment
from vaibify_lab.envelope.manifest import NAME as MANIFEST
from vaibify_lab.envelope.manifest import parse_manifest
from vaibify_lab.runs.enveloping import read_environment
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened

MOST_ENTRIES = 10_000


def envelope_state(opened: Opened) -> dict[str, Any]:
    """Return which of the three files there are, and what environment.json holds."""
    files = [_file(opened, path) for path in (MANIFEST, LOCK, environment.NAME)]
    found, fault = None, None
    try:
        pinned = read_environment(opened)
        found = None if pinned is None else json.loads(pinned.to_bytes())
    except VaibifyError as error:
        fault = error.to_json()
    return {"files": files, "environment": found, "error": fault}


def manifest_state(opened: Opened) -> dict[str, Any]:
    """Return what the manifest lists and which of its lines are wrong; no file is hashed."""
    if opened.tree.lstat(MANIFEST) is None:
        return {"exists": False, "listed": 0, "entries": [], "problems": [], "warnings": []}
    read = parse_manifest(opened.tree.read(MANIFEST))
    entries = [
        {"path": shown(one.path), "sha256": one.sha256, "line": one.line}
        for one in read.entries[:MOST_ENTRIES]
    ]
    problems = [
        {
            "line": one.line,
            "code": one.code,
            "text": one.text,
            "path": None if one.path is None else shown(one.path),
        }
        for one in read.problems
    ]
    return {
        "exists": True,
        "listed": len(read.entries),
        "entries": entries,
        "problems": problems,
        "warnings": list(read.warnings),
    }


def _file(opened: Opened, path: str) -> dict[str, Any]:
    if opened.tree.lstat(path) is None:
        return {"path": path, "exists": False, "bytes": None, "sha256": None}
    data = opened.tree.read(path)
    digest = hashlib.sha256(data).hexdigest()
    return {"path": path, "exists": True, "bytes": len(data), "sha256": digest}
