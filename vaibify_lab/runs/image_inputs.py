"""What a project's image is made from: its lock, its bases, its repositories, its Dockerfile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image import dockerfile
from vaibify_lab.engines.image.build import Base, Recipe, labels_of, resolve_base
from vaibify_lab.engines.image.build_tools import build_tools, lacking
from vaibify_lab.engines.image.container_conf import PATH as CONTAINER_CONF
from vaibify_lab.engines.image.container_conf import parse_container_conf
from vaibify_lab.engines.image.context import LARGEST_FILE, wanted_files
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.settings import ImageSettings, read_settings
from vaibify_lab.engines.image.sources import Exported, export, resolve
from vaibify_lab.engines.image.stream import BuildLine
from vaibify_lab.envelope.lock import Lock, parse_lock
from vaibify_lab.files.git import Repository
from vaibify_lab.files.own import read_own
from vaibify_lab.runs.enveloping import SOURCES, write_lock
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened

if TYPE_CHECKING:
    from docker import APIClient

Tell = Callable[[BuildLine], None]


@dataclass(frozen=True, slots=True)
class BuildAsked:
    """What a build is asked for; ``base_image`` stands in for vaibify.yml's."""

    base_image: str | None = None
    no_cache: bool = False
    push: str | None = None


@dataclass(slots=True)
class Work:
    """A build in the making."""

    opened: Opened
    client: APIClient
    asked: BuildAsked
    tell: Tell
    folder: Path
    bases: list[Base] = field(default_factory=list)
    sources: list[Exported] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lock: bytes | None = None

    def say(self, text: str) -> None:
        """Say what is done before the first step."""
        self.tell(BuildLine(0, 0, text))

    def base(self, name: str) -> Base:
        """Resolve a base image and keep it for the report."""
        self.say(f"asking for the base image {name}")
        base = resolve_base(self.client, name, self.say)
        self.bases.append(base)
        if base.warning:
            self.warnings.append(base.warning)
        return base


def prepare(work: Work) -> tuple[ImageSettings, Recipe]:
    """Gather all that goes into the build; nothing is built yet."""
    opened, tree = work.opened, work.opened.tree
    value = opened.project_file().value
    own = tree.lstat(dockerfile.NAME) is not None
    settings = read_settings(value, base=work.asked.base_image)
    base = None if own else work.base(settings.base)
    work.lock = _lock(work, base)
    lock = None if work.lock is None else _usable_lock(work.lock)
    settings = read_settings(
        value, base=work.asked.base_image, lock_python=lock.python if lock else None
    )
    work.warnings += settings.warnings
    _take_sources(work)
    resolved = [one.resolved for one in work.sources]
    if base is None:
        text, files = _own(work)
    else:
        files = {LOCK: work.lock} if work.lock is not None else {}
        text = dockerfile.write_dockerfile(
            settings,
            base.pinned,
            resolved,
            with_lock=work.lock is not None,
            built_with_lock=_built_with_lock(work, lock, settings.python),
        )
    digest = hashlib.sha256(work.lock).hexdigest() if work.lock is not None else None
    labels = labels_of(work.bases, resolved, digest)
    return settings, Recipe(text, files, tuple(work.sources), labels)


def _lock(work: Work, base: Base | None) -> bytes | None:
    """Return the lock, made where there is none or its source changed; None where none is needed.

    It is made for the Python that the base image has, where vaibify.yml does not say.
    """
    opened = work.opened
    paths = opened.workflow_paths()
    if paths and all(opened.workflow(path).no_python_packages for path in paths):
        return None
    there = read_own(opened.tree, LOCK) if opened.tree.lstat(LOCK) is not None else None
    source = next((one for one in SOURCES if opened.tree.lstat(one) is not None), None)
    stale = False
    if there is not None and source is not None:
        stale = parse_lock(there).matches_source(read_own(opened.tree, source)) is False
    if there is not None and not stale:
        return there
    why = f"{source} changed since it was made" if stale else "there is none"
    work.say(f"making {LOCK}: {why}")
    python = None
    if base is not None and opened.project_file().python_version is None:
        markers = look_inside(work.client, base.image.id).markers or {}
        python = markers.get("python_version")
    write_lock(opened, work.say, python_version=python)
    return opened.tree.read(LOCK)


def _usable_lock(data: bytes) -> Lock:
    lock = parse_lock(data, declared_none=True)
    for problem in lock.problems:
        where = f"{LOCK}, line {problem.line}" if problem.line else LOCK
        action = "jupyter vaibify envelope --only lock"
        raise InvalidFile(problem.text, where=where, action=action)
    return lock


def _take_sources(work: Work) -> None:
    """Resolve and export the repositories of container.conf."""
    tree = work.opened.tree
    if tree.lstat(CONTAINER_CONF) is None:
        return
    project = work.opened.project_file().name
    asking = work.folder / "asking"
    asking.mkdir()
    place = Repository.make(asking)
    for line in parse_container_conf(read_own(tree, CONTAINER_CONF)):
        if line.destination.split("/")[0] == project:
            text = f"destination: {line.destination} lies where the project itself is"
            raise InvalidFile(text, where=line.where)
        found = export(resolve(place, line), work.folder, work.say)
        work.sources.append(found)
        work.warnings += found.warnings
        if found.resolved.moves:
            text = f"{line.where}: {line.ref} is a branch of {line.name}, which moves"
            work.warnings.append(f"{text}; this image has {found.resolved.commit}")
        if line.is_of_this_machine:
            text = f"{line.where}: {line.name} is a folder of this machine"
            work.warnings.append(f"{text}: nobody else can build this image")


def _built_with_lock(work: Work, lock: Lock | None, python: str | None) -> list[str]:
    """Return which repositories are built with the lock's packages; say what the others fetch."""
    packages = lock.packages if lock else ()
    locked = {one.name: one.version for one in packages if one.marker is None}
    found = []
    for one in work.sources:
        tools = build_tools(one.tar) if one.resolved.installs else ()
        fetched = lacking(tools, locked, python)
        if fetched:
            line = one.resolved.line
            text = f"{line.where}: to build {line.name}, pip fetches {', '.join(fetched)}"
            how = "listed in requirements.in too, it comes from the lock"
            work.warnings.append(f"{shown(text)} without a hash; {how}")
        elif tools:
            found.append(one.resolved.line.name)
    return found


def _own(work: Work) -> tuple[str, dict[str, bytes]]:
    """Return the project's own Dockerfile with fixed bases, and the files that it copies."""
    tree = work.opened.tree
    try:
        text = tree.read(dockerfile.NAME, 2**20).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidFile("is not UTF-8", where=dockerfile.NAME) from None
    pinned, warnings = dockerfile.pin_bases(text, lambda name: work.base(name).pinned)
    work.warnings += warnings
    tracked = {*work.opened.repository.snapshot().index}
    tracked |= {LOCK} if work.lock is not None else set()
    wanted = wanted_files(dockerfile.copied_paths(text), sorted(tracked))
    return pinned, {path: tree.read(path, LARGEST_FILE) for path in wanted}
