"""A container for one question: started, listened to, removed. Nothing of the host is mounted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, cast

from vaibify_lab.core.errors import CannotCheck, ImageRefused
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image.client import asking
from vaibify_lab.engines.orphans import asker, orphans

if TYPE_CHECKING:
    from docker import APIClient

LABEL = "vaibify.throwaway"
_LOG = {"type": "json-file", "config": {"max-size": "16m", "max-file": "1"}}
_LONGEST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Said:
    """How the command ended, and what it printed."""

    code: int
    out: bytes
    err: bytes


def ask_image(
    client: APIClient,
    image: str,
    script: str,
    *,
    arguments: Sequence[str] = (),
    network: bool = False,
    archive: tuple[str, bytes] | None = None,
    seconds: int = 120,
    tell: Callable[[str], None] | None = None,
) -> Said:
    """Run a shell script in a throw-away container of an image.

    Parameters
    ----------
    client : APIClient
        The engine.
    image : str
        An Id, or ``name@digest``; it must be there.
    script : str
        For ``/bin/sh``.
    arguments : sequence of str
        Its ``$1``...
    network : bool
        False: no route out.
    archive : tuple, optional
        A folder of the image and a tar to unpack there first.
    seconds : int
        After which it is killed.
    tell : callable, optional
        Told each line as it comes.

    Raises
    ------
    ImageRefused
        When the image has no shell.
    CannotCheck
        When it took too long, or the engine went away.
    """
    command = ["/bin/sh", "-c", script, "sh", *arguments]
    with (
        asking("the image cannot be looked into", where=image),
        _made(client, image, command, network) as container,
    ):
        if archive is not None:
            client.put_archive(container, *archive)
        _start(client, container, image)
        return _listen(client, container, image, seconds, tell)


@contextmanager
def _made(client: APIClient, image: str, command: list[str], network: bool) -> Iterator[str]:
    _remove_orphans(client)
    host = client.create_host_config(
        network_mode="bridge" if network else "none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        pids_limit=512,
        log_config=cast(Any, _LOG),  # the client takes a dictionary too
    )
    options: dict[str, Any] = {"labels": {LABEL: asker()}, "working_dir": "/", "host_config": host}
    made = client.create_container(image, entrypoint=command, user="0:0", **options)
    try:
        yield str(made["Id"])
    finally:
        with _quietly():  # it must not hide the first reason
            client.remove_container(made["Id"], force=True, v=True)


def _remove_orphans(client: APIClient) -> None:
    """Remove the containers of those who died before they had their answer."""
    with _quietly():
        found = client.containers(all=True, filters={"label": LABEL})
        labelled = {str(one["Id"]): str((one.get("Labels") or {}).get(LABEL)) for one in found}
        for one in orphans(labelled):
            client.remove_container(one, force=True, v=True)


@contextmanager
def _quietly() -> Iterator[None]:
    from docker.errors import DockerException

    with suppress(DockerException, OSError):
        yield


def _start(client: APIClient, container: str, image: str) -> None:
    import docker.errors

    try:
        client.start(container)
    except docker.errors.APIError as error:
        said = str(error.explanation)
        if "no such file" not in said and "executable file not found" not in said:
            raise
        raise ImageRefused("has no /bin/sh, which steps need too", where=image) from None


def _listen(
    client: APIClient,
    container: str,
    image: str,
    seconds: int,
    tell: Callable[[str], None] | None,
) -> Said:
    late = Event()
    timer = Timer(seconds, _kill, (client, container, late))
    timer.start()
    try:
        if tell is not None:
            _follow(client, container, tell)
        code = int(client.wait(container, timeout=seconds + 30)["StatusCode"])
    finally:
        timer.cancel()
    if late.is_set():
        raise CannotCheck(f"did not answer within {seconds} seconds", where=image)
    out, err = (
        b"".join(_bounded(client.logs(container, stdout=one, stderr=not one, stream=True)))
        for one in (True, False)
    )
    return Said(code, out, err)


def _kill(client: APIClient, container: str, late: Event) -> None:
    late.set()
    with _quietly():  # it may have ended by itself
        client.kill(container)


def _follow(client: APIClient, container: str, tell: Callable[[str], None]) -> None:
    rest = b""
    for piece in _bounded(client.logs(container, stream=True, follow=True)):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            tell(shown(line.decode("utf-8", "replace").strip())[:200])


def _bounded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    left = _LONGEST
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left <= 0:
            return
