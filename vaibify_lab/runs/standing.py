"""What the steps of a run stand on: gathered once a run, asked of an image once for all runs."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING

from vaibify_lab.core.components import NONE, UNKNOWN, locale_of
from vaibify_lab.core.errors import CannotCheck, ImageRefused
from vaibify_lab.engines import machine
from vaibify_lab.engines.local.engine import LocalEngine

if TYPE_CHECKING:
    from docker import APIClient

    from vaibify_lab.engines.docker.engine import DockerEngine

_INSIDE = ("python", "libc", "locale", "tzdata", "cuda", "ld_preload")


def of_local(engine: LocalEngine) -> dict[str, str]:
    """Return what steps of the local engine stand on: this machine."""
    python = engine.python
    return {
        "lock": python.lock_hash or NONE,
        "image": NONE,
        "python": f"{platform.python_implementation()} {python.version}",
        "locale": locale_of(),
        **machine.system(preloads=engine.tier != "bwrap"),
        **machine.machine(),
    }


def of_image(
    client: APIClient, engine: DockerEngine, digest: str, lock: str | None
) -> dict[str, str]:
    """Return what steps in containers of an image stand on: it, and this machine's hardware.

    An image that cannot be asked runs its steps all the same; then what it would say is unknown.
    """
    found = {"lock": lock or NONE, "image": digest, **_inside(client, digest), **machine.machine()}
    kernel = str(engine.describe()["kernel"])
    if kernel and kernel not in found["kernel"].split():  # the engine's is a virtual machine's
        found["kernel"] = kernel
    return found


def _inside(client: APIClient, digest: str) -> Mapping[str, str]:
    from vaibify_lab.engines.image.remembered import inside_of

    try:
        inside = inside_of(client, digest)
    except (CannotCheck, ImageRefused):
        return dict.fromkeys(_INSIDE, UNKNOWN)
    return {
        "python": inside.python or NONE,
        "libc": inside.libc or UNKNOWN,
        "locale": locale_of(inside.locale),
        "tzdata": inside.tzdata or NONE,
        "cuda": inside.cuda,
        "ld_preload": inside.preload,
    }
