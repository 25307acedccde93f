"""What every engine offers the runner: launch a step, find it again, know how it ended.

An engine never decides whether a step passed: it says what its processes did. Truth is the
engine's own record of the end (a status file, ``wait`` and ``inspect``), never the end of a stream.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Isolation = Literal["container", "sandbox", "none"]

LOG_LIMIT = 2 * 2**30  # bytes kept of each stream of a step, if nothing else is asked
# A stop reaches a step's programs, not only its shell: without this the shell would die at once
# and, in a namespace of its own, take them with it before their grace is over.
ON_STOP = "trap 'exit 143' TERM; "

PROMPT = "[$VAIBIFY_STEP] \\w\\$ "  # of a step's shells, where no start-up file of bash has another


@dataclass(frozen=True, slots=True)
class Resources:
    """What a step asks for; None where it asks for nothing."""

    cpus: float | None = None
    memory_megabytes: int | None = None
    gpus: int | None = None
    shm_megabytes: int | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """One step, ready to start.

    Attributes
    ----------
    run_id, slug : str
        Name the step's run; an engine derives its own deterministic name from them.
    tree : Path
        Host folder that the step sees as the project (the repository, or a staged tree).
    project_name : str
        The step sees ``tree`` at ``/workspace/<project_name>`` where the engine can do that.
    directory : str
        Working directory, repository path ("" is the root).
    script : str
        What bash runs, already expanded.
    writable : tuple of str
        Repository paths of existing folders that the step may write. Everything else of the tree
        is read-only where the engine can do that; ``.git`` and ``.vaibify`` always are.
    read_only : mapping of str to Path
        Further host paths laid read-only into the tree (sealed runs: large inputs, not copied).
    environment : mapping of str to str
        Added to the engine's own minimal environment; the caller's own is not inherited.
    network : bool
        False: no route out.
    state : Path
        An existing, empty host folder, outside the step's reach, where the engine keeps
        ``stdout``, ``stderr`` (byte-exact) and its record of the end.
    exchange : Path, optional
        A host folder that host and step both write, seen by the step at ``Engine.exchange_root``:
        what test code reports passes through it, as untrusted as the test code.
    preamble : Path, optional
        A host folder that the step's Pythons look into first, laid read-only where the engine can
        do that; seen by the step at ``Engine.preamble_root``.
    log_limit : int
        Bytes kept of each stream; what comes after is read, counted and dropped.
    for_terminals : bool
        The step is a person's: it runs no script, and waits for terminals until it is stopped.
    """

    run_id: str
    slug: str
    tree: Path
    project_name: str
    directory: str
    script: str
    writable: tuple[str, ...]
    environment: Mapping[str, str]
    network: bool
    state: Path
    read_only: Mapping[str, Path] = field(default_factory=dict)
    resources: Resources = Resources()
    exchange: Path | None = None
    preamble: Path | None = None
    log_limit: int = LOG_LIMIT
    for_terminals: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step's processes ended.

    ``returncode`` is the shell's exit status (128 + signal when a signal ended it) or None when
    nobody can know. ``lost`` says that the engine went away: the step is *interrupted*, not failed.
    """

    returncode: int | None
    stopped: bool = False
    out_of_memory: bool = False
    lost: bool = False
    detail: str = ""
    leftover_processes: int = 0
    seconds: float = 0.0
    dropped_bytes: int = 0


class Handle(Protocol):
    """A launched step."""

    def poll(self) -> Ended | None:
        """Return how it ended, or None while it runs. Never blocks."""

    def wait(self, seconds: float) -> None:
        """Return after so long, or sooner: when it ended, where that can be known at once."""

    def stop(self, grace: float = 2.0) -> None:
        """Ask the step to end, kill all its processes after ``grace`` seconds. Idempotent."""

    def pause(self) -> None:
        """Freeze all its processes, until it is resumed or stopped.

        Raises
        ------
        EngineUnfit, EngineLost, CannotCheck
            They cannot be frozen here, and why.
        """

    def resume(self) -> None:
        """Let frozen processes go on."""


class Terminal(Protocol):
    """A shell inside a step, with a terminal of its own: bytes both ways, nothing interpreted.

    Errors of the operating system (``OSError``) mean that it is gone.
    """

    def fileno(self) -> int:
        """Return the descriptor to wait on for something to read."""

    def read(self) -> bytes:
        """Return what the shell wrote; b"" once it has ended."""

    def write(self, data: bytes) -> int:
        """Pass on what a person typed; return how much of it was taken, which may be nothing."""

    def resize(self, size: os.terminal_size) -> None:
        """Tell the shell how large its terminal is now."""

    def close(self) -> None:
        """Hang up: the shell and what runs in it end as if their terminal were closed."""


class Engine(Protocol):
    """A way to run steps."""

    kind: str

    @property
    def isolation(self) -> Isolation:
        """What a step is held in."""

    def describe(self) -> dict[str, Any]:
        """Return what a run record says of the engine: kind, tier, what it cannot prevent."""

    def container_root(self, tree: Path, project_name: str) -> str:
        """Return the absolute path at which a step sees ``tree``."""

    def exchange_root(self, exchange: Path) -> str:
        """Return the absolute path at which a step sees a launch's ``exchange``."""

    def preamble_root(self, preamble: Path) -> str:
        """Return the absolute path at which a step sees a launch's ``preamble``."""

    def launch(self, launch: Launch) -> Handle:
        """Start a step; return at once."""

    def find(self, state: Path) -> Handle | None:
        """Find a step launched earlier, maybe by a process that is gone; None if never started."""

    def terminal(self, state: Path, kind: str, size: os.terminal_size) -> Terminal:
        """Open a shell in a step that was launched ``for_terminals``: its sandbox, user, directory.

        Parameters
        ----------
        state : Path
            The step's.
        kind : str
            What its programs find in ``TERM``.
        size : os.terminal_size
            Of the terminal that it is shown on.

        Raises
        ------
        NotPassed
            The step does not run, or not for terminals.
        CannotCheck
            No shell can be had, and why.
        """


def bash_script(commands: Sequence[str]) -> str:
    """Return the one script for a step's commands.

    Each command is a shell of its own, so that neither ``cd`` nor a variable leaks into the next;
    a pipe fails when any part of it does; the first command that fails ends the step.
    """
    return "".join(f"bash -o pipefail -c {shlex.quote(one)} || exit $?\n" for one in commands)
