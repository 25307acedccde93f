"""How a notebook is run in a step's place: the runner laid beside it, and the script for bash."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence
from pathlib import Path

from vaibify_lab.core import disk

VARIABLE = "VAIBIFY_NOTEBOOK_RUNNER"
RUNNER = Path(__file__).with_name("runner.py")
_NAME = "vaibify_run_notebook.py"
# Some images have no program of the shorter name.
_PYTHON = 'command -v python >/dev/null || python() { python3 "$@"; }\n'


def prepare(exchange: Path) -> None:
    """Put the runner into a folder that host and step share."""
    text = RUNNER.read_bytes()
    try:
        (exchange / _NAME).write_bytes(text)
    except OSError as error:
        raise disk.failure(error, "the notebook cannot be made ready", str(exchange)) from None


def runner_at(exchange: str) -> str:
    """Return the runner's path as the step sees it."""
    return f"{exchange}/{_NAME}"


def command(notebook: str, copy: str | None, directory: str) -> str:
    """Return the command that runs a notebook in a directory (repository paths)."""
    given = [notebook, *filter(None, [copy])]
    words = [shlex.quote(posixpath.relpath(path, directory or ".")) for path in given]
    return " ".join(['python "$' + VARIABLE + '"', *words])


def script(one: str) -> str:
    """Return the lines that run such a command before what follows; its failure ends the step."""
    return f"{_PYTHON}{one} || exit $?\n"


def copy_among(outputs: Sequence[str], notebook: str) -> str | None:
    """Return where the executed copy goes: the only output that is a notebook, or of its name."""
    found = [path for path in outputs if path.endswith(".ipynb")]
    name = posixpath.basename(notebook)
    same = [path for path in found if posixpath.basename(path) == name]
    for named in (found, same):
        if len(named) == 1:
            return named[0]
    return None
