"""A cell that is a step in a pinned image: run in its container, which an interrupt ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.contained.pinned import Image, containers, pinned, record
from tests.magics.test_kernels import live

CELL = """%%vaibify step Slow --no-input --output out/s.txt --language bash
echo asleep
sleep 600
echo 1 > out/s.txt"""
FAST = CELL.replace("sleep 600\n", "")


def test_the_cell_runs_in_the_container_and_an_interrupt_ends_that(
    tmp_path: Path, image: Image, client: Any
) -> None:
    made = pinned(tmp_path / "p", image, [], {})
    with live(made.root) as (manager, kernel):

        def hear(message: dict[str, Any]) -> None:
            if "asleep" in message["content"].get("text", ""):
                manager.interrupt_kernel()

        stopped = kernel.execute_interactive(CELL, timeout=120, output_hook=hear)["content"]
        said: list[str] = []
        again = kernel.execute_interactive(
            FAST, timeout=120, output_hook=lambda one: said.append(str(one["content"]))
        )["content"]
    assert (stopped["status"], stopped["ename"]) == ("error", "StepFailed")
    assert stopped["evalue"].startswith("stopped on request; not finished")
    assert again["status"] == "ok", again
    assert "in containers of the pinned image" in "".join(said)
    kept = record(made, "slow")
    assert (kept.outcome, kept.isolation, kept.image) == ("passed", "container", image.digest)
    for run in made.project().runs():
        assert containers(client, run.run_id) == []
    assert (made.root / "out/s.txt").read_text() == "1\n"
