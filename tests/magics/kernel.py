"""Notebooks run as a person or a build server runs them: by nbclient, in a real kernel."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from tests.apps.front import surroundings
from tests.kit import Made
from tests.others import plain

LOAD = "%load_ext vaibify_lab"
FILES = {"data/in.txt": "1 2\n"}


def new_project(root: Path, steps: Sequence[Mapping[str, Any]] = (), **files: str) -> Made:
    """Make a project with one raw file and, mostly, no step."""
    return Made.new(root, steps, {**FILES, **files})


def notebook(*sources: str) -> Any:
    """Return a notebook of these code cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})


@dataclass(frozen=True)
class Ran:
    """What a notebook came to: its cells, and what stopped it."""

    cells: list[Any]
    stopped: str | None

    def text(self, index: int = -1) -> str:
        """Return what a cell streamed."""
        return plain("".join(one["text"] for one in self.cells[index].outputs if "text" in one))

    def shown(self, index: int = -1) -> list[dict[str, str]]:
        """Return what a cell displayed."""
        return [one["data"] for one in self.cells[index].outputs if "data" in one]

    def error(self, index: int = -1) -> tuple[str, str]:
        """Return the name and text of a cell's error, told in one line and no traceback."""
        [found] = [one for one in self.cells[index].outputs if one["output_type"] == "error"]
        assert found["traceback"] == [f"{found['ename']}: {found['evalue']}"], found
        return found["ename"], plain(found["evalue"])


@contextmanager
def sockets() -> Iterator[dict[str, str]]:
    """Give how a kernel is reached: a port that was free may be another's before it is taken."""
    with tempfile.TemporaryDirectory(prefix="vk-", dir="/tmp", ignore_cleanup_errors=True) as place:
        yield {"transport": "ipc", "ip": f"{place}/k"}


@contextmanager
def started(root: Path, **env: str) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """Give a kernel in a folder, and a client of it."""
    with sockets() as reached:
        manager = KernelManager(kernel_name="python3", **reached)
        manager.start_kernel(cwd=str(root), env=surroundings(**env))
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=120)
            yield manager, client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def run(root: Path, *sources: str, on: bool = False, **env: str) -> Ran:
    """Run a notebook of these cells, with the extension, to its first error or ``on`` past it."""
    made = notebook(LOAD, *sources)
    with sockets() as reached:
        client = NotebookClient(
            made,
            config=Config(KernelManager=reached),
            timeout=120,
            startup_timeout=180,
            kernel_name="python3",
            allow_errors=on,
            resources={"metadata": {"path": str(root)}},
        )
        try:
            client.execute(env=surroundings(**env))
        except CellExecutionError as error:
            return Ran(made.cells[1:], str(error))
    return Ran(made.cells[1:], None)
