"""What takes long and is no run, as a process of its own: ``python -m vaibify_lab.project.jobs``.

It reads one JSON request from its standard input, writes JSON lines, and ends when it is told to
(SIGINT) or when whoever started it is gone, which closes that input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from vaibify_lab.ceremony.reproduce import Asked, Telling
from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.report import all_green
from vaibify_lab.project.facade import Project
from vaibify_lab.project.reviewing import about

Kind = Literal["build", "envelope", "reproduction", "rerun", "look", "verify"]
WRITERS = frozenset({"build", "envelope"})
ENDINGS = frozenset({"jobDone", "jobFailed", "jobCancelled"})
_EVERY_SECONDS = 0.1
Options = Mapping[str, Any]


@dataclass(slots=True)
class Teller:
    """Writes the job's lines."""

    out: BinaryIO
    _sequence: int = 0
    _told: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, event: str, **details: Any) -> None:
        """Write one line."""
        with self._lock:
            self._sequence += 1
            head = {"event": event, "sequence": self._sequence, "time": time.time()}
            self.out.write(jsonio.line(head | details))
            self.out.flush()

    def now_and_then(self, event: str, **details: Any) -> None:
        """Write one line unless one of these was written just before."""
        now = time.monotonic()
        if now - self._told > _EVERY_SECONDS:
            self._told = now
            self.say(event, **details)


def build(project: Project, asked: Options, teller: Teller) -> dict[str, Any]:
    """Build the image."""
    found = project.build(
        base_image=asked.get("base_image"),
        no_cache=bool(asked.get("no_cache")),
        push=asked.get("push"),
        tell=lambda line: teller.say("buildLine", **asdict(line)),
    )
    return found.as_json()


def envelope(project: Project, asked: Options, teller: Teller) -> dict[str, Any]:
    """Write the envelope or a part of it."""
    written = project.envelope(asked.get("only"), lambda text: teller.say("preparing", text=text))
    return {"written": [{"path": path, "holds": what} for path, what in written]}


def reproduction(project: Project, asked: Options, teller: Teller) -> dict[str, Any]:
    """Confirm the project as a stranger would."""
    workflow = None if asked.get("all_workflows", True) else project.path
    skip = frozenset(asked.get("skip", ()))
    question = Asked(skip, bool(asked.get("rerun")), workflow, project.person())
    here = about(project.opened)
    return {"about": here, **project.reproduce(question, _telling(teller)).as_json()}


def rerun(project: Project, asked: Options, teller: Teller) -> dict[str, Any]:
    """Run single steps again on a copy, and compare."""
    which = {"about": about(project.opened), "workflow": project.path}
    steps = list(dict.fromkeys(project.step(name).slug for name in asked["steps"]))
    found = project.rerun(steps, lambda event: teller.say("rerun", line=event))
    return {**which, "steps": steps, **found.as_json()}


def look(project: Project, asked: Options, teller: Teller) -> dict[str, Any]:
    """Say what is true of the steps, from every byte read anew; nothing is run."""
    teller.say("preparing", text="reading every byte")
    report = project.report()
    return {"green": all_green(report.steps), **report.to_json()}


def verify(project: Project, asked: Options, teller: Teller) -> dict[str, Any]:
    """Read every byte that the manifest lists."""
    found = project.reproduce(Asked(frozenset({2, 3})), _telling(teller))
    return found.tiers[0].as_json()


_KINDS: dict[Kind, Callable[[Project, Options, Teller], dict[str, Any]]] = {
    "build": build,
    "envelope": envelope,
    "reproduction": reproduction,
    "rerun": rerun,
    "look": look,
    "verify": verify,
}


def _telling(teller: Teller) -> Telling:
    def done(tier: int, text: str, below: Sequence[str]) -> None:
        teller.say("tierDone", tier=tier, text=text, below=list(below))

    return Telling(
        begin=lambda tier, text: teller.say("tierBegin", tier=tier, text=text),
        done=done,
        progress=lambda count, listed, read: teller.now_and_then(
            "tierProgress", done=count, listed=listed, bytes=read
        ),
        event=lambda event: teller.say("rerun", line=event),
        note=lambda text: teller.say("note", text=text),
    )


def request(kind: Kind, root: Path, workflow: str, asked: Options) -> bytes:
    """Return what a job reads."""
    value = {"kind": kind, "root": str(root), "workflow": workflow, "asked": dict(asked)}
    return jsonio.line(value)


def main() -> None:
    """Do what one request asks."""
    value = json.loads(sys.stdin.buffer.readline())
    assert value["kind"] in get_args(Kind)
    teller = Teller(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a library prints is no line of ours
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    threading.Thread(target=_end_with_starter, daemon=True).start()
    with suppress(BrokenPipeError):
        _do(value, teller)


def _do(value: Mapping[str, Any], teller: Teller) -> None:
    try:
        project = Project(Path(value["root"]), value["workflow"], cached=False)
        result = _KINDS[value["kind"]](project, value["asked"], teller)
    except VaibifyError as error:
        teller.say("jobFailed", error=error.to_json())
    except KeyboardInterrupt:
        teller.say("jobCancelled")
    else:
        teller.say("jobDone", result=result)


def _end_with_starter() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
