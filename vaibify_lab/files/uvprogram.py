"""Where the program uv is, and the environment variables that it is run with."""

from __future__ import annotations

import os
import shutil

# Variables that would point uv at another environment, or loosen what is asked of it.
FOREIGN = frozenset(
    {
        "CONDA_PREFIX",
        "PYTHONHOME",
        "PYTHONPATH",
        "UV_BUILD_CONSTRAINT",
        "UV_CONSTRAINT",
        "UV_EXCLUDE_NEWER",
        "UV_LINK_MODE",
        "UV_NO_VERIFY_HASHES",
        "UV_OVERRIDE",
        "UV_PROJECT_ENVIRONMENT",
        "UV_PYTHON",
        "UV_SYSTEM_PYTHON",
        "UV_TARGET",
        "VIRTUAL_ENV",
    }
)
# As pip does: certificates of the system, which an institute's own network may have added to.
TRUST = {"UV_SYSTEM_CERTS": "1"}


def program() -> str | None:
    """Return uv's path: that of the installed package, else the one on PATH, else None."""
    try:
        import uv  # its absence must not keep anybody from verifying

        return uv.find_uv_bin()
    except (ImportError, FileNotFoundError):
        return shutil.which("uv")


def surroundings() -> dict[str, str]:
    """Return our environment without what would lead uv elsewhere."""
    own = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return TRUST | own
