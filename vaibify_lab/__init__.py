"""Verified steps for Jupyter: see the README for what a user sees, docs/ for how it is built.

Importing this package pulls in none of jupyter_server, docker or nbclient: a kernel inside a
container may have none of them. Not even typing: each step's supervisor would pay for it.
"""

from vaibify_lab._version import __version__

__all__ = ["__version__"]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """Tell Jupyter Server of the extension; only now is anything of it imported."""
    from vaibify_lab.extension import VaibifyApp

    return [{"module": "vaibify_lab.extension", "app": VaibifyApp}]


def load_ipython_extension(shell: object) -> None:
    """Give IPython the magics: ``%load_ext vaibify_lab``."""
    from vaibify_lab.magics import load

    load(shell)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "vaibify-lab"}]
