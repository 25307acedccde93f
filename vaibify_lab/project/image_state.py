"""What is known of a project's image and of its long-lived container, with an engine or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.engines.image import terminal
from vaibify_lab.engines.image.client import asking, connect
from vaibify_lab.engines.image.registry import find_image
from vaibify_lab.engines.image.settings import read_settings
from vaibify_lab.runs.enveloping import read_environment
from vaibify_lab.runs.opened import Opened

if TYPE_CHECKING:
    from docker import APIClient

_SECONDS = 10


def image_state(opened: Opened) -> dict[str, Any]:
    """Return the engine that answers (or why none does), the pinned image, and whether it is here.

    Raises
    ------
    InvalidFile
        environment.json or vaibify.yml breaks its rules.
    """
    pinned = read_environment(opened)
    base = read_settings(opened.project_file().value, base=None).base
    client, engine = _engine()
    names = ("config_digest", "registry_digest", "platform", "origin")
    value = None
    here: bool | str = "unknown"
    if pinned is not None and pinned.config_digest is not None:
        value = {"name": pinned.image_name, **{name: getattr(pinned, name) for name in names}}
        if client is not None:
            here = _is_here(client, pinned.config_digest)
    return {"engine": engine, "pinned": value, "here": here, "base": base}


def container_state(opened: Opened) -> dict[str, Any]:
    """Return the long-lived container with what it uses now."""
    value: dict[str, Any] = {
        "state": "unknown",
        "name": terminal.container_name(opened.tree.root),
        "mounts": [],
        "cpu_percent": None,
        "memory_bytes": None,
        "memory_limit_bytes": None,
        "error": None,
    }
    try:
        client = _connected()
        found = terminal.find(client, opened.tree.root)
        if found is None:
            return value | {"state": "none"}
        mounts = [
            {"host": one.source, "container": one.target, "writable": one.writable}
            for one in sorted(found.mounts)
        ]
        value |= {"state": "running" if found.running else "stopped", "mounts": mounts}
        return value | (_usage(client, found.identity) if found.running else {})
    except VaibifyError as error:
        return value | {"error": error.to_json()}


def _connected() -> APIClient:
    client = connect()
    client.timeout = _SECONDS  # for a page, not for a build
    return client


def _engine() -> tuple[APIClient | None, dict[str, Any]]:
    try:
        client = _connected()
        with asking("the engine cannot be asked for its version"):
            version: Mapping[str, Any] = client.version()
    except VaibifyError as error:
        missing = {"state": "missing", "name": None, "version": None}
        return None, missing | {"error": error.to_json()}
    parts = [str(one.get("Name", "")) for one in version.get("Components") or []]
    name = "podman" if any("Podman" in one for one in parts) else "docker"
    said = str(version.get("Version", ""))
    return client, {"state": "ok", "name": name, "version": said, "error": None}


def _is_here(client: APIClient, digest: str) -> bool | str:
    try:
        return find_image(client, digest) is not None
    except VaibifyError:
        return "unknown"


def _usage(client: APIClient, identity: str) -> dict[str, Any]:
    """Return the use of processors since the last second, and of memory."""
    with asking("the container cannot be measured"):
        said: Mapping[str, Any] = client.stats(identity, stream=False)
    memory = said.get("memory_stats") or {}
    cached = (memory.get("stats") or {}).get("inactive_file") or 0
    return {
        "cpu_percent": _processors(said.get("cpu_stats") or {}, said.get("precpu_stats") or {}),
        "memory_bytes": int(memory.get("usage") or 0) - int(cached),
        "memory_limit_bytes": memory.get("limit"),
    }


def _processors(now: Mapping[str, Any], before: Mapping[str, Any]) -> float | None:
    """Return the share of one processor, in percent, as ``docker stats`` does."""
    used = [int((one.get("cpu_usage") or {}).get("total_usage") or 0) for one in (now, before)]
    system = [int(one.get("system_cpu_usage") or 0) for one in (now, before)]
    if system[0] <= system[1]:
        return None
    share = (used[0] - used[1]) / (system[0] - system[1])
    return round(100 * share * int(now.get("online_cpus") or 1), 1)
