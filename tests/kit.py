"""A small project made for a test: a git repository with a workflow, driven through ``Project``."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.others import plain_event
from vaibify_lab.core.report import StepReport
from vaibify_lab.demo import write_demo
from vaibify_lab.project import Project
from vaibify_lab.runs.options import RunOptions

CHAIN: list[dict[str, Any]] = [
    {
        "sName": "Make",
        "saDataCommands": ["bash make.sh"],
        "saDataFiles": ["out/a.txt"],
        "saInputDataFiles": ["data/in.txt"],
        "bNoTests": True,
    },
    {
        "sName": "Use",
        "saDataCommands": ["bash use.sh {Step01.a}"],
        "saDataFiles": ["out2/b.txt"],
        "bNoTests": True,
    },
]
CHAIN_FILES = {
    "data/in.txt": "1\n",
    "make.sh": "tr 1-8 2-9 < data/in.txt > out/a.txt\n",
    "use.sh": 'wc -c < "$1" > out2/b.txt\n',
}
DIAMOND: list[dict[str, Any]] = [
    {
        "sName": "Top",
        "saDataCommands": ["bash top.sh"],
        "saDataFiles": ["top/t.txt"],
        "saInputDataFiles": ["data/in.txt"],
        "bNoTests": True,
    },
    {
        "sName": "Left",
        "saDataCommands": ["bash left.sh {Step01.t}"],
        "saDataFiles": ["left/l.txt"],
        "bNoTests": True,
    },
    {
        "sName": "Right",
        "saDataCommands": ["bash right.sh {Step01.t}"],
        "saDataFiles": ["right/r.txt"],
        "bNoTests": True,
    },
    {
        "sName": "End",
        "saDataCommands": ["cat {Step02.l} {Step03.r} > end/e.txt"],
        "saDataFiles": ["end/e.txt"],
        "bNoTests": True,
    },
]
DIAMOND_FILES = {
    "data/in.txt": "1\n",
    "top.sh": "cat data/in.txt > top/t.txt\n",
    "left.sh": 'sed s/^/L/ "$1" > left/l.txt\n',
    "right.sh": 'sed s/^/R/ "$1" > right/r.txt\n',
}


def git(root: Path, *args: str) -> str:
    """Run git as a person would."""
    done = subprocess.run(
        ["git", "-C", str(root), *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def new_repository(root: Path) -> None:
    """Begin a repository of somebody's."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Ada Test")
    git(root, "config", "user.email", "ada@example.org")


class Made:
    """A project on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def new(
        cls,
        root: Path,
        steps: Sequence[Mapping[str, Any]],
        files: Mapping[str, str | bytes],
        **top: Any,
    ) -> Made:
        """Make a repository with one commit."""
        new_repository(root)
        made = cls(root)
        made.write(".vaibify/.gitignore", "local/\n")
        made.workflow(steps, **top)
        for path, content in files.items():
            made.write(path, content)
        made.commit("start")
        return made

    @classmethod
    def demo_in_cells(cls, root: Path) -> Made:
        """Make the demo whose steps are cells of a notebook, with one commit."""
        write_demo(root, notebook=True)
        new_repository(root)
        made = cls(root)
        made.commit("the demo")
        return made

    def workflow(
        self, steps: Sequence[Mapping[str, Any]], *, at: str = "workflow.json", **top: Any
    ) -> None:
        """Write a workflow file."""
        value = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, **top}
        self.write(at, json.dumps({**value, "listSteps": list(steps)}, indent=2) + "\n")

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def read(self, path: str) -> str:
        """Read a file."""
        return (self.root / path).read_text()

    def fact(self, path: str) -> Any:
        """Read a fact file that is to be changed: without the digests that would give that away."""
        value = json.loads(self.read(path))
        for one in (value, *value.get("sign_offs", ())):
            one.pop("digest", None)
            one.pop("sDigest", None)
        return value

    def commit(self, message: str = "more") -> None:
        """Commit everything."""
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", message)

    def clone(self, to: Path) -> Made:
        """Clone it, as a stranger would."""
        git(self.root, "clone", "-q", str(self.root), str(to))
        git(to, "config", "user.name", "Bea Other")
        git(to, "config", "user.email", "bea@example.org")
        return Made(to)

    def project(self, workflow: str | None = None) -> Project:
        """Open it anew, with no memory of earlier looks."""
        return Project(self.root, workflow, cached=False)

    def run(self, *steps: str, workflow: str = "workflow.json", **options: Any) -> dict[str, Any]:
        """Run to the end; return the last event."""
        events = self.events(*steps, workflow=workflow, **options)
        assert events[-1]["event"] == "runComplete", events[-1]
        return events[-1]

    def events(
        self, *steps: str, workflow: str = "workflow.json", **options: Any
    ) -> list[dict[str, Any]]:
        """Run to the end; return every event."""
        mode = options.pop("mode", "steps" if steps else "stale")
        project = self.project(workflow)
        asked = RunOptions(workflow, mode=mode, steps=steps, **options)
        folder = project.start_run(asked)
        found = []
        deadline = time.monotonic() + 120
        for event in project.events(folder):
            assert time.monotonic() < deadline, found
            if event is not None:
                found.append(plain_event(event))
        return found

    def sign(self, *slugs: str, workflow: str | None = None) -> None:
        """Sign steps off as passed."""
        project = self.project(workflow)
        for slug in slugs:
            project.sign_off(project.to_sign(slug), "passed", by="Ada Test")

    def steps(self, workflow: str | None = None) -> dict[str, StepReport]:
        """Return the reports by slug."""
        return {one.slug: one for one in self.project(workflow).report().steps}

    def states(self, workflow: str | None = None) -> dict[str, tuple[str, str, bool, bool]]:
        """Return (run, sUser, bUpstreamModified, green) by slug."""
        return {
            slug: (one.run, one.user, one.upstream_modified, one.green)
            for slug, one in self.steps(workflow).items()
        }

    def codes(self, workflow: str | None = None) -> dict[str, list[str]]:
        """Return the codes of the reasons by slug."""
        return {
            slug: [reason.code for reason in one.reasons]
            for slug, one in self.steps(workflow).items()
        }

    def retouch(self, path: str, seconds: float = 1000.0) -> None:
        """Set a file's mtime elsewhere without changing a byte."""
        seen = (self.root / path).stat()
        os.utime(self.root / path, (seen.st_atime, seen.st_mtime - seconds))
