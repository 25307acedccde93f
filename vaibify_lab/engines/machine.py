"""What this machine is, as far as results can depend on it: processor, kernel, system libraries."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from vaibify_lab.core.components import NONE, UNKNOWN
from vaibify_lab.core.paths import shown

# Instructions by which numerical libraries choose their code.
_CHOSEN_BY = re.compile(
    r"(sse|ssse|avx|fma|f16c|bmi|amx|asimd|neon|sve|sme|fphp|bf16|i8mm|vsx|altivec)\w*"
)
_CUDA_PLACES = ("/usr/local/cuda/version.json", "/usr/local/cuda/version.txt")
_CUDA = re.compile(r'"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([^"]{1,80})"|CUDA Version (\S{1,80})')
_DRIVER = re.compile(r"Kernel Module\D*\s([0-9][0-9.]+)\s")
_ZONES = ("/usr/share/zoneinfo/tzdata.zi", "/usr/share/zoneinfo/+VERSION")
_LONGEST = 2**20


def machine() -> dict[str, str]:
    """Return the components that a container shares with its host."""
    cpu, features = _processor(_text("/proc/cpuinfo"))
    driver = _DRIVER.search(_text("/proc/driver/nvidia/version"))
    return {
        "kernel": kernel(),
        "architecture": platform.machine() or UNKNOWN,
        "cpu": cpu,
        "cpu_features": features,
        "driver": f"nvidia {driver[1]}" if driver else NONE,
    }


def kernel() -> str:
    """Return name, release and build of this machine's kernel."""
    system = platform.uname()
    return shown(f"{system.system} {system.release} {system.version}".strip())


def system(*, preloads: bool) -> dict[str, str]:
    """Return the components below Python that a step outside a container finds.

    ``preloads``: it sees ``/etc/ld.so.preload``.
    """
    return {
        "libc": " ".join(platform.libc_ver()).strip() or UNKNOWN,
        "tzdata": next(filter(None, map(_first_line, _ZONES)), NONE),
        "cuda": cuda("".join(map(_text, _CUDA_PLACES))),
        "ld_preload": preload(_text("/etc/ld.so.preload") if preloads else ""),
    }


def has_utf8(bash: str) -> bool:
    """Tell whether programs here know the locale C.UTF-8: bash complains of one it does not."""
    environment = {"LC_ALL": "C.UTF-8", "PATH": os.defpath}
    done = subprocess.run(
        [bash, "-c", ":"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        check=False,
    )
    return not done.stderr


def cuda(text: str) -> str:
    """Return the version that CUDA's own version file gives."""
    found = _CUDA.search(text)
    return shown(found[1] or found[2]) if found else NONE


def preload(text: str) -> str:
    """Return the libraries that are loaded before all others, on one line."""
    return shown(" ".join(text.split()))[:4000] or NONE


def _processor(text: str) -> tuple[str, str]:
    """Return model and instructions of the first processor."""
    lines = text.partition("\n\n")[0].splitlines()
    said = {name.strip(): value.strip() for name, _, value in (one.partition(":") for one in lines)}
    arm = " ".join(f"{name} {said[name]}" for name in sorted(said) if name.startswith("CPU "))
    model = said.get("model name") or said.get("cpu") or arm or platform.processor()
    listed = (said.get("flags") or said.get("Features") or "").split()
    features = " ".join(sorted(filter(_CHOSEN_BY.fullmatch, listed)))
    return shown(model) or UNKNOWN, features or UNKNOWN


def _first_line(path: str) -> str:
    return shown(_text(path).partition("\n")[0].strip())


def _text(path: str) -> str:
    """Return a file's text; "" where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
