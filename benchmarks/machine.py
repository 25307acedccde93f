"""What the figures depend on: processor and its SHA instructions, kernel, versions of the tools."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_SHA = {"sha_ni", "sha2"}  # as x86 and ARM call them


def described() -> str:
    """Return the machine in one line."""
    return (
        f"{os.cpu_count()} CPUs, {_field('model name') or platform.machine()},"
        f" {'with' if has_sha() else 'without'} SHA instructions;"
        f" {platform.system()} {platform.release()}, Python {platform.python_version()},"
        f" coreutils {_version('sha256sum')}, git {_version('git')}."
    )


def has_sha() -> bool:
    """Tell whether the processor has instructions for SHA-256."""
    return not _SHA.isdisjoint((_field("flags") or _field("Features")).split())


def _field(name: str) -> str:
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.exists() else []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith(name))
    return next(found, "")


def _version(program: str) -> str:
    asked = [program, "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0].split()[-1]
