"""A step in a container, launched here or found again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.docker.watch import Watch


class DockerHandle:
    """A step whose container is being watched."""

    def __init__(self, state: Path, watch: Watch) -> None:
        self._state = state
        self._watch = watch

    def poll(self) -> Ended | None:
        """Return how it ended, or None while it runs. Never blocks."""
        return self._watch.ended

    def wait(self, seconds: float) -> None:
        """Return after so long, or as soon as it has ended."""
        self._watch.wait(seconds)

    def stop(self, grace: float = 2.0) -> None:
        """Ask the step to end, kill all its processes after ``grace`` seconds. Idempotent."""
        if self._watch.ended is not None:
            return
        with suppress(OSError):  # on a full disk the watch alone must know
            (self._state / "stop").touch()
        self._watch.stop(max(0.0, grace))

    def pause(self) -> None:
        """Freeze the container."""
        self._watch.pause()

    def resume(self) -> None:
        """Let a frozen container go on."""
        self._watch.resume()


class EndedHandle:
    """A step that has ended before it was found."""

    def __init__(self, how: Ended) -> None:
        self._how = how

    def poll(self) -> Ended | None:
        """Return how it ended."""
        return self._how

    def wait(self, seconds: float) -> None:
        """Nothing is left to wait for."""

    def stop(self, grace: float = 2.0) -> None:
        """Nothing is left to stop."""

    def pause(self) -> None:
        """Nothing is left to freeze."""

    def resume(self) -> None:
        """Nothing is frozen."""
