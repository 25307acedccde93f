"""The few calls that steps need: each bounded in time, its errors ours."""

from __future__ import annotations

import select
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from vaibify_lab.core.errors import EngineLost, EngineUnfit, ImageRefused
from vaibify_lab.engines.docker.calls import NotThere, asking
from vaibify_lab.engines.docker.inspected import About, Container, Image

if TYPE_CHECKING:
    from docker import DockerClient

CHUNK = 2**18
WAITING = 60  # seconds of waiting after which the engine is asked whether it lives
CONFLICT = 409
HEAD = 8  # bytes before each piece of an attached stream: its number, its length

Stream = Literal["stdout", "stderr"]
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
                if error.status_code == CONFLICT:
                    return None
                raise

    def inspect(self, container: str) -> Container | None:
        """Return a container by id or name as it is now; None when there is none."""
        try:
            with asking("inspecting the step's container"):
                return Container.of(self._api.inspect_container(container))
        except NotThere:
            return None

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

    def logs(self, container: str, stream: Stream) -> Iterator[bytes]:
        """Give the engine's own copy of a stream from its beginning, to its end as it grows."""
        wanted = {"stdout": stream == "stdout", "stderr": stream == "stderr"}
        with asking("reading the engine's log of the step"):
            yield from self._api.logs(container, **wanted, stream=True, follow=True)

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

    def pieces(self) -> Iterator[tuple[Stream, bytes]]:
        """Give (stream, bytes) in the order heard, until the connection ends, why ever.

        Raises
        ------
        EngineLost
            The connection broke, or what came is not what an engine sends.
        """
        buffer = bytearray()
        with asking("listening to the step"):
            while data := self._read():
                buffer += data
                yield from _frames(buffer)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _read(self) -> bytes:
        self._poll.poll()
        return bytes(self._connection.read(CHUNK) or b"")


def _frames(buffer: bytearray) -> Iterator[tuple[Stream, bytes]]:
    """Take the whole frames off the front of ``buffer``."""
    start = 0
    while len(buffer) - start >= HEAD:
        stream = _NUMBERED.get(buffer[start])
        if stream is None or any(buffer[start + 1 : start + 4]):
            raise EngineLost("the engine sends the step's output in a way that is not known")
        end = start + HEAD + int.from_bytes(buffer[start + 4 : start + HEAD], "big")
        if end > len(buffer):
            break
        yield stream, bytes(buffer[start + HEAD : end])
        start = end
    del buffer[:start]
