"""A cell that is a step, against the command line that runs the same step."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from jupyter_client.manager import start_new_kernel
from measure import Pair, Row, rows_of
from projects import commit

CELL = "%%vaibify step Idle --no-input --no-tests\npass"
GOAL = 1.25
_SECONDS = 120
_WORKFLOW = '{"sFormat": "vaibify-lab/1", "bNoPythonPackages": true, "listSteps": []}\n'


def rows(folder: Path, rounds: int) -> Iterator[Row]:
    """Yield what running a cell costs, in a kernel that is there, of one step that does nothing."""
    folder.mkdir()
    (folder / "workflow.json").write_text(_WORKFLOW)
    commit(folder)
    program = str(Path(sys.executable).parent / "jupyter-vaibify")
    manager, client = start_new_kernel(cwd=str(folder))

    def cell() -> bool:
        heard = client.execute_interactive(
            CELL, timeout=_SECONDS, output_hook=lambda message: None, allow_stdin=False
        )
        return bool(heard["content"]["status"] == "ok")

    def command() -> bool:
        done = subprocess.run(
            [program, "run", "idle"], cwd=folder, capture_output=True, check=False
        )
        return done.returncode == 0

    try:
        client.execute_interactive("%load_ext vaibify_lab", timeout=_SECONDS)
        pair = Pair("`%%vaibify step` of a no-op", "`jupyter-vaibify run`", GOAL, cell, command)
        yield from rows_of([pair], rounds)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
