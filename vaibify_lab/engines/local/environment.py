"""The environment of a step: small, the same in every tier, none of it the starter's own."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin") + (
    ("/opt/homebrew/bin",) if sys.platform == "darwin" else ()
)
CERTIFICATES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
)


def search_path(prefix: Path) -> str:
    """Return a step's PATH: the Python environment's programs before the system's."""
    return ":".join(dict.fromkeys((str(prefix / "bin"), *SYSTEM_PATH)))


def certificates(network: bool) -> dict[str, str]:
    """Return where the host finds certificate authorities; nothing for a step without network."""
    found = {name: os.environ.get(name, "") for name in CERTIFICATES if network}
    return {name: value for name, value in found.items() if value}


def minimal(prefix: Path, temporary: str, network: bool) -> dict[str, str]:
    """Return what a step sees before its own variables are added.

    Parameters
    ----------
    prefix : Path
        The Python environment, first on PATH.
    temporary : str
        The step's private temporary folder, as the step sees it; its home is in there.
    network : bool
        Whether the step may use the network, and so needs certificates.
    """
    user = _user()
    return {
        "PATH": search_path(prefix),
        "HOME": f"{temporary}/home",
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "USER": user,
        "LOGNAME": user,
        **certificates(network),
    }


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
