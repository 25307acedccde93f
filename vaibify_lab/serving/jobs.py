"""Jobs of this server: processes that live no longer than it does, their newest lines kept."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from vaibify_lab.core.errors import JobInProgress, MissingFile, VaibifyError
from vaibify_lab.project.jobs import ENDINGS, WRITERS, Kind, request
from vaibify_lab.runs.journal import now
from vaibify_lab.serving.shelf import Entry
from vaibify_lab.serving.tail import Event

State = Literal["running", "done", "failed", "cancelled"]
_KEPT_LINES = 5_000
_KEPT_JOBS = 20
_LONGEST_LINE = 32 * 2**20
_GRACE_SECONDS = 20.0
_MODULE = "vaibify_lab.project.jobs"
_STATES: dict[str, State] = {"jobDone": "done", "jobFailed": "failed", "jobCancelled": "cancelled"}


@dataclass(slots=True)
class Job:
    """One job. ``lines`` are the newest; the last one is its ending."""

    id: str
    kind: Kind
    root: Path
    process: asyncio.subprocess.Process
    started: str
    lines: deque[Event] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    state: State = "running"
    ended: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        ending = self.lines[-1] if self.state != "running" else {}
        return {
            "job": self.id,
            "kind": self.kind,
            "state": self.state,
            "started": self.started,
            "ended": self.ended,
            "result": ending.get("result"),
            "error": ending.get("error"),
        }

    def take(self, line: Event) -> None:
        """Keep a line."""
        with self.lock:
            self.lines.append(line)
            if line["event"] in ENDINGS:
                self.state, self.ended = _STATES[line["event"]], now()

    @property
    def first(self) -> int:
        """The sequence number of the oldest line that is kept."""
        with self.lock:
            return int(self.lines[0]["sequence"]) if self.lines else 1


class JobSource:
    """Reads a job's lines on."""

    def __init__(self, job: Job, after: int) -> None:
        self.ended = False
        self._job = job
        self._after = after

    def read(self) -> list[Event]:
        """Return what is new."""
        with self._job.lock:
            found = [
                line
                for line in self._job.lines
                if line["sequence"] > self._after or line["event"] in ENDINGS
            ]
        if found:
            self._after = found[-1]["sequence"]
            self.ended = found[-1]["event"] in ENDINGS
        return found


class Jobs:
    """The jobs of all projects.

    Parameters
    ----------
    log : callable
        Told what a job that broke down said.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()

    def of(self, entry: Entry, kind: Kind | None = None) -> list[Job]:
        """Return the jobs of a repository, oldest first."""
        mine = [one for one in self._jobs.values() if one.root == entry.root]
        return [one for one in mine if kind in (None, one.kind)]

    def find(self, entry: Entry, identity: str) -> Job:
        """Return a job.

        Raises
        ------
        MissingFile
        """
        for one in self.of(entry):
            if one.id == identity:
                return one
        text = f"there is no job {identity} of this project (did the server restart?)"
        raise MissingFile(text, action="start it again")

    async def start(self, entry: Entry, kind: Kind, asked: Mapping[str, Any]) -> Job:
        """Start a job.

        Raises
        ------
        JobInProgress
            Another of its kind goes on, or another that writes.
        """
        async with self._starting:
            self._require_free(entry, kind)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _MODULE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
            job = Job(secrets.token_hex(8), kind, entry.root, process, now())
            self._forget_old(entry)
            self._jobs[job.id] = job
        assert process.stdin is not None
        process.stdin.write(request(kind, entry.root, entry.workflow, asked))
        task = asyncio.create_task(self._follow(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def cancel(self, job: Job) -> None:
        """Ask a job to end: its input is closed."""
        if job.process.stdin is not None:
            job.process.stdin.close()

    async def close(self) -> None:
        """End every job, and wait for it."""
        for job in self._jobs.values():
            self.cancel(job)
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=_GRACE_SECONDS)
        for job in self._jobs.values():
            with suppress(ProcessLookupError):
                if job.process.returncode is None:
                    job.process.kill()

    def _require_free(self, entry: Entry, kind: Kind) -> None:
        for one in self.of(entry):
            same = one.kind == kind or {one.kind, kind} <= WRITERS
            if one.state == "running" and same:
                text = f"a job of kind {one.kind} goes on, since {one.started}"
                raise JobInProgress(text, action="wait for it, or cancel it")

    def _forget_old(self, entry: Entry) -> None:
        ended = [one for one in self.of(entry) if one.state != "running"]
        for one in ended[: max(0, len(ended) - _KEPT_JOBS + 1)]:
            del self._jobs[one.id]

    async def _follow(self, job: Job) -> None:
        assert job.process.stdout is not None
        assert job.process.stderr is not None
        said = asyncio.create_task(job.process.stderr.read())
        async for data in job.process.stdout:
            job.take(json.loads(data))
        code = await job.process.wait()
        text = (await said).decode("utf-8", "replace").strip()
        if job.state == "running":
            self._log(f"job {job.kind} {job.id} ended with status {code}: {text[-5000:]}")
            job.take(_broken(job, code))


def _broken(job: Job, code: int) -> Event:
    """Return the ending of a job that ended without one."""
    error = VaibifyError(f"the {job.kind} broke down (exit status {code}); see the server's log")
    error.code = "internal"
    last = job.lines[-1]["sequence"] if job.lines else 0
    head = {"event": "jobFailed", "sequence": last + 1, "time": time.time()}
    return {**head, "error": error.to_json()}
