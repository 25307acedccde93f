"""Which engine a run uses: a container of the pinned image, else the embedded one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core.errors import CannotCheck, ImageRefused, UsageError, VaibifyError
from vaibify_lab.engines.base import Engine
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.engines.local.python import environment_for
from vaibify_lab.envelope.environment import EnvironmentFile
from vaibify_lab.runs import standing
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.standing import Standing

Tell = Callable[[str], None]
_LOCAL = "to run outside the pinned image (the steps then stay stale): --engine local"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The engine of a run.

    ``lock`` is the SHA-256 of the lock that its packages come from; ``standing`` what steps stand
    on.
    """

    engine: Engine
    lock: str | None
    standing: Standing


def wants_container(options: RunOptions, pinned: EnvironmentFile | None) -> bool:
    """Tell whether the run is to use a container.

    ``auto``: where an image is pinned. ``any`` (a reviewer's rerun): the same, where an engine can
    be had, which `choose` finds out.

    Raises
    ------
    UsageError
        For an engine that there is none of, or a container without a pinned image.
    """
    has_image = pinned is not None and pinned.config_digest is not None
    if options.engine not in ("auto", "any", "docker", "local"):
        raise UsageError(f"there is no engine {options.engine!r}", action="docker or local")
    if options.engine == "docker" and not has_image:
        raise UsageError("no image is pinned", action="make one with: jupyter vaibify build")
    return has_image and options.engine != "local"


def choose(
    opened: Opened, options: RunOptions, pinned: EnvironmentFile | None, tell: Tell
) -> Chosen:
    """Return the engine of a run, ready: image here, or Python environment made.

    Raises
    ------
    CannotCheck, ImageRefused
        When the pinned image cannot be had here; the remedy names ``--engine local``.
    """
    if wants_container(options, pinned) and pinned is not None:
        try:
            return _container(opened, pinned, tell)
        except (CannotCheck, ImageRefused) as error:
            if options.engine != "any":
                raise _with_way_out(error) from None
            tell(f"no container: {error.text}")
    lock = opened.tree.read(LOCK) if opened.tree.lstat(LOCK) is not None else None
    python = environment_for(lock, progress=tell)
    engine = LocalEngine(options.tier, python)
    return Chosen(engine, python.lock_hash, standing.of_local(engine))


def engine_of(described: Mapping[str, Any]) -> Engine:
    """Return the engine that an earlier run used, to find its steps, from what it said of itself.

    Raises
    ------
    CannotCheck
        When it does not answer: then nobody knows whether the steps still run.
    """
    if described.get("kind") != "docker":
        return LocalEngine("plain")
    from vaibify_lab.engines.docker.engine import DockerEngine

    return DockerEngine(str(described.get("image")))


def _container(opened: Opened, pinned: EnvironmentFile, tell: Tell) -> Chosen:
    from vaibify_lab.engines.docker.engine import DockerEngine
    from vaibify_lab.engines.image.client import connect
    from vaibify_lab.engines.image.registry import find_image, pull

    digest = pinned.config_digest or ""
    client = connect()
    if find_image(client, digest) is None and pinned.registry_digest is not None:
        tell(f"pulling {pinned.registry_digest}")
        pull(client, pinned.registry_digest, platform=pinned.platform, tell=tell)
    engine = DockerEngine(digest)
    engine.examine(opened.tree.root, opened.tree.root / ".vaibify/local/probe")
    lock = pinned.lock_sha256
    return Chosen(engine, lock, standing.of_image(client, engine, digest, lock))


def _with_way_out(error: VaibifyError) -> VaibifyError:
    error.action = f"{error.action}; or {_LOCAL}" if error.action else _LOCAL
    return error
