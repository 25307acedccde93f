"""The project's image: prepared on the host, built by the engine, looked into, pinned."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaibify_lab.core.errors import ImageRefused, NotPassed
from vaibify_lab.engines.image.build import Base, Built, Recipe, build_image, moved_since
from vaibify_lab.engines.image.inside import Expected, differences
from vaibify_lab.engines.image.registry import LocalImage, find_image, push
from vaibify_lab.engines.image.settings import ImageSettings
from vaibify_lab.engines.image.sources import Resolved
from vaibify_lab.envelope.lock import parse_lock
from vaibify_lab.runs.enveloping import read_environment
from vaibify_lab.runs.image_inputs import BuildAsked, Tell, Work, prepare
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.pinning import pin_image, pin_pushed

if TYPE_CHECKING:
    from docker import APIClient


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build made, and from what."""

    image_name: str
    config_digest: str
    registry_digest: str | None
    platform: str
    bases: tuple[Base, ...]
    sources: tuple[Resolved, ...]
    packages: int
    context_bytes: int
    seconds: float
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer of ``build``."""
        return {
            "image": self.image_name,
            "config_digest": self.config_digest,
            "registry_digest": self.registry_digest,
            "platform": self.platform,
            "bases": [{"name": one.name, "pinned": one.pinned} for one in self.bases],
            "sources": [
                {
                    "name": one.line.name,
                    "url": one.line.url,
                    "ref": one.line.ref,
                    "kind": one.kind,
                    "commit": one.commit,
                }
                for one in self.sources
            ],
            "packages": self.packages,
            "context_bytes": self.context_bytes,
            "seconds": round(self.seconds, 1),
            "warnings": list(self.warnings),
        }


def build_project(opened: Opened, client: APIClient, asked: BuildAsked, tell: Tell) -> BuildReport:
    """Build the project's image and pin it; with ``push``, push it and pin that too.

    Parameters
    ----------
    opened : Opened
        The repository.
    client : APIClient
        The engine.
    asked : BuildAsked
        How.
    tell : callable
        Told each line of progress.

    Raises
    ------
    InvalidFile
        vaibify.yml, container.conf, requirements.lock or Dockerfile asks for what cannot be.
    BuildFailed
        With the step, its last lines, and the package that pip refused.
    ImageRefused
        When the image does not hold what the lock lists; nothing is pinned then.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vaibify-build-") as folder:
        work = Work(opened, client, asked, tell, Path(folder))
        settings, recipe = prepare(work)
        name = f"{local_name(opened.project_file().name)}:latest"
        built = build_image(client, recipe, name, no_cache=asked.no_cache, tell=tell)
    count = _compare(work, built, settings)
    work.warnings += _moved(opened, client, recipe)
    pinned = pin_image(opened, name, built.image, built.inside, "built")
    if asked.push is not None:
        pinned = pin_pushed(opened, asked.push, push(client, built.image.id, asked.push, work.say))
    return BuildReport(
        image_name=pinned.image_name or name,
        config_digest=built.image.config_digest,
        registry_digest=pinned.registry_digest,
        platform=built.image.platform,
        bases=tuple(work.bases),
        sources=tuple(one.resolved for one in work.sources),
        packages=count,
        context_bytes=built.context_bytes,
        seconds=time.monotonic() - begun,
        warnings=tuple(work.warnings),
    )


def push_pinned(opened: Opened, client: APIClient, ref: str, tell: Callable[[str], None]) -> str:
    """Push the image that is pinned and return ``name@sha256:...``.

    Raises
    ------
    NotPassed
        When none is pinned.
    ImageRefused
        When this engine does not have it.
    """
    digest = push(client, pinned_here(opened, client).id, ref, tell)
    pin_pushed(opened, ref, digest)
    return digest


def pinned_here(opened: Opened, client: APIClient) -> LocalImage:
    """Return the pinned image as this engine has it.

    Raises
    ------
    NotPassed
        When none is pinned.
    ImageRefused
        When it is not here.
    """
    found = read_environment(opened)
    if found is None or found.config_digest is None:
        raise NotPassed("no image is pinned", action="jupyter vaibify build")
    for name in (found.config_digest, found.registry_digest, found.image_name):
        image = find_image(client, name) if name else None
        if image is not None and image.config_digest == found.config_digest:
            return image
    where = found.image_name or found.config_digest
    raise ImageRefused("the pinned image is not here", where=where, action="jupyter vaibify build")


def local_name(project: str) -> str:
    """Return the name that a project's image has on this machine."""
    plain = re.sub(r"[^a-z0-9]+", "-", project.lower()).strip("-")
    return f"vaibify/{plain or 'project'}"


def _compare(work: Work, built: Built, settings: ImageSettings) -> int:
    """Compare what the image holds with the lock; return how many packages were compared."""
    if work.lock is None:
        return 0
    expected = [
        Expected(one.name, one.version, one.marker)
        for one in parse_lock(work.lock, declared_none=True).packages
    ]
    folders = [f"{settings.workspace}/{one.resolved.line.destination}" for one in work.sources]
    found = differences(built.inside, expected, folders)
    wrong = [one.text for one in found if one.kind != "extra"]
    if wrong:
        text = f"the image does not hold what {LOCK} lists: {_some(wrong)}"
        raise ImageRefused(text, where=built.image.id, action="install it from the lock")
    if extra := [one.text for one in found if one.kind == "extra"]:
        work.warnings.append(f"the image holds more than {LOCK} lists: {_some(extra)}")
    return len(expected)


def _moved(opened: Opened, client: APIClient, recipe: Recipe) -> list[str]:
    """Say which names meant something else in the image that was pinned until now."""
    old = read_environment(opened)
    before = find_image(client, old.config_digest) if old and old.config_digest else None
    return list(moved_since(before, recipe.labels)) if before is not None else []


def _some(items: Sequence[str], most: int = 10) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
