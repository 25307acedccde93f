"""The pinned image in .vaibify/environment.json, and that file's line in the manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal

from vaibify_lab.core.errors import NotPassed
from vaibify_lab.engines.image.inside import Inside
from vaibify_lab.engines.image.registry import LocalImage
from vaibify_lab.envelope import environment
from vaibify_lab.envelope.environment import EnvironmentFile, SystemTools
from vaibify_lab.envelope.manifest import format_manifest
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.runs.enveloping import MANIFEST, read_environment, write_environment
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Opened

Origin = Literal["pulled", "built"]


def pin_image(
    opened: Opened, name: str, image: LocalImage, inside: Inside, origin: Origin
) -> EnvironmentFile:
    """Pin an image: what it is, its platform and its tools; written only when something changed.

    A registry digest stays only as long as the image is the one that has it. The lock that is here
    now is the one that the image goes with: it was built from it.
    """
    old = read_environment(opened) or EnvironmentFile()
    same = old.config_digest == image.config_digest
    kept = old.registry_digest if same else None
    new = dataclasses.replace(
        old,
        image_name=old.image_name if kept else name,
        config_digest=image.config_digest,
        registry_digest=kept,
        platform=image.platform,
        origin=old.origin if kept else origin,
        lock_sha256=hash_many(opened.tree, [LOCK])[LOCK].sha256,
        system_tools=dataclasses.replace(_tools(inside), unknown=old.system_tools.unknown),
    )
    return _write(opened, old, new)


def pin_pushed(opened: Opened, name: str, registry_digest: str) -> EnvironmentFile:
    """Record by which digest others pull the image that is pinned.

    Raises
    ------
    NotPassed
        When none is pinned.
    """
    old = read_environment(opened)
    if old is None or old.config_digest is None:
        raise NotPassed("no image is pinned, so none was pushed", action="jupyter vaibify build")
    new = dataclasses.replace(
        old, image_name=name, registry_digest=registry_digest, origin="pushed"
    )
    return _write(opened, old, new)


def _tools(inside: Inside) -> SystemTools:
    return SystemTools(
        python=inside.python,
        gcc=inside.gcc,
        libc=inside.libc,
        os_release=inside.os_release,
        locale=inside.locale,
        tzdata=inside.tzdata,
    )


def _write(opened: Opened, old: EnvironmentFile, new: EnvironmentFile) -> EnvironmentFile:
    if new != old:
        opened.tree.write(environment.NAME, new.to_bytes())
    written = write_environment(opened)
    refresh_lines(opened, (environment.NAME, LOCK))
    return written


def refresh_lines(opened: Opened, paths: Iterable[str]) -> None:
    """Bring the lines of these files in the manifest up to date, and no other line.

    A manifest that is not there, or that its reader refuses, is left as it is.
    """
    manifest = opened.manifest()
    if manifest is None or manifest.problems:
        return
    listed = {entry.path: entry.sha256 for entry in manifest.entries}
    now = hash_many(opened.tree, list(paths))
    fresh = {path: state.sha256 for path, state in now.items() if state.sha256 is not None}
    if any(listed.get(path) != sha256 for path, sha256 in fresh.items()):
        opened.tree.write(MANIFEST, format_manifest({**listed, **fresh}))
