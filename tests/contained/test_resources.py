"""What a step asks of the machine in workflow.json, as its container has it."""

from __future__ import annotations

from pathlib import Path

from tests.contained.pinned import Image, pinned, record
from tests.runs.here import step

ASKED = {"fCpus": 0.5, "iMemoryMegabytes": 100, "iShmMegabytes": 20}
READ = (
    "for one in memory.max cpu.max memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us"
    " cpu/cpu.cfs_period_us; do [ -r /sys/fs/cgroup/$one ] && cat /sys/fs/cgroup/$one; done"
    " > o/held.txt; df -B1M --output=size /dev/shm | tail -1 > o/shm.txt"
)
SHARE = 'python3 -c \'open("/dev/shm/x", "wb").write(bytes(30 * 2**20))\''


def test_what_a_step_asks_for_is_what_its_container_has(tmp_path: Path, image: Image) -> None:
    read = step("Read", READ, out=["o/held.txt", "o/shm.txt"], dictResources=ASKED)
    more = step("More", SHARE, "echo 1 > m/o.txt", out="m/o.txt", dictResources=ASKED)
    made = pinned(tmp_path / "p", image, [read, more], {})
    assert made.run()["steps"] == {"read": "passed", "more": "failed"}
    memory, *cpu = made.read("o/held.txt").split()
    assert int(memory) == 100 * 2**20
    assert int(cpu[0]) * 2 == int(cpu[1])
    assert made.read("o/shm.txt").split() == ["20"]
    assert "No space left on device" in str(record(made, "more").reason)


def test_graphics_cards_that_the_engine_has_not_fail_the_step_and_are_said(
    tmp_path: Path, image: Image
) -> None:
    asking = step("Learn", "echo 1 > o/x.txt", out="o/x.txt", dictResources={"iGpus": 1})
    made = pinned(tmp_path / "p", image, [asking], {"o/x.txt": "old\n"})
    made.run()
    found = record(made, "learn")
    text = "could not be run: this container engine has no graphics cards to give"
    assert (found.outcome, found.reason_code, found.reason) == (
        "failed",
        "engine-unfit",
        f"{text}; install what gives it them (nvidia-container-toolkit), or ask for no iGpus",
    )
    assert made.read("o/x.txt") == "old\n"
    assert made.steps()["learn"].green is False
