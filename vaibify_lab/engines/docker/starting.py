"""A step's container: made, compared with what was asked, and only then started."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vaibify_lab.core.errors import EngineLost, EngineUnfit, RunInProgress, VaibifyError
from vaibify_lab.engines import state_files
from vaibify_lab.engines.base import ON_STOP, Ended, Launch
from vaibify_lab.engines.docker import mounts, notes
from vaibify_lab.engines.docker.config import LABEL, STATE, WAIT, Order, config_of, container_name
from vaibify_lab.engines.docker.daemon import Daemon
from vaibify_lab.engines.docker.inspected import About, Image, Mount
from vaibify_lab.engines.docker.owner import Owner, hand_over, owner_inside
from vaibify_lab.engines.docker.probe import plainly
from vaibify_lab.engines.docker.watch import Watch
from vaibify_lab.engines.scratch import remove_tree
from vaibify_lab.files.tree import Tree

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Starting:
    """Starts steps of one image on one engine, as one user.

    ``infer``: the engine keeps no note of memory kills.
    """

    daemon: Daemon
    about: About
    image: Image
    owner: Owner
    infer: bool

    def start(self, launch: Launch) -> Watch:
        """Start a vetted step; whatever fails, nothing of it is left.

        Raises
        ------
        UnsafePath, MissingFile
            A source of a mount is not, or is not any more, what it should be.
        RunInProgress
            Another state folder's container has the name.
        EngineUnfit, EngineLost
        """
        try:
            return self._begun(launch)
        except EngineLost as error:
            # It may have made the container: on record as ended, the next run removes it.
            with suppress(VaibifyError):
                state_files.write_ended(launch.state, Ended(None, lost=True, detail=error.text))
            raise

    def _begun(self, launch: Launch) -> Watch:
        with ExitStack() as undo:
            scratch = self._scratch(launch, undo)
            wanted = mounts.mounts_of(launch, scratch)
            before = mounts.identities(wanted)
            container = self._create(launch, wanted)
            if container is None:
                undo.pop_all()
                return self._adopted(launch)
            undo.callback(self._remove, container)
            self._compare(container, wanted)
            undo.callback((launch.state / notes.CONTAINER).unlink, missing_ok=True)
            begun = notes.begin(container, launch, infer=self.infer)
            watch = Watch(self.daemon, begun, self.daemon.attach(container))
            mounts.require_same(before, wanted)
            _plainly(lambda: self.daemon.start(container))
            mounts.require_same(before, wanted)
            undo.pop_all()
        return watch

    def _scratch(self, launch: Launch, undo: ExitStack) -> Path:
        """Make the step's own /tmp and /var/tmp on disk, and give its user what it may write."""
        scratch = notes.scratch_of(launch.state)
        undo.callback(remove_tree, str(scratch))
        tree = Tree(scratch.parent)
        own = [scratch / name for name in ("tmp/home", "tmp", "var-tmp")]
        for path in own:
            tree.make_directory(str(path.relative_to(tree.root)))
        given = [launch.tree / path for path in launch.writable if path]
        hand_over([*own, *given, *filter(None, [launch.exchange])], self.owner)
        return scratch

    def _create(self, launch: Launch, wanted: tuple[Mount, ...]) -> str | None:
        """Create the container; None when the same launch has made it already."""
        name, config = container_name(launch.run_id, launch.slug), self._config(launch, wanted)
        container = _plainly(lambda: self.daemon.create(name, config))
        if container is not None:
            return container
        other = self.daemon.inspect(name)
        if other is not None:
            state = other.labels.get(STATE, "")
            if state == str(launch.state):
                return None
            if state_files.ended(Path(state)) is None:
                text = f"the container {name} runs this step already"
                raise RunInProgress(text, where=state, action=f"docker rm -f {name}")
            self.daemon.remove(other.identity)
        container = _plainly(lambda: self.daemon.create(name, config))
        if container is None:
            raise RunInProgress(f"another container took the name {name}", where=launch.slug)
        return container

    def _adopted(self, launch: Launch) -> Watch:
        name = container_name(launch.run_id, launch.slug)
        return Watch(self.daemon, notes.begun_before(name, launch.state, self.about), None)

    def _compare(self, container: str, wanted: tuple[Mount, ...]) -> None:
        made = self.daemon.inspect(container)
        if made is None or made.image != self.image.identity:
            text = "the engine made something else than was asked for"
            raise EngineUnfit(text, where=self.image.identity[:19])
        mounts.require_asked(made, wanted, made.image[:19])

    def _remove(self, container: str) -> None:
        with suppress(EngineLost, EngineUnfit):
            self.daemon.remove(container)

    def _config(self, launch: Launch, wanted: tuple[Mount, ...]) -> dict[str, object]:
        place = mounts.seen_at(launch.project_name)
        order = Order(
            image=self.image.identity,
            script=WAIT if launch.for_terminals else f"{ON_STOP}{launch.script}",
            directory=f"{place}/{launch.directory}".rstrip("/"),
            mounts=wanted,
            environment=launch.environment,
            owner=owner_inside(self.about, self.owner),
            network=launch.network,
            resources=launch.resources,
            labels={
                LABEL + "run": launch.run_id,
                LABEL + "step": launch.slug,
                STATE: str(launch.state),
            },
            log_limit=launch.log_limit,
        )
        return config_of(order, self.about)


def _plainly(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except EngineUnfit as refusal:
        raise plainly(refusal) from None
