"""The host changes the tree under a running step, and the walls that were laid go with it."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.kit import Made, git
from tests.runs.here import step

from .ground import Ground, told

FACT = ".vaibify/test_markers/workflow/other.json"
# What the host does, what the step then writes, and what must be named
CHANGES = {
    "another .git": ("mv .git .g && cp -a .g .git", ".git/hooks/post-commit", ".git"),
    "another .vaibify": ("rm -rf .vaibify && mkdir .vaibify", FACT, ".vaibify"),
    "another branch": ("git checkout -q side", "scripts/evil.sh", "scripts/evil.sh"),
}


def meanwhile(root: Path, command: str) -> threading.Thread:
    """Run a command as soon as the step has begun, then let the step go on."""

    def act() -> None:
        end = time.monotonic() + 60
        while not (root / "w/begun").exists() and time.monotonic() < end:
            time.sleep(0.01)
        subprocess.run(command, shell=True, cwd=root, check=True)
        (root / "w/go").touch()

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def made_on(ground: Ground, target: str) -> Made:
    """Return a project whose step may write the whole tree, waits, and then attacks."""
    folder = target.rpartition("/")[0]
    text = "echo 1 > w/begun; until [ -e w/go ]; do sleep 0.02; done\n"
    text += f"mkdir -p {folder}; echo evil > {target}; echo 1 > w/o.txt\n"
    made = ground.made(
        [step("Evil", "bash scripts/evil.sh", out="w/o.txt", sDirectory=".")],
        {"scripts/evil.sh": text, FACT: "{}\n", "w/x": ""},
    )
    git(made.root, "checkout", "-q", "-b", "side")
    made.write("scripts/evil.sh", "echo side > w/o.txt\n")
    made.commit("side")
    git(made.root, "checkout", "-q", "main")
    return made


@pytest.mark.parametrize("change", CHANGES)
def test_a_step_under_which_the_tree_changes_never_passes(ground: Ground, change: str) -> None:
    command, target, named = CHANGES[change]
    made = made_on(ground, target)
    ground.hand_over(made)
    thread = meanwhile(made.root, command)
    ran = ground.run(made)
    thread.join()
    assert not made.steps()["evil"].green
    assert made.steps()["evil"].run != "current"
    assert named in told(made, ran, "evil")
    if ground.image is not None:
        label = f"label=org.vaibify.lab.run={ran.folder.run_id}"
        assert subprocess.check_output(["docker", "ps", "-aq", "--filter", label]) == b""
