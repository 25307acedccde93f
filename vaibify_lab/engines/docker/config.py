"""A step's container as the engine's API wants it: everything that holds a step in is here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from vaibify_lab.engines.base import Resources
from vaibify_lab.engines.docker.inspected import About, Mount
from vaibify_lab.engines.docker.mounts import TEMPORARY

LABEL = "org.vaibify.lab."
STATE = LABEL + "state"
HOME = f"{TEMPORARY}/home"
USER = "vaibify"
PROCESSES = 4096
SHARED_MEGABYTES = 1024
SPARE = 2**26
# Without it docker's init passes a stop to the shell alone and not to the shell's programs.
_TO_ALL = "TINI_KILL_PROCESS_GROUP"
# A core dump would be an output that nobody declared.
BEFORE = f"ulimit -c 0; unset {_TO_ALL}; "
# A step for terminals: waits without another program, and lets shells go before it ends.
WAIT = (
    "trap 'kill -HUP -1; read -rt 0.5 -u 3; exit 143' TERM; "
    "exec 3<> <(:); while :; do read -rt 3600 -u 3; done"
)
_ODD = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True, slots=True)
class Order:
    """One container.

    Attributes
    ----------
    owner : tuple of int
        User and group that it runs as.
    log_limit : int
        Bytes of each stream that the engine's own log must be able to hold.
    """

    image: str
    script: str
    directory: str
    mounts: tuple[Mount, ...]
    environment: Mapping[str, str]
    owner: tuple[int, int]
    network: bool
    resources: Resources
    labels: Mapping[str, str]
    log_limit: int


def container_name(run_id: str, slug: str) -> str:
    """Return a container's name, the same for the same step of the same run; it is the lock."""
    plain = f"vaibify-{_ODD.sub('_', run_id)}-{_ODD.sub('_', slug)}"
    if plain == f"vaibify-{run_id}-{slug}":
        return plain
    return (
        f"{plain}-{sha256(f'{run_id}/{slug}'.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    )


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return what a container's environment holds beside the image's: small, always the same."""
    return {
        "HOME": HOME,
        "TMPDIR": TEMPORARY,
        "LANG": "C.UTF-8",
        "USER": USER,
        "LOGNAME": USER,
        **own,
        _TO_ALL: "1",
    }


def config_of(order: Order, about: About) -> dict[str, Any]:
    """Return the body of the API's call that creates the container."""
    return {
        "Image": order.image,
        "Entrypoint": ["bash"],
        "Cmd": ["-c", f"{BEFORE}{order.script}"],
        "User": "{}:{}".format(*order.owner),
        "WorkingDir": order.directory,
        "Env": [f"{name}={value}" for name, value in environment(order.environment).items()],
        "Labels": dict(order.labels),
        "Hostname": USER,
        "Tty": False,
        "OpenStdin": False,
        "StopSignal": "SIGTERM",
        "Healthcheck": _no_health_check(about),
        "HostConfig": _held(order, about) | _limits(order.resources, about),
    }


def _no_health_check(about: About) -> dict[str, Any] | None:
    """Keep the image's own from running beside the step; Podman takes NONE for a check."""
    return None if about.product == "podman" else {"Test": ["NONE"]}


def _held(order: Order, about: About) -> dict[str, Any]:
    """Return what keeps a step in."""
    return {
        "Init": True,
        "Mounts": [_bind(one) for one in order.mounts],
        "NetworkMode": "default" if order.network else "none",
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "ReadonlyRootfs": True,
        "Privileged": False,
        "IpcMode": "private",
        "LogConfig": _log(order.log_limit, about),
        "RestartPolicy": {"Name": ""},
        "AutoRemove": False,
    }


def _limits(asked: Resources, about: About) -> dict[str, Any]:
    """Return what a step may use."""
    limits: dict[str, Any] = {
        "PidsLimit": PROCESSES,
        "ShmSize": (asked.shm_megabytes or SHARED_MEGABYTES) * 2**20,
    }
    if asked.memory_megabytes:
        size = asked.memory_megabytes * 2**20
        limits |= {"Memory": size, "MemorySwap": size}
    if asked.cpus:
        available = about.processors or asked.cpus  # an engine refuses more than there are
        limits["NanoCpus"] = int(min(asked.cpus, available) * 1e9)
    if asked.gpus:
        limits["DeviceRequests"] = [{"Count": asked.gpus, "Capabilities": [["gpu"]]}]
    return limits


def _bind(mount: Mount) -> dict[str, Any]:
    """Type "bind": a source that is missing is an error, and never made by the engine."""
    return {
        "Type": "bind",
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": not mount.writable,
    }


def _log(limit: int, about: About) -> dict[str, Any]:
    """Return where the engine keeps its own copy of the output, byte for byte.

    ``json-file`` of Docker spoils bytes that are no text; Podman's does not, and it has no other.
    The size leaves each line its overhead, and bounds what a flood takes of the engine's disk.
    """
    if about.product == "podman":
        return {"Type": "json-file", "Config": {}}
    size = 2 * limit + SPARE
    return {
        "Type": "local",
        "Config": {"max-size": str(size), "max-file": "2", "compress": "false"},
    }
