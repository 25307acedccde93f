"""Who the operating system says somebody is."""

from __future__ import annotations

import getpass


def login_name() -> str | None:
    """Return the name of the user; None for a number that has none, as in some containers."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return None
