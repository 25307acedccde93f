"""The engine that runs steps on this machine, without a container."""

from __future__ import annotations

import functools
import os
import shutil
import time
from pathlib import Path
from typing import Any

from vaibify_lab.core import disk
from vaibify_lab.core.errors import ToolMissing, VaibifyError
from vaibify_lab.engines import vetting
from vaibify_lab.engines.base import ON_STOP, PROMPT, Isolation, Launch
from vaibify_lab.engines.local import bubblewrap, relay, terminal, tiers
from vaibify_lab.engines.local.environment import minimal, search_path
from vaibify_lab.engines.local.handle import LocalHandle, Supervisor, scratch_of
from vaibify_lab.engines.local.order import Order
from vaibify_lab.engines.local.python import PythonEnvironment, environment_for
from vaibify_lab.engines.local.starter import Starter
from vaibify_lab.engines.local.terminal import LocalTerminal
from vaibify_lab.engines.scratch import remove_tree

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")  # noqa: S108
OWN_TERMINAL = "/dev/tty"  # whose it is depends on who opens it
APPEARING = 1.0  # seconds that a supervisor whose starter died may need to record itself


class LocalEngine:
    """Steps under a supervisor, in bubblewrap, under Landlock, or plain.

    Parameters
    ----------
    tier : {"auto", "bwrap", "landlock", "plain"}
        "auto" is the strongest that works here.
    python : PythonEnvironment, optional
        What ``python`` is in a step; the starter's own when absent.

    Raises
    ------
    ToolMissing
        The tier does not work here.
    """

    kind = "local"

    def __init__(
        self,
        tier: tiers.Wanted = "auto",
        python: PythonEnvironment | None = None,
    ) -> None:
        self.tier = tiers.choose(tier)
        self.python = python or environment_for(None)
        self._starter = Starter()
        self._system = functools.cache(bubblewrap.system)

    @property
    def isolation(self) -> Isolation:
        """What a step is held in."""
        return "none" if self.tier == "plain" else "sandbox"

    def describe(self) -> dict[str, Any]:
        """Return the tier, what it cannot prevent, and where Python's packages come from."""
        return {
            "kind": self.kind,
            "tier": self.tier,
            "cannot_prevent": tiers.cannot_prevent(self.tier),
            "python": {
                "version": self.python.version,
                "source": self.python.source,
                "lock": self.python.lock_hash,
            },
        }

    def container_root(self, tree: Path, project_name: str) -> str:
        """Return where a step sees the project: the host's path except in bubblewrap."""
        return bubblewrap.seen_at(project_name) if self.tier == "bwrap" else str(tree)

    def exchange_root(self, exchange: Path) -> str:
        """Return where a step sees its exchange folder: the host's path except in bubblewrap."""
        return bubblewrap.EXCHANGE if self.tier == "bwrap" else str(exchange)

    def preamble_root(self, preamble: Path) -> str:
        """Return where a step sees its preamble: the host's path except in bubblewrap."""
        return bubblewrap.PREAMBLE if self.tier == "bwrap" else str(preamble)

    def launch(self, launch: Launch) -> LocalHandle:
        """Start a step; return once its supervisor is on record.

        Raises
        ------
        UnsafePath, MissingFile, UsageError
            The request cannot be met, and why.
        ToolMissing
            There is no bash.
        ToolFailed, CannotCheck, DiskFull
            The supervisor could not start.
        """
        launch = vetting.vetted(launch)
        bash = self.bash()
        vetting.lay_read_only(launch, by_link=self.tier != "bwrap")
        scratch = scratch_of(launch.state)
        try:
            _make(scratch)
            record = self._starter.start(self._order(launch, bash, scratch))
        except VaibifyError:
            remove_tree(str(scratch))
            raise
        return LocalHandle(launch.state, Supervisor.parse(record), trusted=True)

    def find(self, state: Path) -> LocalHandle | None:
        """Find a step by its state folder; None if it was never started."""
        until = time.monotonic() + APPEARING
        while not (state / "supervisor.json").exists():
            if not scratch_of(state).exists() or time.monotonic() > until:
                return None
            time.sleep(0.01)
        return LocalHandle.found(state)

    def terminal(self, state: Path, kind: str, size: os.terminal_size) -> LocalTerminal:
        """Open a shell in a step that was launched for terminals.

        Raises
        ------
        NotPassed
            It does not run, or not for terminals.
        CannotCheck
            The system gives no terminal.
        """
        return LocalTerminal.open(state, kind, size)

    def bash(self) -> str:
        """Return the bash that steps run in.

        Raises
        ------
        ToolMissing
            There is none.
        """
        found = shutil.which("bash", path=search_path(self.python.prefix))
        if found is None:
            raise ToolMissing("bash is not installed", action="install bash; steps run in it")
        return found

    def _order(self, launch: Launch, bash: str, scratch: Path) -> Order:
        sandboxed = self.tier == "bwrap"
        temporary = str(scratch / "tmp")
        seen = "/tmp" if sandboxed else temporary  # noqa: S108  its own /tmp
        environment = minimal(self.python.prefix, seen, launch.network) | dict(launch.environment)
        granted = [temporary, *DEVICES]
        granted += bubblewrap.graphics_devices() if launch.resources.gpus else []
        granted += [] if launch.exchange is None else [str(launch.exchange)]
        granted += [OWN_TERMINAL] if launch.for_terminals else []
        return Order(
            program=self._program(launch, bash),
            environment=environment,
            directory=str(launch.tree / launch.directory),
            tree=str(launch.tree),
            writable=list(launch.writable),
            state=os.path.abspath(launch.state),
            scratch=os.path.abspath(scratch),
            log_limit=launch.log_limit,
            memory=(launch.resources.memory_megabytes or 0) * 2**20,
            sandbox=self._sandbox(launch, environment, temporary) if sandboxed else [],
            bash=bash,
            landlock=granted if self.tier == "landlock" else [],
            deny_tcp=not launch.network,
            terminals=terminal.SOCKET if launch.for_terminals else "",
        )

    def _sandbox(self, launch: Launch, environment: dict[str, str], temporary: str) -> list[str]:
        shown = self._system(launch.network)
        return bubblewrap.options(launch, self.python, environment, temporary, shown)

    def _program(self, launch: Launch, bash: str) -> list[str]:
        if not launch.for_terminals:
            return [bash, "-c", ON_STOP + launch.script]
        script = bubblewrap.RELAY if self.tier == "bwrap" else relay.__file__
        return [str(self.python.python), "-I", "-S", script, bash, PROMPT]


def _make(scratch: Path) -> None:
    """Make the folder beside the state that becomes the step's /tmp."""
    try:
        (scratch / "tmp" / "home").mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise disk.failure(error, "no temporary folder for the step", str(scratch)) from None
