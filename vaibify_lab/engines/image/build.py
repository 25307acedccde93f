"""An image built by the engine from a context of ours, and what came out of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, cast

from vaibify_lab.core.errors import ImageRefused, RegistryUnreachable
from vaibify_lab.engines.image.client import asking
from vaibify_lab.engines.image.context import write_context
from vaibify_lab.engines.image.dockerfile import NAME
from vaibify_lab.engines.image.inside import Inside, look_inside
from vaibify_lab.engines.image.reference import short
from vaibify_lab.engines.image.registry import LocalImage, find_image, local_image, pull_tag
from vaibify_lab.engines.image.sources import Exported, Resolved
from vaibify_lab.engines.image.stream import Tell, follow_build

if TYPE_CHECKING:
    from docker import APIClient

BASE_NAME = "org.opencontainers.image.base.name"
BASE_DIGEST = "org.opencontainers.image.base.digest"
SOURCES = "vaibify.sources"
LOCK = "vaibify.lock"
_IN_MEMORY = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Base:
    """A base image as it is now.

    Attributes
    ----------
    name : str
        As a person names it.
    pinned : str
        What FROM names: ``name@sha256:...``, or the Id of an image that only this machine has.
    image : LocalImage
    warning : str or None
        Why others could not build the same.
    """

    name: str
    pinned: str
    image: LocalImage
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that goes into a build. ``files`` are those of the context beside Dockerfile."""

    dockerfile: str
    files: Mapping[str, bytes]
    sources: tuple[Exported, ...]
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made."""

    image: LocalImage
    inside: Inside
    context_bytes: int


def resolve_base(client: APIClient, name: str, tell: Callable[[str], None]) -> Base:
    """Return what a base image's name is now: the registry's answer, pulled by digest.

    Where the registry does not answer or has no such image, one of that name that is here is
    taken, and that is said.

    Raises
    ------
    RegistryUnreachable, ImageRefused
        When there is none here either.
    """
    try:
        pulled = pull_tag(client, name, tell)
        return Base(name, pulled.reference, pulled.image)
    except (RegistryUnreachable, ImageRefused) as error:
        here = find_image(client, name)
        if here is None:
            error.action = "name a base image that can be had here: baseImage, or --base-image"
            raise
        why = " ".join(error.text.split())[:200]
        text = f"the base image {name} is this machine's own ({short(here.id)}): {why}"
        return Base(name, here.id, here, f"{text}; others cannot build on it")


def labels_of(
    bases: Sequence[Base], sources: Sequence[Resolved], lock_sha256: str | None
) -> dict[str, str]:
    """Return the labels that record what an image was made from."""
    listed = [
        {"name": s.line.name, "url": s.line.url, "ref": s.line.ref, "commit": s.commit}
        for s in sources
    ]
    found = {SOURCES: json.dumps(listed, sort_keys=True)}
    if bases:
        found[BASE_NAME] = bases[-1].name
        found[BASE_DIGEST] = bases[-1].pinned.rpartition("@")[2]
    if lock_sha256:
        found[LOCK] = lock_sha256
    return found


def build_image(
    client: APIClient, recipe: Recipe, tag: str, *, no_cache: bool = False, tell: Tell
) -> Built:
    """Build an image and look into it.

    ``tag`` is the local name that it gets; ``tell`` is told each line.

    Raises
    ------
    BuildFailed
        With the step, its last lines, and the package that pip refused.
    CannotCheck
        When the engine goes away.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        file = cast(IO[bytes], spool)
        files = {**recipe.files, NAME: recipe.dockerfile.encode("utf-8")}
        size = write_context(file, files, recipe.sources)
        with asking("the image cannot be built"):
            events = client.build(
                fileobj=file,
                custom_context=True,
                dockerfile=NAME,
                tag=tag,
                nocache=no_cache,
                labels=dict(recipe.labels),
                rm=True,
                forcerm=True,
                decode=True,
            )
            made = follow_build(cast("Iterator[Mapping[str, Any]]", events), tell)
    image = local_image(client, made or tag)
    return Built(image, look_inside(client, image.id), size)


def moved_since(before: LocalImage, labels: Mapping[str, str]) -> Iterator[str]:
    """Say which names mean something else than when an earlier image was built."""
    old = before.label
    name, was, now = labels.get(BASE_NAME), old.get(BASE_DIGEST), labels.get(BASE_DIGEST)
    if name is not None and old.get(BASE_NAME) == name and was and now and was != now:
        yield f"the base image {name} moved: it is {short(now)} now and was {short(was)}"
    earlier = {(one["url"], one["ref"]): one["commit"] for one in _sources(old)}
    for one in _sources(labels):
        commit = earlier.get((one["url"], one["ref"]))
        if commit is not None and commit != one["commit"]:
            text = f"{one['name']}: {one['ref']} moved"
            yield f"{text}: it is {one['commit'][:12]} now and was {commit[:12]}"


def _sources(labels: Mapping[str, str]) -> list[dict[str, str]]:
    """Read our own label, which an image of somebody else may hold otherwise."""
    try:
        listed = json.loads(labels.get(SOURCES, "[]"))
    except ValueError:
        return []
    keys = {"name", "url", "ref", "commit"}
    items = listed if isinstance(listed, list) else []
    return [
        {key: str(one[key]) for key in keys}
        for one in items
        if isinstance(one, dict) and keys <= one.keys()
    ]
