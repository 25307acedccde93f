"""The few calls that steps need: each bounded in time, its errors ours."""

from __future__ import annotations

import select
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from vaibify_lab.core.errors import EngineLost, EngineUnfit, ImageRefused
from vaibify_lab.engines.docker.calls import NotThere, asking
from vaibify_lab.engines.docker.inspected import About, Container, Image

if TYPE_CHECKING:
    from docker import DockerClient

CHUNK = 2**18
WAITING = 60  # seconds of waiting after which the engine is asked whether it lives
FLAG = 4.0  # seconds by which a busy engine's note of a memory kill may come after the end
NOT_FOUND, CONFLICT = 404, 409
TAKEN = "name is already in use"  # Podman says it by words alone
# Keys that would let go of a terminal: the usual ones, Ctrl-P first, are typed in shells.
UNLIKELY_KEYS = "ctrl-^,ctrl-^,ctrl-^,ctrl-^"
HEAD = 8  # bytes before each piece of an attached stream: its number, its length

Stream = Literal["stdout", "stderr"]
Pieces = dict[Stream, bytes]
STREAMS: tuple[Stream, Stream] = ("stdout", "stderr")
_NUMBERED: dict[int, Stream] = {1: "stdout", 2: "stderr"}


class Daemon:
    """An engine that answered once.

    Every method raises `EngineLost` when it answers no more, `EngineUnfit` when it refuses.
    """

    def __init__(self, client: DockerClient) -> None:
        self._api: Any = client.api

    def about(self) -> About:
        """Return what the engine says of itself."""
        with asking("asking the engine who it is"):
            return About.of(self._api.version(), self._api.info())

    def image(self, name: str) -> Image:
        """Return an image that the engine holds.

        Raises
        ------
        ImageRefused
            It holds none of that name.
        """
        try:
            with asking(f"looking for image {name}"):
                return Image.of(self._api.inspect_image(name))
        except NotThere:
            text = "the container engine does not hold this image"
            raise ImageRefused(text, where=name, action="jupyter vaibify build") from None

    def create(self, name: str, config: Mapping[str, Any]) -> str | None:
        """Create a container and return its id; None when the name is taken."""
        from docker.errors import APIError

        with asking("creating the step's container"):
            try:
                return str(self._api.create_container_from_config(dict(config), name)["Id"])
            except APIError as error:
                if error.status_code == CONFLICT or TAKEN in str(error.explanation):
                    return None
                raise

    def inspect(self, container: str) -> Container | None:
        """Return a container by id or name as it is now; None when there is none."""
        try:
            with asking("inspecting the step's container"):
                return Container.of(self._api.inspect_container(container))
        except NotThere:
            return None

    def inspect_after_kill(self, container: str) -> Container | None:
        """Return an ended container in which a process may have been killed for want of memory."""
        until = time.monotonic() + FLAG
        last = self.inspect(container)
        while last is not None and not last.out_of_memory and time.monotonic() < until:
            time.sleep(0.05)
            last = self.inspect(container)
        return last

    def find(self, label: str, value: str) -> list[str]:
        """Return the ids of all containers with this label, running or not."""
        return [one for one, held in self.labelled(label).items() if held == value]

    def labelled(self, label: str) -> dict[str, str]:
        """Return the containers that have a label, running or not, with its value."""
        with asking("looking for containers"):
            found = self._api.containers(all=True, filters={"label": label})
        return {str(one["Id"]): str((one.get("Labels") or {}).get(label)) for one in found}

    def start(self, container: str) -> None:
        """Start a container."""
        with asking("starting the step's container"):
            self._api.start(container)

    def attach(self, container: str) -> Attached:
        """Listen to a container that has not begun: every byte of it will be heard."""
        with asking("listening to the step"):
            return Attached(self._api.attach_socket(container))

    def logs(self, container: str, *, follow: bool) -> Iterator[Pieces]:
        """Give the engine's own copy of the output from its beginning, and as it grows."""
        # The SDK reads frame by frame, which takes minutes for a large log of short lines.
        address = f"{self._api.base_url}/v{self._api.api_version}/containers/{container}/logs"
        wanted = {"stdout": 1, "stderr": 1, "follow": int(follow)}
        what = "reading the engine's log of the step"
        with (
            asking(what),
            self._api.get(address, params=wanted, stream=True, timeout=(WAITING, None)) as answer,
        ):
            if not answer.ok:
                kind = NotThere if answer.status_code == NOT_FOUND else EngineUnfit
                raise kind(f"{what}: {answer.text[:300]}")
            yield from _told_apart(answer.iter_content(CHUNK))

    def wait(self, container: str) -> None:
        """Return once a container has ended, or is gone."""
        with suppress(NotThere):
            while not self._has_ended(container):
                with asking("asking whether the engine lives"):
                    self._api.ping()

    def _has_ended(self, container: str) -> bool:
        """Wait for the end; False when it did not come for a while."""
        from requests.exceptions import ReadTimeout

        with asking("waiting for the step's end"):
            try:
                self._api.wait(container, timeout=WAITING)
            except ReadTimeout:
                return False
        return True

    def signal(self, container: str, name: str) -> None:
        """Send a signal to a container's init, if it runs."""
        with suppress(EngineUnfit), asking(f"sending {name} to the step"):
            self._api.kill(container, name)

    def pause(self, container: str) -> None:
        """Freeze a container."""
        with asking("freezing the step"):
            self._api.pause(container)

    def resume(self, container: str) -> None:
        """Let a frozen container go on; one that is not frozen is no error."""
        with suppress(EngineUnfit), asking("letting the step go on"):
            self._api.unpause(container)

    def exec_terminal(self, container: str, command: list[str], kind: str) -> tuple[str, Any]:
        """Start a command with a terminal in a container; return its id and the connection."""
        with asking("opening a terminal in the step"):
            made = self._api.exec_create(
                container,
                command,
                stdin=True,
                tty=True,
                environment={"TERM": kind},
                detach_keys=UNLIKELY_KEYS,
            )
            return str(made["Id"]), self._api.exec_start(made["Id"], tty=True, socket=True)

    def resize(self, execution: str, rows: int, columns: int) -> None:
        """Tell a terminal how large it is; one that is gone is no error."""
        with suppress(EngineUnfit), asking("telling the step's terminal its size"):
            self._api.exec_resize(execution, height=rows, width=columns)

    def execute(self, container: str, command: list[str]) -> None:
        """Start a command in a container, and leave it to itself."""
        with suppress(EngineUnfit), asking("running a command in the step"):
            made = self._api.exec_create(container, command, stdout=False, stderr=False)
            self._api.exec_start(made["Id"], detach=True)

    def remove(self, container: str) -> None:
        """Remove a container, killing what still runs; one that is gone is no error."""
        with suppress(NotThere), asking("removing the step's container"):
            self._api.remove_container(container, v=True, force=True)


class Attached:
    """Both streams of a container over one connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)

    def pieces(self) -> Iterator[Pieces]:
        """Give what is heard until the connection ends, why ever.

        Raises
        ------
        EngineLost
            The connection broke, or what came is not what an engine sends.
        """
        with asking("listening to the step"):
            yield from _told_apart(iter(self._read, b""))

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _read(self) -> bytes:
        self._poll.poll()
        return bytes(self._connection.read(CHUNK) or b"")


def _told_apart(data: Iterable[bytes]) -> Iterator[Pieces]:
    buffer = bytearray()
    for piece in data:
        buffer += piece
        yield _frames(buffer)


def _frames(buffer: bytearray) -> Pieces:
    """Take the whole frames off the front of ``buffer``."""
    parts: dict[Stream, list[bytes]] = {one: [] for one in STREAMS}
    start, view = 0, bytes(buffer)
    while len(view) - start >= HEAD:
        stream = _NUMBERED.get(view[start])
        if stream is None or any(view[start + 1 : start + 4]):
            raise EngineLost("the engine sends the step's output in a way that is not known")
        end = start + HEAD + int.from_bytes(view[start + 4 : start + HEAD], "big")
        if end > len(view):
            break
        parts[stream].append(view[start + HEAD : end])
        start = end
    del buffer[:start]
    return {stream: b"".join(found) for stream, found in parts.items() if found}
