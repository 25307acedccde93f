"""``%vaibify`` and ``%%vaibify``, for IPython, which is imported on loading."""

from __future__ import annotations

from typing import Any


def load(shell: Any) -> None:
    """Register the magics and their completion with an IPython shell."""
    from vaibify_lab.magics.completion import complete
    from vaibify_lab.magics.vaibify import VaibifyMagics

    shell.register_magics(VaibifyMagics)
    for key in ("%vaibify", "%%vaibify"):
        shell.set_hook("complete_command", complete, str_key=key)
