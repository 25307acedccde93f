"""What a step in a container costs: ``python benchmarks/container.py IMAGE [--rounds 30]``.

A no-op step of ours against the same hardened container made with the bare SDK (create, attach,
start, wait, inspect, remove), in the same run and in alternating order. Medians, and the ratio.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import docker
from docker.types import LogConfig, Mount
from turns import measured

from vaibify_lab.engines.base import Launch
from vaibify_lab.engines.docker.engine import DockerEngine

FOLDERS = (".git", ".vaibify", "out", "scratch/tmp/home", "scratch/var-tmp")


def main() -> int:
    """Measure and print; 1 when a container did not do as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", help="an image with bash that the engine holds")
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="vaibify-bench-"))
    for folder in FOLDERS:
        (base / "project" / folder).mkdir(parents=True)
    client = docker.from_env()
    engine = DockerEngine(given.image)
    ways = (lambda: ours(engine, base), lambda: bare(client, given.image, base / "project"))
    try:
        ours(engine, base)  # the engine is examined once, before
        times = [measured(ways, turn) for turn in range(given.rounds)]
    finally:
        shutil.rmtree(base)
    print(table(times))
    return 0


def ours(engine: DockerEngine, base: Path) -> None:
    """Run a step as the runner does."""
    state = Path(tempfile.mkdtemp(dir=base))
    launch = Launch(
        run_id=state.name,
        slug="step",
        tree=base / "project",
        project_name="project",
        directory="",
        script="true",
        writable=("out",),
        environment={},
        network=False,
        state=state,
    )
    handle = engine.launch(launch)
    while (ended := handle.poll()) is None:
        time.sleep(0.005)
    if ended.returncode != 0:
        sys.exit(f"a step failed: {ended}")


def bare(client: docker.DockerClient, image: str, tree: Path) -> None:
    """Run the same with nothing but the SDK."""
    at = "/workspace/project"
    mounts = [
        Mount(at, str(tree), type="bind", read_only=True),
        Mount(f"{at}/out", str(tree / "out"), type="bind"),
        Mount(f"{at}/.git", str(tree / ".git"), type="bind", read_only=True),
        Mount(f"{at}/.vaibify", str(tree / ".vaibify"), type="bind", read_only=True),
        Mount("/tmp", str(tree / "scratch/tmp"), type="bind"),
        Mount("/var/tmp", str(tree / "scratch/var-tmp"), type="bind"),
    ]
    container = client.containers.create(
        image,
        ["-c", "true"],
        entrypoint=["bash"],
        working_dir=at,
        user="0:0",
        mounts=mounts,
        init=True,
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        read_only=True,
        pids_limit=4096,
        shm_size=2**30,
        environment={"HOME": "/tmp/home", "USER": "vaibify", "LOGNAME": "vaibify"},
        log_config=LogConfig(
            type="local", config={"max-size": "4g", "max-file": "2", "compress": "false"}
        ),
    )
    output = container.attach(stream=True, demux=True)
    container.start()
    b"".join(piece for pair in output for piece in pair if piece)
    code = container.wait()["StatusCode"]
    container.reload()
    container.remove()
    if code != 0:
        sys.exit(f"a bare container failed: {code}")


def table(times: list[tuple[float, ...]]) -> str:
    """Return medians and quartiles in milliseconds, and the ratio of the medians."""
    mine, theirs = zip(*times, strict=True)
    lines = ["| what | median ms | quartiles |", "|---|---|---|"]
    for name, column in (("a no-op step", mine), ("the bare SDK", theirs)):
        low, middle, high = (1000 * one for one in statistics.quantiles(column, n=4))
        lines.append(f"| {name} | {middle:.0f} | {low:.0f} to {high:.0f} |")
    ratio = statistics.median(mine) / statistics.median(theirs)
    pairs = statistics.median(one / other for one, other in times)
    lines.append(f"\nratio of the medians {ratio:.2f}, median of the ratios {pairs:.2f}")
    return "\n".join(lines) + f" ({len(times)} rounds)"


if __name__ == "__main__":
    raise SystemExit(main())
