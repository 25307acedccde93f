"""The engine that runs each step in a container of its own."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vaibify_lab.core.errors import EngineLost, EngineUnfit, NotPassed
from vaibify_lab.engines import state_files, vetting
from vaibify_lab.engines.base import Ended, Handle, Isolation, Launch
from vaibify_lab.engines.docker import mounts, notes
from vaibify_lab.engines.docker.client import connect, place_of
from vaibify_lab.engines.docker.config import STATE
from vaibify_lab.engines.docker.daemon import Daemon
from vaibify_lab.engines.docker.handle import DockerHandle, EndedHandle
from vaibify_lab.engines.docker.owner import Owner, owner_inside, owner_of
from vaibify_lab.engines.docker.probe import PROBE, Probe, kept_or_made, probe, require_fit
from vaibify_lab.engines.docker.starting import Starting
from vaibify_lab.engines.docker.terminal import DockerTerminal
from vaibify_lab.engines.docker.watch import Watch
from vaibify_lab.engines.orphans import orphans


class DockerEngine:
    """Steps in containers of one image, by Docker or an engine that speaks its API.

    Parameters
    ----------
    image : str
        Config digest (or another name by which the engine holds it); never pulled from here.
    base_url : str, optional
        Where the engine answers; else as docker's own command finds it.

    Raises
    ------
    EngineMissing, EngineUnfit, ToolMissing
        There is no engine to use, and why.
    ImageRefused
        The engine does not hold the image.
    """

    kind = "docker"

    def __init__(self, image: str, *, base_url: str | None = None) -> None:
        client = connect(base_url)
        self._where = place_of(base_url)
        self._daemon = Daemon(client)
        self._about = self._daemon.about()
        self._image = self._daemon.image(image)
        self._found: Probe | None = None
        self._looking = threading.Lock()

    @property
    def isolation(self) -> Isolation:
        """What a step is held in."""
        return "container"

    def describe(self) -> dict[str, Any]:
        """Return engine, image, what was seen to hold, and what it cannot prevent."""
        about = self._about
        return {
            "kind": self.kind,
            "product": about.product,
            "version": about.version,
            "api": about.api,
            "rootless": about.rootless,
            "image": self._image.identity,
            "platform": self._image.platform,
            "engine_platform": about.platform,
            "kernel": about.kernel,
            "probe": None if self._found is None else asdict(self._found),
            "cannot_prevent": notes.cannot_prevent(about, self._found),
        }

    def container_root(self, tree: Path, project_name: str) -> str:
        """Return where a step sees the project, the same everywhere."""
        return mounts.seen_at(project_name)

    def exchange_root(self, exchange: Path) -> str:
        """Return where a step sees its exchange folder."""
        return mounts.EXCHANGE

    def preamble_root(self, preamble: Path) -> str:
        """Return where a step sees what its Pythons look into first."""
        return mounts.PREAMBLE

    def examine(self, tree: Path, beside: Path) -> Probe:
        """Find out, once a day and image, what the engine gives to steps of ``tree``.

        Parameters
        ----------
        tree : Path
            The project; its owner is whom files should belong to when the server is root.
        beside : Path
            A path in the project's file system that does not exist; used and removed.

        Raises
        ------
        EngineUnfit
            It does not give what steps need, and what that is.
        ToolMissing
            The image has no bash.
        """
        owner = owner_of(tree)
        with self._looking:
            if self._found is None:
                key = (self._where, self._about.identity, self._image.identity, str(owner))
                self._found = kept_or_made(key, lambda: self._probe(beside, owner))
                self._sweep()
        require_fit(self._found, self._where)
        return self._found

    def launch(self, launch: Launch) -> Handle:
        """Start a step; return once its container runs.

        Raises
        ------
        UnsafePath, MissingFile, UsageError
            The request cannot be met, and why.
        EngineUnfit, EngineLost, ToolMissing
            The engine cannot run it.
        RunInProgress
            The same step of the same run has a container already.
        """
        launch = _without_links(vetting.vetted(launch))
        beside = launch.state.with_name(f"{launch.state.name}.probe")
        found = self.examine(launch.tree, beside)
        if not launch.network and not found.no_network:
            text = (
                "this container engine does not keep the network from a step that is to have none"
            )
            raise EngineUnfit(text, where=self._where)
        vetting.lay_read_only(launch, by_link=False)
        owner = owner_of(launch.tree)
        starting = Starting(
            self._daemon, self._about, self._image, owner, infer=not found.memory_kill
        )
        return _watched(launch.state, starting.start(launch))

    def find(self, state: Path) -> Handle | None:
        """Find a step by its state folder; None if it was never started."""
        state = state.resolve()
        how = state_files.ended(state)
        noted = (state / notes.CONTAINER).exists()
        found = self._daemon.find(STATE, str(state)) if noted or how is None else []
        if how is not None:
            self._let_go(found)
            return EndedHandle(how)
        if found:
            begun = notes.begun_before(found[0], state, self._about)
            return _watched(state, Watch(self._daemon, begun, None))
        gone = Ended(None, lost=True, detail="its container is gone")
        return EndedHandle(gone) if noted else None

    def terminal(self, state: Path, kind: str, size: os.terminal_size) -> DockerTerminal:
        """Open a shell in the container of a step that was launched for terminals.

        Raises
        ------
        NotPassed
            It does not run.
        EngineUnfit, EngineLost
        """
        found = self._daemon.find(STATE, str(state.resolve()))
        if not found or state_files.ended(state) is not None:
            text = "no step waits for a terminal here: its container is gone"
            raise NotPassed(text, where=str(state))
        return DockerTerminal.open(self._daemon, found[0], kind, size)

    def _probe(self, beside: Path, owner: Owner) -> Probe:
        inside = owner_inside(self._about, owner)
        return probe(self._daemon, self._about, self._image, beside, inside, owner[0])

    def _sweep(self) -> None:
        """Remove containers of steps that are on record as ended: their engine had been away.

        And those that asked what the engine gives, for somebody who died before the answer.
        """
        self._let_go(orphans(self._daemon.labelled(PROBE)))
        for container, state in self._daemon.labelled(STATE).items():
            if state_files.ended(Path(state)) is not None:
                self._let_go([container])

    def _let_go(self, containers: list[str]) -> None:
        for one in containers:
            with suppress(EngineLost, EngineUnfit):
                self._daemon.remove(one)


def _watched(state: Path, watch: Watch) -> DockerHandle:
    watch.begin()
    return DockerHandle(state, watch)


def _without_links(launch: Launch) -> Launch:
    """Return the request with the host's own paths, as the engine will resolve them."""
    return replace(
        launch,
        tree=launch.tree.resolve(),
        state=launch.state.resolve(),
        exchange=launch.exchange and launch.exchange.resolve(),
        preamble=launch.preamble and launch.preamble.resolve(),
    )
