"""Sealed runs in containers: what a step did not declare is not there, and is named."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from tests.contained.pinned import Image, pinned, record, wait_for
from tests.kit import Made
from tests.runs.here import step
from vaibify_lab.runs.options import RunOptions

GIGABYTES = 10
FILES = {
    "data/x.csv": "2\n",
    "lib/plug_b.py": "VALUE = 3\n",
    "csv.py": "open('csv/o.txt', 'w').write(open('data/x.csv').read())\n",
    "dynamic.py": (
        "import importlib, sys\n"
        "sys.path.insert(0, 'lib')\n"
        "value = importlib.import_module(b'plug_b'.decode()).VALUE\n"
        "open('dynamic/o.txt', 'w').write(str(value))\n"
    ),
    "child.py": (
        "import subprocess\n"
        "done = subprocess.run(['wc', '-c', 'data/x' + '.csv'], capture_output=True, check=True)\n"
        "open('child/o.txt', 'wb').write(done.stdout)\n"
    ),
}
# name: what it must declare, and what is named while it does not
MISSED: dict[str, tuple[dict[str, list[str]], str]] = {
    "csv": ({"saInputDataFiles": ["data/x.csv"]}, "data/x.csv"),
    "dynamic": ({"saScripts": ["dynamic.py", "lib/plug_b.py"]}, "lib/plug_b.py"),
    "child": ({"saInputDataFiles": ["data/x.csv"]}, "data/x.csv"),
}


def steps(*, declared: bool) -> list[dict[str, Any]]:
    return [
        step(name.capitalize(), f"python3 {name}.py", out=f"{name}/o.txt", **more)
        for name, (keys, _) in MISSED.items()
        for more in [dict[str, Any](keys) if declared else {}]
    ]


def test_what_was_not_declared_is_named_and_passes_once_it_is(tmp_path: Path, image: Image) -> None:
    made = pinned(tmp_path / "p", image, steps(declared=False), FILES)
    assert made.run()["steps"] == dict.fromkeys(MISSED, "passed"), "unsealed all of it is there"
    good = {name: made.read(f"{name}/o.txt") for name in MISSED}
    assert made.run(mode="all", sealed=True)["steps"] == dict.fromkeys(MISSED, "failed")
    for name, (_, path) in MISSED.items():
        found = record(made, name)
        assert (found.reason_code, found.sealed) == ("sealed-missed", False), found.reason
        assert found.reason.startswith(f"missed {path} in its sealed run; declare it in ")
        assert made.read(f"{name}/o.txt") == good[name], "the old output is back"
    made.workflow(steps(declared=True))
    assert made.run(sealed=True)["steps"] == dict.fromkeys(MISSED, "passed")
    assert {name: made.read(f"{name}/o.txt") for name in MISSED} == good
    for name in MISSED:
        found = record(made, name)
        assert (found.sealed, found.isolation, found.image) == (True, "container", image.digest)
    reports = made.steps().values()
    assert [(one.sealed, one.run) for one in reports] == [(True, "current")] * len(MISSED)


def on_disk(root: Path) -> int:
    """Return the bytes that files of a folder really take."""
    return sum(one.lstat().st_blocks * 512 for one in root.rglob("*"))


def test_ten_gigabytes_of_declared_input_cost_no_copy(tmp_path: Path, image: Image) -> None:
    commands = [
        "stat -c %s data/big.bin > o/size.txt",
        "tail -c 4 data/big.bin > o/end.txt",
        "(echo x >> data/big.bin) 2> o/refused.txt; true",
        "touch o/ready; while [ ! -e o/go ]; do sleep 0.05; done; rm o/ready o/go",
    ]
    big = step("Big", *commands, out=["o/size.txt", "o/end.txt", "o/refused.txt"])
    big |= {"saInputDataFiles": ["data/big.bin"]}
    made = pinned(tmp_path / "p", image, [big], {".gitignore": "data/\n"})
    size = GIGABYTES * 2**30
    with made.write("data/big.bin", b"").open("r+b") as file:
        file.truncate(size - 4)
        file.seek(0, os.SEEK_END)
        file.write(b"last")
    time.sleep(2.5)  # a file that was written just now is read at every look
    before = on_disk(made.root)
    project = made.project()
    folder = project.start_run(RunOptions("workflow.json", "all", sealed=True))
    tree = folder.path / "steps/big/tree"
    wait_for((tree / "o/ready").exists, 600)
    assert (tree / "data/big.bin").stat().st_size == 0, "the place that the file is laid over"
    assert on_disk(made.root) - before < 2**20
    (tree / "o/go").touch()
    last = [event for event in project.events(folder) if event is not None][-1]
    assert last["steps"] == {"big": "passed"}, last
    assert on_disk(made.root) - before < 2**20
    assert made.read("o/size.txt") == f"{size}\n"
    assert made.read("o/end.txt") == "last"
    assert "Read-only file system" in made.read("o/refused.txt")
    assert (record(made, "big").sealed, not_staged(made)) == (True, [])


def not_staged(made: Made) -> list[Path]:
    """Return the staged trees that were left behind."""
    return list((made.root / ".vaibify/local/runs").glob("*/steps/*/tree"))
