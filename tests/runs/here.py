"""A run made in the tests' own process: the real runner and engine, without its start-up time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.kit import Made
from tests.others import but_others, plain
from vaibify_lab.core import jsonio
from vaibify_lab.core.facts import RunRecord, TestMarker
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.child import Runner
from vaibify_lab.runs.journal import (
    REQUEST,
    RUNS,
    RunFolder,
    damaged_line,
    new_run_id,
    read_events,
)
from vaibify_lab.runs.options import RunOptions

TIERS = ("bwrap", "landlock", "plain")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: its events, and the facts after it."""

    made: Made
    folder: RunFolder
    events: list[dict[str, Any]]

    @property
    def end(self) -> dict[str, Any]:
        """The last event."""
        return self.events[-1]

    @property
    def steps(self) -> dict[str, str]:
        """How each step ended."""
        steps: dict[str, str] = self.end["steps"]
        return steps

    def of(self, event: str, step: str | None = None) -> list[dict[str, Any]]:
        """Return the events of a kind, of one step, but for memory kills of other tests."""
        kind = [one for one in but_others(self.events) if one["event"] == event]
        return [one for one in kind if step is None or one.get("step") == step]

    def texts(self, event: str, step: str | None = None) -> list[str]:
        """Return what the events of a kind say."""
        return [one["text"] for one in self.of(event, step)]

    def place(self, path: str) -> Path:
        """Return a place in the run's folder."""
        return self.folder.path / path


def run_here(made: Made, *steps: str, workflow: str = "workflow.json", **options: Any) -> Ran:
    """Make a run, to its end."""
    mode = options.pop("mode", "steps" if steps else "stale")
    asked = RunOptions(workflow, mode=mode, steps=steps, **options)
    folder = request(made, asked)
    with signals_kept():
        Runner(folder).main()
    assert damaged_line(folder) is None, "a line that no reader takes for an event"
    return Ran(made, folder, read_events(folder))


def request(made: Made, options: RunOptions) -> RunFolder:
    """Write a run's request, as a front door does."""
    tree = Tree(made.root)
    run_id = new_run_id()
    value = {"root": str(tree.root), "options": options.to_json(), "person": "Ada Test"}
    tree.write(f"{RUNS}/{run_id}/{REQUEST}", jsonio.dumps(value))
    return RunFolder(tree.root / RUNS / run_id)


@contextmanager
def signals_kept() -> Iterator[None]:
    """Put back what a runner does to this process's signals."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def record(made: Made, slug: str, stem: str = "workflow") -> RunRecord:
    """Return a step's record as it is on disk, but for memory kills of other tests."""
    found = FactStore(Tree(made.root), stem).load([slug]).records[slug]
    assert isinstance(found, RunRecord), found
    return replace(found, reason=found.reason and plain(found.reason))


def marker(made: Made, slug: str, stem: str = "workflow") -> TestMarker:
    """Return a step's test marker as it is on disk."""
    found = FactStore(Tree(made.root), stem).load([slug]).markers[slug]
    assert isinstance(found, TestMarker), found
    return found


def step(name: str, *commands: str, out: Any = None, **more: Any) -> dict[str, Any]:
    """Return a step as declared: no inputs, no tests, unless said."""
    outputs = [out] if isinstance(out, str) else list(out or [])
    value: dict[str, Any] = {"sName": name, "saDataCommands": list(commands), "bNoTests": True}
    if outputs:
        value["saDataFiles"] = outputs
    if "saInputDataFiles" not in more:
        value["bNoInputData"] = True
    return value | more


def by_hand(command: str) -> dict[str, Any]:
    """Return a step that a person does: ``Look``, whose output is ``marks/m.txt``."""
    more = {"bInteractive": True, "sDescription": "Mark the outliers."}
    return step("Look", command, out="marks/m.txt", **more)


def not_regular(secret: Path) -> dict[str, str]:
    """Return commands that leave ``NAME/o.txt`` as what no output may be, by their names."""
    return {
        "link": f"ln -s {secret} link/o.txt",
        "fifo": "mkfifo fifo/o.txt",
        "folder": "mkdir folder/o.txt",
        "sparse": "truncate -s 1T sparse/o.txt",
        "device": "mknod device/o.txt c 1 3",
    }
