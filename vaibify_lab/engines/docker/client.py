"""Which container engine is asked, and in plain words why none answers (case D08)."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vaibify_lab.core.errors import EngineMissing, EngineUnfit, ToolMissing
from vaibify_lab.core.user import login_name

if TYPE_CHECKING:
    from docker import DockerClient

KNOCKING = 3  # seconds until somebody listens
GREETING = 20  # seconds for a first answer: a busy engine takes its time
ANSWERING = 60  # seconds for every later one; waiting for a step's end has no limit
CONNECTIONS = 64  # at a time: a step holds one while it runs
DEFAULT = "unix:///var/run/docker.sock"
DESKTOP = (".docker/run/docker.sock", ".docker/desktop/docker.sock")
_GROUP_USES = stat.S_IRGRP | stat.S_IWGRP
INSTEAD = "or let steps run without a container"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an engine should answer, and what says so.

    Attributes
    ----------
    url : str
    named_by : str
        "DOCKER_HOST", "the docker context NAME", or "" for the usual place.
    """

    url: str
    named_by: str = ""

    @property
    def path(self) -> str:
        """The socket in the file system; "" for a network address."""
        parts = urlsplit(self.url)
        return parts.netloc + parts.path if parts.scheme in ("unix", "http+unix") else ""

    def __str__(self) -> str:
        place = self.path or self.url
        return f"{place} (named by {self.named_by})" if self.named_by else place


def connect(base_url: str | None = None) -> DockerClient:
    """Return a client of the container engine.

    Parameters
    ----------
    base_url : str, optional
        As ``unix:///run/docker.sock``; else what ``DOCKER_HOST`` or the docker context names.

    Raises
    ------
    EngineMissing
        Nothing answers within seconds, and why.
    EngineUnfit
        The engine is asked by ssh, so it is on another machine.
    ToolMissing
        The Python package ``docker`` is not installed.
    """
    try:
        import docker
    except ModuleNotFoundError:
        text = "the Python package docker is not installed"
        raise ToolMissing(text, action="python -m pip install docker") from None
    place, options = _endpoint(base_url)
    _knock(place)
    try:
        client = docker.DockerClient(
            **options, version="auto", timeout=GREETING, max_pool_size=CONNECTIONS
        )
    except (docker.errors.DockerException, OSError) as error:
        text = f"what answers at {place} is no container engine: {_first_line(error)}"
        if _is_late(error):
            text = f"what listens at {place} did not answer within {GREETING:g} seconds"
        raise EngineMissing(text, action=f"look at it with: docker version, {INSTEAD}") from None
    client.api.timeout = ANSWERING
    return client


def place_of(base_url: str | None) -> str:
    """Return where an engine is asked, in a person's words.

    Raises
    ------
    EngineMissing
    """
    return str(_endpoint(base_url)[0])


def _endpoint(base_url: str | None) -> tuple[Endpoint, dict[str, Any]]:
    """Return where to ask, by the rules of docker's own command, and the client's options."""
    import docker
    from docker.utils import kwargs_from_env

    if base_url is not None:
        return Endpoint(base_url), {"base_url": base_url}
    if named := os.environ.get("DOCKER_HOST", ""):
        return Endpoint(named, "DOCKER_HOST"), dict(kwargs_from_env())
    try:
        context: Any = docker.ContextAPI.get_context(os.environ.get("DOCKER_CONTEXT") or None)
    except docker.errors.ContextException as error:
        raise EngineMissing(_first_line(error), action="docker context ls") from None
    if context is None:
        name = os.environ.get("DOCKER_CONTEXT", "")
        text = f"there is no docker context {name!r}, which is the one in use"
        raise EngineMissing(text, action="docker context use default")
    if context.Name == "default" or not context.Host:
        return Endpoint(DEFAULT), {"base_url": DEFAULT}
    options = {"base_url": context.Host, "tls": context.TLSConfig}
    return Endpoint(context.Host, f"the docker context {context.Name!r}"), options


def _knock(place: Endpoint) -> None:
    """Connect once, so that what is wrong is known by its kind and not by a library's words."""
    if place.url.startswith("ssh:"):
        text = f"the engine {place} is on another machine, and steps need this machine's files"
        raise EngineUnfit(text, action=f"unset {place.named_by or 'it'}, {INSTEAD}")
    try:
        with closing(_connected(place)):
            return
    except ValueError:
        text = f"{place} is no address of a container engine"
        raise EngineMissing(text, action=_remedy(place)) from None
    except PermissionError:
        text = f"you may not use the container engine at {place}"
        raise EngineMissing(text, action=f"{_way_in(place)}, {INSTEAD}") from None
    except OSError as error:
        raise EngineMissing(_why(place, error), action=_remedy(place)) from None


def _connected(place: Endpoint) -> socket.socket:
    if not place.path:
        parts = urlsplit(place.url)
        if parts.hostname is None:
            raise ValueError(place.url)
        return socket.create_connection((parts.hostname, parts.port or 2375), KNOCKING)
    knocking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    knocking.settimeout(KNOCKING)
    try:
        knocking.connect(place.path)
    except OSError:
        knocking.close()
        raise
    return knocking


def _why(place: Endpoint, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and place.path:
        return f"no container engine: {place} is not there"
    if place.path and not _is_socket(place.path):
        return f"no container engine: {place} is not a socket"
    if isinstance(error, TimeoutError):
        return f"no container engine answers at {place} within {KNOCKING:g} seconds"
    return f"no container engine answers at {place}: {error.strerror or error}"


def _remedy(place: Endpoint) -> str:
    if place.named_by == "DOCKER_HOST":
        return f"unset DOCKER_HOST, or start the engine that it names, {INSTEAD}"
    if place.named_by:
        return (
            f"start Docker Desktop (or what it belongs to), docker context use default, {INSTEAD}"
        )
    for path in DESKTOP:
        if Path.home().joinpath(path).is_socket():
            return f"Docker Desktop is there: docker context use desktop-linux, {INSTEAD}"
    return f"install and start Docker (or Podman with its API socket), {INSTEAD}"


def _is_late(error: Exception) -> bool:
    from requests import Timeout

    return isinstance(error, Timeout) or isinstance(error.__cause__, Timeout)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _way_in(place: Endpoint) -> str:
    """Say how to be let in: by the socket's group where that opens it, but never by root's."""
    import grp

    try:
        status = os.stat(place.path)
        group = grp.getgrgid(status.st_gid).gr_name
    except (KeyError, OSError):  # it lies where one may not even look
        return f"{_without(place)}ask who runs it to let you in"
    name, uses = login_name(), status.st_mode & _GROUP_USES == _GROUP_USES
    if status.st_gid == 0 or not uses or name is None:
        return f"{_without(place)}ask who runs it to let you in"
    return f"sudo usermod -aG {group} {name}, then log in again"


def _without(place: Endpoint) -> str:
    return "unset DOCKER_HOST, or " if place.named_by == "DOCKER_HOST" else ""


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
