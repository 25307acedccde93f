"""What an unchanged poll costs: ``python benchmarks/server.py [--steps 1000] [--rounds 20]``.

A real Jupyter Server, asked again with the ETag of its last answer, against the same look made in
this process by ``Project.report()``; in the same run and in alternating order. Medians, and the
ratio. Exits 1 when an answer is not a 304, or the two disagree.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from turns import measured

from vaibify_lab.project import Project

TOKEN = "of-the-benchmark"
PATIENCE = 120


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="vaibify-bench-"))
    try:
        make_project(place / "work/p", given.steps)
        time.sleep(3)  # stamps younger than two seconds are not trusted: nobody's files are
        port, server = start_server(place)
        try:
            return compare(place / "work/p", port, given.rounds)
        finally:
            server.terminate()
            server.wait(30)
    finally:
        shutil.rmtree(place)


def make_project(root: Path, steps: int) -> None:
    """Make a chain-less workflow: each step has a script, an input and an output of its own."""
    root.mkdir(parents=True)
    listed = []
    for number in range(steps):
        folder = f"part{number // 50:03d}"
        (root / folder).mkdir(exist_ok=True)
        for name, text in ((f"in{number}.csv", "1,2\n"), (f"out{number}.csv", "3\n")):
            (root / folder / name).write_text(text)
        (root / folder / f"step{number}.sh").write_text("true\n")
        listed.append(
            {
                "sName": f"Step {number}",
                "saDataCommands": [f"bash {folder}/step{number}.sh"],
                "saDataFiles": [f"{folder}/out{number}.csv"],
                "saInputDataFiles": [f"{folder}/in{number}.csv"],
                "bNoTests": True,
            }
        )
    value = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, "listSteps": listed}
    (root / "workflow.json").write_text(json.dumps(value))
    person = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    for args in (("init", "-q"), ("add", "-A"), (*person, "commit", "-q", "-m", "made")):
        subprocess.run(["git", *args], cwd=root, check=True)


def start_server(place: Path) -> tuple[int, subprocess.Popen[bytes]]:
    """Start a server and wait until it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [
        *(sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root"),
        "--ServerApp.jpserver_extensions={'vaibify_lab': True}",
        f"--ServerApp.root_dir={place / 'work'}",
        f"--ServerApp.port={port}",
    ]
    own = {"HOME": str(place), "JUPYTER_TOKEN": TOKEN}
    with (place / "log").open("wb") as log:
        server = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            ask(port, "projects")
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit((place / "log").read_text())
            time.sleep(0.1)
        else:
            return port, server


def ask(port: int, address: str, etag: str = "") -> tuple[int, str, Any]:
    """Return status, ETag and JSON of an address."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Authorization": f"token {TOKEN}"} | ({"If-None-Match": etag} if etag else {})
    connection.request("GET", f"/vaibify/{address}", headers=headers)
    found = connection.getresponse()
    body = found.read()
    connection.close()
    return found.status, found.headers["Etag"] or "", json.loads(body) if body else None


def compare(root: Path, port: int, rounds: int) -> int:
    """Time both, print the table; 1 when they disagree."""
    _, _, listed = ask(port, "projects")
    address = f"projects/{listed['projects'][0]['id']}/file-status"
    _, etag, first = ask(port, address)
    project = Project(root)
    if first["steps"] != [one.to_json() for one in project.report().steps]:
        print("the server and the project disagree", file=sys.stderr)
        return 1
    statuses = set()
    ways: tuple[Callable[[], object], ...] = (
        lambda: statuses.add(ask(port, address, etag)[0]),
        project.report,
    )
    times = [measured(ways, turn) for turn in range(rounds)]
    if statuses != {304}:
        print(f"the poll answered {statuses}, not 304", file=sys.stderr)
        return 1
    poll, look = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = sorted(mine / other for mine, other in times)
    print("| unchanged poll | look in process | poll/look (range) |\n|---|---|---|")
    spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    print(f"| {poll:.3f} s | {look:.3f} s | {spread} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
