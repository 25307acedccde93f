"""A step's container from its start to its end: its output kept, its end put on record.

Truth is the engine's ``wait`` and ``inspect``. That a stream ended says nothing: all streams end
cleanly when the engine dies.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from vaibify_lab.core.errors import EngineLost, EngineUnfit, VaibifyError
from vaibify_lab.engines import state_files
from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.docker.daemon import STREAMS, Attached, Daemon, Pieces
from vaibify_lab.engines.docker.inspected import Container
from vaibify_lab.engines.docker.logs import Log
from vaibify_lab.engines.docker.task import Task
from vaibify_lab.engines.local import processes
from vaibify_lab.engines.scratch import remove_tree

KILLED = 137
BY_ENGINE = (KILLED, 143, 255)  # what a step gets when its engine ends with it
REMOVING = ("removing", "dead")
RETURNING = 30.0  # seconds in which an engine that is started anew may come back
BEGINNING = 10.0  # seconds after which a container that nobody started is given up
PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Begun:
    """What is known of a container besides itself.

    Attributes
    ----------
    kills : int
        Memory kills of this machine before the step began.
    same_boot : bool
        The machine runs since then.
    infer : bool
        The engine keeps no note of memory kills: exit 137 and a kill on this machine stand for it.
    """

    container: str
    state: Path
    scratch: Path
    log_limit: int
    kills: int = 0
    same_boot: bool = True
    infer: bool = False


class Watch:
    """Sees one container to its end, in a thread of its own."""

    def __init__(self, daemon: Daemon, begun: Begun, attached: Attached | None) -> None:
        self._daemon = daemon
        self._begun = begun
        self._attached = attached
        self._ended: Ended | None = None
        self._over = threading.Event()
        self._engine_was_lost = not begun.same_boot
        self._deadline: float | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="vaibify-watch")
        self._logs = {one: Log(begun.state / one, begun.log_limit) for one in STREAMS}

    def begin(self) -> None:
        """Start to watch."""
        self._thread.start()

    @property
    def ended(self) -> Ended | None:
        """How it ended, once that is on record and the container is gone."""
        return self._ended if self._over.is_set() else None

    def wait(self, seconds: float) -> None:
        """Return after so long, or as soon as it is on record how it ended."""
        self._over.wait(seconds)

    def stop(self, grace: float) -> None:
        """Let it end within ``grace`` seconds; a second call can only shorten that."""
        until = time.monotonic() + grace
        with self._lock:
            first = self._deadline is None
            self._deadline = until if self._deadline is None else min(until, self._deadline)
        if first:
            threading.Thread(target=self._end, daemon=True, name="vaibify-stop").start()

    def pause(self) -> None:
        """Freeze the container, unless it is to end."""
        with self._lock:
            if self._deadline is None:
                self._daemon.pause(self._begun.container)

    def resume(self) -> None:
        """Let a frozen container go on."""
        self._daemon.resume(self._begun.container)

    def _end(self) -> None:
        """Ask, wait, kill; again and again should the engine be away for a while."""
        with suppress(EngineLost):  # what is frozen takes no signal
            self.resume()
        self._signal("SIGTERM")
        while not self._over.wait(PAUSE / 4):
            if time.monotonic() >= (self._deadline or 0.0):
                self._signal("SIGKILL")
                self._over.wait(PAUSE)

    def _signal(self, name: str) -> None:
        with suppress(EngineLost):
            self._daemon.signal(self._begun.container, name)

    def _run(self) -> None:
        ended = Ended(None, lost=True, detail="the watch over the step's container failed")
        try:
            ended = self._until_end()
        finally:
            for log in self._logs.values():
                log.close()
            self._settle(ended)

    def _settle(self, ended: Ended) -> None:
        """Put the end on record, and only then let go of the container.

        What another watch put there stands: it let go of the container under this one's eyes.
        Where somebody deleted the place for it nobody will look for the container there either.
        """
        kept = False
        known = state_files.ended(self._begun.state)
        try:
            if known is None:
                state_files.write_ended(self._begun.state, ended)
        except VaibifyError as error:
            ended = replace(ended, detail=_joined(ended.detail, f"not on record: {error}"))
            kept = self._begun.state.is_dir()
        if not kept:
            with suppress(EngineLost, EngineUnfit):
                self._daemon.remove(self._begun.container)
        remove_tree(str(self._begun.scratch))
        self._ended = known or ended
        self._over.set()

    def _until_end(self) -> Ended:
        while True:
            waiting = Task(lambda: self._daemon.wait(self._begun.container))
            try:
                heard_all = self._listen()
                waiting.join()
                if not heard_all:
                    self._hear_again(follow=False)
                last = self._daemon.inspect(self._begun.container)
                if last is None or not last.running:
                    return self._verdict(last)
            except EngineLost as error:
                self._engine_was_lost = True
                if not self._came_back():
                    return Ended(None, lost=True, detail=str(error))
            except EngineUnfit as error:
                return Ended(None, lost=True, detail=str(error))

    def _listen(self) -> bool:
        """Keep the output as it comes; tell whether that was all of it.

        What the engine sends of its own copy while that grows may lack the very end.
        """
        attached, self._attached = self._attached, None
        if attached is not None and self._heard_live(attached):
            return True
        if self._has_begun():
            self._hear_again(follow=True)
        return False

    def _heard_live(self, attached: Attached) -> bool:
        """Keep what is heard; False when the line broke."""
        try:
            for pieces in attached.pieces():
                self._keep(pieces)
        except EngineLost:
            return False
        finally:
            attached.close()
        return True

    def _hear_again(self, *, follow: bool) -> None:
        """Keep what the engine's own copy has and the logs have not."""
        for log in self._logs.values():
            log.rewind()
        try:
            for pieces in self._daemon.logs(self._begun.container, follow=follow):
                self._keep(pieces)
        except EngineUnfit as error:
            for log in self._logs.values():
                log.problem = f"the log is cut: {error}"

    def _keep(self, pieces: Pieces) -> None:
        for stream, data in pieces.items():
            self._logs[stream].write(data)

    def _has_begun(self) -> bool:
        """Wait until whoever made the container starts it; False when it does not run."""
        while True:
            now = self._daemon.inspect(self._begun.container)
            if now is None or now.status != "created" or now.age > BEGINNING:
                return now is not None and now.running
            time.sleep(PAUSE)

    def _came_back(self) -> bool:
        until = time.monotonic() + RETURNING
        while time.monotonic() < until:
            time.sleep(PAUSE)
            with suppress(EngineLost, EngineUnfit):
                self._daemon.inspect(self._begun.container)
                return True
        return False

    def _verdict(self, last: Container | None) -> Ended:
        if last is None or last.status in REMOVING:
            return Ended(None, lost=True, detail="its container was removed by somebody else")
        if last.status == "created":
            return Ended(None, lost=True, detail="its container was made and never started")
        starved = processes.out_of_memory_kills() > self._begun.kills
        stopped = self._deadline is not None or (self._begun.state / "stop").exists()
        doubt = not stopped and (starved or last.exit_code == KILLED)
        last = self._with_late_flag(last, doubt)
        return self._ended_as(last, starved=starved, stopped=stopped)

    def _ended_as(self, last: Container, *, starved: bool, stopped: bool) -> Ended:
        code, said = last.exit_code, list({log.problem for log in self._logs.values()})
        lost = bool(last.error) or (self._engine_was_lost and code in BY_ENGINE and not stopped)
        if lost:
            said.append(last.error or "the container engine went away while the step ran")
        inferred = self._begun.infer and starved and code == KILLED and not stopped
        if starved and not last.out_of_memory and not inferred:  # it may be another's
            said.append("meanwhile this machine killed a process for want of memory")
        return Ended(
            returncode=None if lost else code,
            stopped=stopped,
            out_of_memory=not lost and (last.out_of_memory or inferred),
            lost=lost,
            detail="; ".join(one for one in said if one),
            seconds=round(last.seconds, 3),
            dropped_bytes=sum(log.dropped for log in self._logs.values()),
        )

    def _with_late_flag(self, last: Container, doubt: bool) -> Container:
        """Look again while something was killed for want of memory and the flag may be late."""
        if not doubt or last.out_of_memory:
            return last
        return self._daemon.inspect_after_kill(self._begun.container) or last


def _joined(*said: str) -> str:
    return "; ".join(one for one in said if one)
