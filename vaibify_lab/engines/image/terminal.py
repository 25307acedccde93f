"""The project's long-lived container, for terminals: a person's, so its root can be written.

The project is writable in it, ``.git`` and ``.vaibify`` are not. What the engine mounted is
compared with what was asked before anything runs. Steps never run here.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaibify_lab.core.errors import InvalidFile, NotPassed, RunInProgress, ToolMissing
from vaibify_lab.core.paths import PROTECTED, is_within, shown
from vaibify_lab.engines.docker.config import LABEL, PROCESSES
from vaibify_lab.engines.docker.inspected import About, Container, Mount
from vaibify_lab.engines.docker.mounts import (
    WORKSPACE,
    identities,
    require_asked,
    require_same,
    seen_at,
)
from vaibify_lab.engines.docker.owner import owner_inside, owner_of
from vaibify_lab.engines.image.client import asking

if TYPE_CHECKING:
    from docker import APIClient

TERMINAL = f"{LABEL}terminal"
_BIND = re.compile(r"(/[^:\x00-\x1f]{0,1000}):(/[^:\x00-\x1f]{0,1000})(?::(ro|rw))?")
_OWN = ("/proc", "/sys", "/dev", WORKSPACE)
_GRACE = 5


@dataclass(frozen=True, slots=True)
class Room:
    """A container to be started.

    Attributes
    ----------
    tree : Path
        The project; one container each.
    binds : tuple of Mount
        Further host folders.
    """

    tree: Path
    project_name: str
    image: str
    network: bool = True
    cpus: float | None = None
    memory_gigabytes: float | None = None
    binds: tuple[Mount, ...] = ()

    @property
    def name(self) -> str:
        """The container's name, the same for the same folder."""
        return container_name(self.tree)


@dataclass(frozen=True, slots=True)
class Started:
    """The container; ``already``: it ran before."""

    name: str
    already: bool
    mounts: tuple[Mount, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer of ``start``."""
        mounts = [
            {"host": one.source, "container": one.target, "writable": one.writable}
            for one in self.mounts
        ]
        return {"container": self.name, "already": self.already, "mounts": mounts}


def container_name(tree: Path) -> str:
    """Return the name of a project's container."""
    return f"vaibify-terminal-{sha256(str(tree.resolve()).encode()).hexdigest()[:16]}"


def read_binds(listed: list[Any]) -> tuple[Mount, ...]:
    """Read ``bindMounts`` of vaibify.yml: ``host:container[:rw]``, read-only unless said.

    Raises
    ------
    InvalidFile
        Naming the entry.
    """
    return tuple(_bind(number, one) for number, one in enumerate(listed))


def _bind(number: int, written: object) -> Mount:
    where = f"vaibify.yml: bindMounts[{number}]"
    found = _BIND.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        text = f"expected /host/folder:/container/folder[:rw], found {shown(str(written)[:80])!r}"
        raise InvalidFile(text, where=where)
    source, target = (found[1].rstrip("/") or "/"), (found[2].rstrip("/") or "/")
    parts = f"{source}/{target}".split("/")
    if ".." in parts or target == "/" or source == "/":
        raise InvalidFile("neither side may be / or hold '..'", where=where)
    if any(is_within(target, own) or is_within(own, target) for own in _OWN):
        raise InvalidFile(f"{target} is the container's own", where=where)
    return Mount(target, source, found[3] == "rw")


def start(client: APIClient, room: Room) -> Started:
    """Start the project's container, or find it running.

    Raises
    ------
    RunInProgress
        When one of another image or with other mounts runs.
    UnsafePath, MissingFile
        When a mount is not what was asked; nothing ran then.
    """
    mounts = _mounts(room)
    there = find(client, room.tree)
    if there is not None and there.running:
        return _same(there, room, mounts)
    if there is not None:
        _remove(client, there.identity)
    before = identities(mounts)
    with asking("the container cannot be started", where=room.image):
        about = About.of(client.version(), client.info())
        config = _config(room, mounts, about)
        made = client.create_container_from_config(config, room.name)  # type: ignore[no-untyped-call]
        try:
            found = client.inspect_container(made["Id"])
            require_asked(Container.of(found), mounts, room.image)
            require_same(before, mounts)
            client.start(made["Id"])
        except BaseException:
            client.remove_container(made["Id"], force=True, v=True)
            raise
    return Started(room.name, already=False, mounts=mounts)


def stop(client: APIClient, tree: Path) -> bool:
    """Stop and remove the project's container; False when there is none."""
    there = find(client, tree)
    if there is None:
        return False
    with asking("the container cannot be stopped"):
        client.stop(there.identity, timeout=_GRACE)
    _remove(client, there.identity)
    return True


def find(client: APIClient, tree: Path) -> Container | None:
    """Return the project's container as it is now; None when there is none."""
    from docker.errors import NotFound

    with asking("the container cannot be looked at"):
        try:
            found: Mapping[str, Any] = client.inspect_container(container_name(tree))
        except NotFound:
            return None
        return Container.of(found)


def shell_command(client: APIClient, tree: Path, project_name: str) -> list[str]:
    """Return the command that opens a shell in the project's container.

    Raises
    ------
    NotPassed
        When the container does not run.
    ToolMissing
        Without docker's (or podman's) own command, which knows how to hand over a terminal.
    """
    there = find(client, tree)
    if there is None or not there.running:
        raise NotPassed("the project's container does not run", action="jupyter vaibify start")
    program = shutil.which("docker") or shutil.which("podman")
    if program is None:
        text = "docker's own command is not installed, which a terminal in a container needs"
        raise ToolMissing(text, action="install docker-cli")
    terminal = ["-t"] if sys.stdin is not None and sys.stdin.isatty() else []
    place = ["-w", seen_at(project_name)]
    return [program, "exec", "-i", *terminal, *place, there.identity, "bash"]


def _mounts(room: Room) -> tuple[Mount, ...]:
    tree, place = str(room.tree.resolve()), seen_at(room.project_name)
    kept = [
        Mount(f"{place}/{name}", f"{tree}/{name}", False)
        for name in PROTECTED
        if Path(tree, name).exists()
    ]
    return (Mount(place, tree, True), *kept, *room.binds)


def _same(there: Container, room: Room, mounts: tuple[Mount, ...]) -> Started:
    if there.image != room.image or there.mounts != frozenset(mounts):
        what = "another image" if there.image != room.image else "other mounts"
        text = f"the project's container runs with {what}"
        raise RunInProgress(text, action="jupyter vaibify stop, then start it again")
    return Started(room.name, already=True, mounts=mounts)


def _config(room: Room, mounts: tuple[Mount, ...], about: About) -> dict[str, Any]:
    owner = owner_inside(about, owner_of(room.tree))
    limits: dict[str, Any] = {"PidsLimit": PROCESSES}
    if room.cpus:
        limits["NanoCpus"] = int(min(room.cpus, about.processors or room.cpus) * 1e9)
    if room.memory_gigabytes:
        size = int(room.memory_gigabytes * 2**30)
        limits |= {"Memory": size, "MemorySwap": size}
    binds = [
        {"Type": "bind", "Source": one.source, "Target": one.target, "ReadOnly": not one.writable}
        for one in mounts
    ]
    return {
        "Image": room.image,
        "Entrypoint": ["sleep"],
        "Cmd": ["infinity"],
        "User": "{}:{}".format(*owner),
        "WorkingDir": seen_at(room.project_name),
        "Env": ["HOME=/tmp", "LANG=C.UTF-8"],
        "Labels": {TERMINAL: str(room.tree.resolve())},
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "Init": True,
            "Mounts": binds,
            "NetworkMode": "default" if room.network else "none",
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Privileged": False,
            "RestartPolicy": {"Name": ""},
            **limits,
        },
    }


def _remove(client: APIClient, container: str) -> None:
    with asking("the container cannot be removed"):
        client.remove_container(container, force=True, v=True)
