"""Projects to measure: as many steps as asked for, recorded as run and signed off, committed.

A step has a script of its own, seven outputs and, from the second layer on, one input: an output of
the step one layer above. The facts are written, not earned: 10,000 runs would take ten minutes.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from vaibify_lab.core import fact_files, workflow_file
from vaibify_lab.core.facts import Pins, RunRecord, SignOff, SignOffs
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.files.factstore import RECORDS, SIGN_OFFS

OUTPUTS = 7
LAYER = 100
RUN_ID = "20260101T000000-00000000"
_WHEN = "2026-01-01T00:00:00Z"


def make_project(
    root: Path, steps: int, outputs: int = OUTPUTS, *, recorded: bool = True
) -> Workflow:
    """Make a repository of so many steps; unless ``recorded``, none of them has run."""
    data = json.dumps(document(steps, outputs)).encode()
    workflow = workflow_file.parse(data, "workflow.json")
    _write(root, "workflow.json", data)
    _write(root, ".vaibify/.gitignore", b"local/\n")
    for step in workflow.steps:
        _write(root, _script(step.number), b"print(%d)\n" % step.number)
        if recorded:
            for path in step.outputs:
                _write(root, path, _content(path))
            for path, fact in _facts(workflow, step):
                _write(root, path, fact)
    commit(root)
    return workflow


def document(steps: int, outputs: int = OUTPUTS) -> dict[str, Any]:
    """Return a workflow file of so many steps."""
    return {
        "sFormat": "vaibify-lab/1",
        "bNoPythonPackages": True,
        "listSteps": [_step(number, outputs) for number in range(1, steps + 1)],
    }


def commit(root: Path) -> None:
    """Make the folder a repository that holds everything.

    git packs so many objects in the background, and would do so on one of the processors that are
    measured: it is told not to.
    """
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    still = ("config", "gc.auto", "0")
    for args in (("init", "-q"), still, ("add", "-A"), (*who, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *args], cwd=root, check=True)


def _step(number: int, outputs: int) -> dict[str, Any]:
    above = f" {{Step{number - LAYER:02d}.d0}}" if number > LAYER else ""
    step = {
        "sName": f"Step {number}",
        "saDataCommands": [f"python {_script(number)}{above}"],
        "saDataFiles": [f"out/{number:05d}/d{index}.dat" for index in range(outputs)],
        "bNoTests": True,
    }
    return step if above else step | {"bNoInputData": True}


def _script(number: int) -> str:
    return f"code/{number // LAYER:03d}/s{number:05d}.py"


def _content(path: str) -> bytes:
    return path.encode() + b"\n"


def _facts(workflow: Workflow, step: Step) -> Iterator[tuple[str, bytes]]:
    outputs = {path: sha256(_content(path)).hexdigest() for path in step.outputs}
    inputs = {path: sha256(_content(path)).hexdigest() for path in step.inputs}
    code = {_script(step.number): sha256(b"print(%d)\n" % step.number).hexdigest()}
    record = RunRecord(
        workflow=workflow.stem,
        step=step.slug,
        name=step.name,
        outcome="passed",
        run_id=RUN_ID,
        started=_WHEN,
        ended=_WHEN,
        exit_code=0,
        commands=step.commands,
        pins=Pins(inputs, code, outputs),
    )
    signed = SignOff("passed", "Bench", _WHEN, RUN_ID, outputs)
    sign_offs = SignOffs(workflow.stem, step.slug, (signed,))
    place = f"{workflow.stem}/{step.slug}.json"
    yield f".vaibify/{RECORDS}/{place}", fact_files.dump_record(record)
    yield f".vaibify/{SIGN_OFFS}/{place}", fact_files.dump_sign_offs(sign_offs)


def _write(root: Path, path: str, data: bytes) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
