"""The envelope as front doors ask for it: whole, or one part and the manifest that lists it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from vaibify_lab.runs import enveloping
from vaibify_lab.runs.opened import Opened

Part = Literal["manifest", "lock", "environment"]


def write_envelope(
    opened: Opened,
    only: Part | None,
    progress: Callable[[str], None] | None,
    *,
    allow_build: bool = False,
) -> list[tuple[str, str]]:
    """Write the envelope or one part; return what was written: (path, what is in it).

    ``allow_build`` lets packages without a wheel run their build's code on this machine.
    """
    written = []
    paths = opened.require_workflows()  # a manifest of none would vouch for nothing
    none_needed = all(opened.workflow(path).no_python_packages for path in paths)
    if only == "lock" or (only is None and not none_needed):
        size = enveloping.write_lock(opened, progress, allow_build=allow_build)
        written.append(("requirements.lock", f"{size} bytes"))
    if only in (None, "environment", "lock"):
        enveloping.write_environment(opened)
        written.append((".vaibify/environment.json", "up to date"))
    if only in (None, "manifest") or opened.tree.lstat(enveloping.MANIFEST) is not None:
        count = enveloping.write_manifest(opened)
        written.append((enveloping.MANIFEST, f"{count} files"))
    return written
