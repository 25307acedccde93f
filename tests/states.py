"""One project whose steps are green, and not green for every reason there is; then written down.

It ran on this machine and says that it ran in containers of a pinned image, as the clone of a
project of other people would.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.kit import Made, git
from tests.runs.here import run_here
from vaibify_lab.envelope.environment import NAME as ENVIRONMENT_FILE
from vaibify_lab.envelope.environment import EnvironmentFile, SystemTools
from vaibify_lab.envelope.lock import source_digest
from vaibify_lab.envelope.lock_compile import this_platform
from vaibify_lab.runs import enveloping
from vaibify_lab.runs.opened import Opened

GREEN = {"good", "below", "plain"}
OTHERS = ("edited", "moved", "failing", "refused", "unsigned", "recoded", "crashed", "never")
UNSIGNED = ("unsigned", "crashed", "refused")
IMAGE = "sha256:" + "c" * 64
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SOURCE = 'colorama==0.4.6 ; sys_platform == "win32"\n'
LOCK = (
    f"# vaibify: python {PYTHON} {this_platform()}\n"
    f"# source-sha256: {source_digest(SOURCE.encode())}\n"
    f'colorama==0.4.6 ; sys_platform == "win32" \\\n    --hash=sha256:{"1" * 64}\n'
    f"iniconfig==2.1.0 \\\n    --hash=sha256:{'2' * 64} \\\n    --hash=sha256:{'3' * 64}\n"
)
FILES = {
    "data/in.txt": "1\n",
    "scripts/fit.py": "print(1)\n",
    "tests/of.sh": "test -s data/in.txt\n",
    "vaibify.yml": (
        "projectName: states\npythonVersion: '3.11'\nsystemPackages: [gcc, git]\n"
        "bindMounts:\n  - /data:/data\nnetworkIsolation: false\ncpuLimit: 2.5\n"
    ),
    "container.conf": "# one\nlib|https://example.org/lib.git|main|reference|lib\n",
}  # fmt: skip
ENVIRONMENT = EnvironmentFile(
    "states:v1",
    IMAGE,
    "registry.example.org/lab/states@sha256:" + "d" * 64,
    "linux/amd64",
    "pushed",
    SystemTools("3.11.2", "gcc 12.2", "glibc 2.36", "Debian 12", "C.UTF-8", "2024a"),
    source_date_epoch=1_700_000_000,
    lock_sha256=hashlib.sha256(LOCK.encode()).hexdigest(),
)  # fmt: skip


def declared() -> list[dict[str, Any]]:
    """Return the steps: one for each state, alike but for what follows from it."""
    kinds = {
        "dictIntegrity": {"saCommands": ["bash tests/of.sh"]},
        "dictQuantitative": {"saCommands": ["test -e data/in.txt"], "sFilePath": "tests/of.sh"},
    }
    fails = {"dictQualitative": {"saCommands": ["test ! -e data/in.txt"]}}
    steps = [_one(name, dictTests=kinds) for name in ("good", *OTHERS)]
    by_name = {one["sName"]: one for one in steps}
    by_name["failing"]["dictTests"] = fails
    by_name["crashed"] |= {"sStepId": "crashed", "sDescription": "as it is"}
    untested = {"bNoTests": True, "dictEnvironment": {"A": "1"}}
    below = _one("below", **untested, saInputDataFiles=["good/o.txt"])
    under = _one("under", **untested, saInputDataFiles=["edited/o.txt"])
    return [by_name["good"], below, *steps[1:], _one("plain", **untested), under]


def _one(name: str, **more: Any) -> dict[str, Any]:
    run = f"cp data/in.txt {name}/o.txt && mkdir -p {name}/d && echo {name} > {name}/d/x"
    return {
        "sName": name,
        "saDataCommands": [run, "python scripts/fit.py"],
        "saDataFiles": [f"{name}/o.txt", f"{name}/d/"],
        "saInputDataFiles": ["data/in.txt", f"data/{name}.txt"],
    } | more


def build(root: Path) -> Made:
    """Make it: run, test, sign, then let happen what makes each step what its name says."""
    steps = declared()
    inputs = {f"data/{one}.txt": f"{one}\n" for one in ("good", "plain", *OTHERS)}
    made = Made.new(root, steps, FILES | inputs, bNoPythonPackages=True, iSeed=7)
    names = [one["sName"] for one in steps if one["sName"] != "never"]
    run_here(made, *names, tier="plain")
    _sign(made, *(one for one in names if one not in UNSIGNED))
    project = made.project()
    project.sign_off(project.to_sign("refused"), "failed", by="Ada Test", note="wrong")
    _crash(made)
    made.workflow(steps, iSeed=7, dictVariables={"v": 1})
    _as_in_containers(made, names)
    made.write("never/o.txt", "by hand\n")
    made.write("never/d/x", "by hand\n")
    enveloping.write_manifest(Opened(made.root, cached=False))
    made.commit("all of it")
    git(made.root, "gc", "-q")
    _let_happen(made)
    return made


def _sign(made: Made, *slugs: str) -> None:
    key = made.root.parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(key))):
        git(made.root, "config", name, value)
    made.sign("good", "edited")
    git(made.root, "config", "--unset", "user.signingkey")
    made.sign(*(slug for slug in slugs if slug not in ("good", "edited")))


def _crash(made: Made) -> None:
    """Let a later run of one step fail; what made it fail is taken back."""
    workflow = made.read("workflow.json")
    made.workflow([_one("crashed", saDataCommands=["exit 3"])], bNoPythonPackages=True)
    run_here(made, "crashed", tier="plain")
    made.write("workflow.json", workflow)


def _as_in_containers(made: Made, names: list[str]) -> None:
    for name in names:
        path = f".vaibify/records/workflow/{name}.json"
        record = made.fact(path)
        for one in (record, record.get("last_passed")):
            if one is not None:
                one |= {"image": IMAGE, "lock": ENVIRONMENT.lock_sha256, "isolation": "container"}
                one["engine"] = {"kind": "docker"}
        made.write(path, json.dumps(record, indent=2, sort_keys=True) + "\n")
        path = path.replace("/records/", "/test_markers/")
        if (made.root / path).exists():
            marker = made.fact(path)
            marker["dictSurroundings"] |= {"sImage": IMAGE, "sLock": ENVIRONMENT.lock_sha256}
            made.write(path, json.dumps(marker, indent=2, sort_keys=True) + "\n")
    made.write(ENVIRONMENT_FILE, ENVIRONMENT.to_bytes())
    made.write("requirements.in", SOURCE)
    made.write("requirements.lock", LOCK)


def end_runner(root: Path) -> None:
    """Let journals name a runner that is gone: it was this very process, which lives."""
    for journal in filter(Path.is_file, root.glob(".vaibify/local/runs/*/journal.jsonl")):
        text = journal.read_text(errors="surrogateescape")
        gone = text.replace(f'"pid":{os.getpid()}', '"pid":0')
        journal.write_text(gone, errors="surrogateescape")


def _let_happen(made: Made) -> None:
    end_runner(made.root)
    made.write("edited/o.txt", "2\n")
    made.write("data/moved.txt", "other\n")
    workflow = json.loads(made.read("workflow.json"))
    for one in workflow["listSteps"]:
        if one["sName"] == "recoded":
            one["saDataCommands"][0] += " && true"
    made.write("workflow.json", json.dumps(workflow, indent=2) + "\n")
