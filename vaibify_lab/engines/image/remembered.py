"""What images said of themselves, remembered: an image is its digest, so it says the same again."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.engines.image.inside import QUESTION, Inside, Package, look_inside
from vaibify_lab.files.cachefile import cache_folder, load_cache, save_cache

if TYPE_CHECKING:
    from docker import APIClient


def inside_of(client: APIClient, digest: str) -> Inside:
    """Return what the image of a config digest holds; it is asked once.

    Raises
    ------
    ImageRefused, CannotCheck
        See `look_inside`.
    """
    label = f"inside\0{digest}\0{QUESTION}"
    name = hashlib.sha256(label.encode()).hexdigest()[:16]
    place = cache_folder() / "vaibify_lab" / "images" / name
    found = _parse(load_cache(place, label))
    if found is None:
        found = look_inside(client, digest)
        save_cache(place, label, [jsonio.dumps(asdict(found))])
    return found


def _parse(body: bytes | None) -> Inside | None:
    try:
        value: dict[str, Any] = jsonio.loads(body or b"", "what an image said")
        packages = tuple(Package(**one) for one in value.pop("packages"))
        frozen = tuple(value.pop("frozen"))
        return Inside(**value, packages=packages, frozen=frozen)
    except (InvalidFile, TypeError, KeyError):
        return None
