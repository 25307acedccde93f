"""What an engine says of itself, of an image and of a container, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

# Docker Desktop shows the host's folders below these.
_PREFIXES = ("/host_mnt", "/run/desktop/mnt/host")
_NEVER = "0001-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class About:
    """An engine.

    Attributes
    ----------
    rootless : bool
        It runs as the user: root inside is the user outside.
    """

    product: str
    version: str
    api: str
    identity: str
    platform: str
    processors: int
    rootless: bool
    kernel: str = ""

    @classmethod
    def of(cls, version: Mapping[str, Any], info: Mapping[str, Any]) -> About:
        """Read ``/version`` and ``/info``."""
        parts = [str(one.get("Name", "")) for one in version.get("Components") or []]
        security = [str(one) for one in info.get("SecurityOptions") or []]
        return cls(
            product="podman" if any("Podman" in one for one in parts) else "docker",
            version=str(version.get("Version", "")),
            api=str(version.get("ApiVersion", "")),
            identity=str(info.get("ID", "")),
            platform=f"{version.get('Os', '')}/{version.get('Arch', '')}",
            processors=int(info.get("NCPU") or 0),
            rootless=info.get("Rootless") is True  # Podman
            or any("name=rootless" in one for one in security),
            kernel=str(info.get("KernelVersion", "")),
        )


@dataclass(frozen=True, slots=True)
class Image:
    """An image as the engine holds it."""

    identity: str
    platform: str

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Image:
        """Read an image's inspection."""
        parts = [value.get("Os"), value.get("Architecture"), value.get("Variant")]
        return cls(str(value["Id"]), "/".join(str(one) for one in parts if one))


@dataclass(frozen=True, slots=True, order=True)
class Mount:
    """One host folder or file as a step sees it."""

    target: str
    source: str
    writable: bool


@dataclass(frozen=True, slots=True)
class Container:
    """A container at one moment.

    Attributes
    ----------
    status : str
        "created", "running", "exited", ...
    error : str
        What kept the engine from starting it.
    mounts : frozenset of Mount
        Host folders; volumes of the image's own are in ``volumes``.
    """

    identity: str
    image: str
    labels: Mapping[str, str]
    status: str
    running: bool
    exit_code: int
    out_of_memory: bool
    error: str
    seconds: float
    age: float
    mounts: frozenset[Mount]
    volumes: tuple[str, ...]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Container:
        """Read a container's inspection."""
        state, mounts = value["State"], value.get("Mounts") or []
        return cls(
            identity=str(value["Id"]),
            image=str(value["Image"]),
            labels=dict(value["Config"].get("Labels") or {}),
            status=str(state["Status"]),
            running=bool(state["Running"] or state.get("Paused") or state.get("Restarting")),
            exit_code=int(state["ExitCode"]),
            out_of_memory=bool(state.get("OOMKilled")),
            error=str(state.get("Error") or ""),
            seconds=_between(state.get("StartedAt"), state.get("FinishedAt")),
            age=_age(value.get("Created")),
            mounts=frozenset(_mount(one) for one in mounts if one.get("Type") == "bind"),
            volumes=tuple(str(one["Destination"]) for one in mounts if one.get("Type") != "bind"),
        )


def _mount(value: Mapping[str, Any]) -> Mount:
    source = str(value["Source"])
    for prefix in _PREFIXES:
        source = source.removeprefix(prefix) if source.startswith(f"{prefix}/") else source
    return Mount(str(value["Destination"]), source, bool(value["RW"]))


def _between(started: object, finished: object) -> float:
    begin, end = _moment(started), _moment(finished)
    return 0.0 if begin is None or end is None else max(0.0, (end - begin).total_seconds())


def _age(created: object) -> float:
    moment = _moment(created)
    return 0.0 if moment is None else (datetime.now(moment.tzinfo) - moment).total_seconds()


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str) or text == _NEVER:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
