"""Images to and from a registry. Only what the registry itself says of a digest is believed.

An engine may invent a digest for an image that was never pushed (podman), swallow an error of the
stream, or answer from its own store: so errors are read from the stream, the registry is asked
again, and what then is here is compared.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaibify_lab.core.errors import BytesChanged, ImageRefused, UsageError
from vaibify_lab.core.levels import is_loopback
from vaibify_lab.engines.image.client import asking
from vaibify_lab.engines.image.reference import Reference, is_digest, parse_reference, short
from vaibify_lab.engines.image.stream import follow_transfer

if TYPE_CHECKING:
    from docker import APIClient

Tell = Callable[[str], None]


def _silent(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class LocalImage:
    """An image that the engine has."""

    id: str
    config_digest: str
    platform: str
    labels: tuple[tuple[str, str], ...]

    @property
    def label(self) -> dict[str, str]:
        """The labels as a dictionary."""
        return dict(self.labels)


@dataclass(frozen=True, slots=True)
class Pulled:
    """An image pulled by digest.

    ``asked_registry``: the registry itself confirmed the digest now (podman cannot ask).
    ``already_here``: its layers were here, so none was fetched.
    """

    image: LocalImage
    reference: str
    already_here: bool
    asked_registry: bool
    platforms: tuple[str, ...]

    @property
    def is_loopback(self) -> bool:
        """Tell whether the registry is on this machine."""
        return is_loopback(self.reference)


@dataclass(frozen=True, slots=True)
class RegistryAnswer:
    """What a registry says of a name: its digest now, and the platforms behind it."""

    digest: str
    platforms: tuple[str, ...]


def push(client: APIClient, image: str, ref: str, tell: Tell = _silent) -> str:
    """Push an image and return ``name@sha256:...`` as the registry has it.

    ``image`` is its Id; ``ref`` is ``host/name:tag``, where ``:latest`` may be left out.

    Raises
    ------
    UsageError
        For a name with a digest.
    RegistryUnreachable, ImageRefused
    """
    asked = parse_reference(ref)
    if asked.digest is not None:
        raise UsageError("an image is pushed to a tag, not to a digest", action="name:tag")
    tag = asked.tag or "latest"
    with asking("cannot be pushed", where=ref):
        client.tag(image, asked.name, tag)
        events = client.push(asked.name, tag=tag, stream=True, decode=True)
        moved = follow_transfer(_events(events), "cannot be pushed", tell, ref)
    answer = ask_registry(client, f"{asked.name}:{tag}")
    digest = moved.digest or (answer.digest if answer else None)
    if digest is None:
        raise ImageRefused("was pushed, but nobody says by which digest", where=ref)
    if answer is not None and answer.digest != digest:
        text = f"{digest} was pushed, but the tag is {answer.digest} now: somebody pushed too"
        raise BytesChanged(text, where=ref, action="push to a tag of your own")
    return f"{asked.name}@{digest}"


def pull(
    client: APIClient, reference: str, *, platform: str | None = None, tell: Tell = _silent
) -> Pulled:
    """Pull an image by digest, ask the registry for it, and compare what came.

    ``reference`` is ``name@sha256:...``: nothing else is the same for everybody. ``platform``, as
    ``linux/amd64``, says which variant, where the digest is of a list of several.

    Raises
    ------
    UsageError
        For a tag or a short digest.
    RegistryUnreachable, ImageRefused
        Also for a layer that is not what its digest says.
    """
    asked = parse_reference(reference)
    if asked.digest is None:
        text = f"{reference} is a tag, which may be another image tomorrow"
        raise UsageError(text, action="pull by name@sha256:...")
    answer = ask_registry(client, asked.by_digest)
    if answer is not None and answer.digest != asked.digest:
        raise ImageRefused(f"the registry answers with {answer.digest}", where=reference)
    with asking("cannot be pulled", where=short(reference)):
        events = client.pull(
            asked.name, tag=asked.digest, stream=True, decode=True, platform=platform
        )
        moved = follow_transfer(_events(events), "cannot be pulled", tell, short(reference))
    if moved.digest is not None and moved.digest != asked.digest:
        raise ImageRefused(f"{moved.digest} came instead", where=reference)
    platforms = answer.platforms if answer else ()
    image = local_image(client, asked.by_digest)
    return Pulled(image, asked.by_digest, moved.already_here, answer is not None, platforms)


def pull_tag(client: APIClient, name: str, tell: Tell = _silent) -> Pulled:
    """Pull what a tag is now, by the digest that the registry gives for it.

    Raises
    ------
    RegistryUnreachable, ImageRefused
    """
    asked = parse_reference(name)
    if asked.digest is not None:
        return pull(client, asked.by_digest, tell=tell)
    answer = ask_registry(client, f"{asked.name}:{asked.tag or 'latest'}")
    digest = answer.digest if answer else _digest_by_pulling(client, asked, tell)
    return pull(client, f"{asked.name}@{digest}", tell=tell)


def ask_registry(client: APIClient, name: str) -> RegistryAnswer | None:
    """Ask the registry what a name is now; None when this engine cannot ask (podman).

    Raises
    ------
    RegistryUnreachable
    ImageRefused
        When the registry does not have it, or gives it to nobody.
    """
    import docker.errors

    with asking("cannot be had", where=short(name) if "@" in name else name):
        try:
            answer: dict[str, Any] = client.inspect_distribution(name)  # type: ignore[no-untyped-call]
        except docker.errors.NotFound as error:
            if _is_unknown_route(str(error.explanation)):
                return None
            raise
    digest = answer.get("Descriptor", {}).get("digest")
    if not is_digest(digest):
        raise ImageRefused("the registry gives no digest", where=name)
    platforms = [_platform(one) for one in answer.get("Platforms") or ()]
    return RegistryAnswer(str(digest), tuple(one for one in platforms if one))


def moved_tag(client: APIClient, name: str, recorded: str) -> str | None:
    """Say that a tag is no longer the digest that was recorded; None while it is.

    Raises
    ------
    RegistryUnreachable, ImageRefused
    """
    answer = ask_registry(client, name)
    if answer is None or answer.digest == recorded.rpartition("@")[2]:
        return None
    now, was = short(answer.digest), short(recorded.rpartition("@")[2])
    return f"the tag {name} moved: it is {now} now and was {was}"


def local_image(client: APIClient, name: str) -> LocalImage:
    """Return an image that the engine has.

    Raises
    ------
    ImageRefused
        When it has none of that name.
    """
    with asking("is not here", where=name):
        found: dict[str, Any] = client.inspect_image(name)  # type: ignore[no-untyped-call]
        labels = (found.get("Config") or {}).get("Labels") or {}
        return LocalImage(
            id=str(found["Id"]),
            config_digest=_config_digest(client, found),
            platform=_platform({key.lower(): value for key, value in found.items()}),
            labels=tuple(sorted((str(k), str(v)) for k, v in labels.items())),
        )


def find_image(client: APIClient, name: str) -> LocalImage | None:
    """Return an image that the engine has, or None."""
    try:
        return local_image(client, name)
    except ImageRefused:
        return None


def engine_platform(client: APIClient) -> str:
    """Return the platform of the engine, as ``linux/amd64``."""
    with asking("the engine does not say its platform"):
        found: dict[str, Any] = client.version()
    return f"{found.get('Os', 'linux')}/{found.get('Arch', 'unknown')}".lower()


def _config_digest(client: APIClient, found: dict[str, Any]) -> str:
    """Return the config's digest: the Id, unless this engine's Ids are of manifests."""
    image = str(found["Id"])
    image = image if image.startswith("sha256:") else f"sha256:{image}"
    if (found.get("Descriptor") or {}).get("digest") != image:
        return image
    return saved_config_digest(client, image)


def saved_config_digest(client: APIClient, image: str) -> str:
    """Return an image's config digest as its saved archive has it; the whole image is read."""
    pieces = io.BufferedReader(_Pieces(iter(client.get_image(image))), 2**20)
    with tarfile.open(fileobj=pieces, mode="r|") as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.name == "manifest.json" else None
            if content is not None:
                name = str(json.loads(content.read())[0]["Config"])
                return f"sha256:{name.rpartition('/')[2].removesuffix('.json')}"
    raise ImageRefused("its archive has no manifest", where=image)


class _Pieces(io.RawIOBase):
    """A stream of pieces as a file that can be read once."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _digest_by_pulling(client: APIClient, asked: Reference, tell: Tell) -> str:
    with asking("cannot be pulled", where=str(asked)):
        events = client.pull(asked.name, tag=asked.tag or "latest", stream=True, decode=True)
        moved = follow_transfer(_events(events), "cannot be pulled", tell, str(asked))
        found: dict[str, Any] = client.inspect_image(f"{asked.name}:{asked.tag or 'latest'}")  # type: ignore[no-untyped-call]
    listed = [one.partition("@") for one in found.get("RepoDigests") or ()]
    known = [digest for name, _, digest in listed if name == asked.name and is_digest(digest)]
    digest = moved.digest or (known[-1] if known else None)
    if digest is None:
        raise ImageRefused("nobody says by which digest it was pulled", where=str(asked))
    return digest


def _platform(found: dict[str, Any]) -> str:
    parts = (found.get("os"), found.get("architecture"), found.get("variant"))
    return "/".join(str(part).lower() for part in parts if part)


def _is_unknown_route(said: str) -> bool:
    return "manifest" not in said and "repository" not in said and "name unknown" not in said


def _events(events: Any) -> Iterator[dict[str, Any]]:
    """Pass on the events that are objects; podman ends its stream with an empty one."""
    for event in events:
        if isinstance(event, dict):
            yield event
