"""What the steps of a run stand on: gathered once a run, asked of an image once for all runs."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaibify_lab.core.components import NONE, UNKNOWN, locale_of
from vaibify_lab.core.errors import CannotCheck, ImageRefused
from vaibify_lab.engines import machine
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.engines.local.packages import installed
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.tree import Tree

if TYPE_CHECKING:
    from docker import APIClient

    from vaibify_lab.engines.docker.engine import DockerEngine
    from vaibify_lab.engines.image.inside import Inside

UTF8 = "C.UTF-8"
PACKAGES = f"{LOCAL}/packages"  # lists of packages, each under the hash of its content


@dataclass(frozen=True, slots=True)
class Standing:
    """The components, and the list of packages whose SHA-256 is one of them.

    ``locale`` is what deterministic mode can set: one of UTF-8 where there is one.
    """

    components: Mapping[str, str]
    packages: bytes = b""
    locale: str = UTF8

    def keep(self, tree: Tree) -> None:
        """Keep the list where `kept_packages` finds it."""
        place = _place(self.components["packages"])
        if place is not None and tree.lstat(place) is None:
            tree.write(place, self.packages)


def kept_packages(tree: Tree, sha256: str | None) -> bytes | None:
    """Return the list of packages of a run that was made here; None where it is not."""
    place = _place(sha256)
    if place is None or tree.lstat(place) is None:
        return None
    found = tree.read(place)
    return found if hashlib.sha256(found).hexdigest() == sha256 else None


def _place(sha256: str | None) -> str | None:
    return f"{PACKAGES}/{sha256}.txt" if sha256 and len(sha256) == 64 else None


_INSIDE = ("packages", "python", "libc", "locale", "tzdata", "cuda", "ld_preload")


def of_local(engine: LocalEngine) -> Standing:
    """Return what steps of the local engine stand on: this machine."""
    python = engine.python
    sha256, text = _listed(installed(python))
    return Standing(
        {
            "lock": python.lock_hash or NONE,
            "image": NONE,
            "packages": sha256,
            "python": f"{platform.python_implementation()} {python.version}",
            "locale": locale_of(),
            **machine.system(preloads=engine.tier != "bwrap"),
            **machine.machine(),
        },
        text,
        UTF8 if machine.has_utf8(engine.bash()) else "C",
    )


def of_image(client: APIClient, engine: DockerEngine, digest: str, lock: str | None) -> Standing:
    """Return what steps in containers of an image stand on: it, and this machine's hardware.

    An image that cannot be asked runs its steps all the same; then what it would say is unknown.
    """
    found = {"lock": lock or NONE, "image": digest, **machine.machine()}
    kernel = str(engine.describe()["kernel"])
    if kernel and kernel not in found["kernel"].split():  # the engine's is a virtual machine's
        found["kernel"] = kernel
    from vaibify_lab.engines.image.remembered import inside_of

    try:
        inside = inside_of(client, digest)
    except (CannotCheck, ImageRefused):
        return Standing({**found, **dict.fromkeys(_INSIDE, UNKNOWN)})
    sha256, text = _listed(inside.frozen)
    locale = UTF8 if inside.has_utf8 else "C"
    return Standing({**found, "packages": sha256, **_said(inside)}, text, locale)


def _said(inside: Inside) -> dict[str, str]:
    return {
        "python": inside.python or NONE,
        "libc": inside.libc or UNKNOWN,
        "locale": locale_of(inside.locale),
        "tzdata": inside.tzdata or NONE,
        "cuda": inside.cuda,
        "ld_preload": inside.preload,
    }


def _listed(lines: Sequence[str]) -> tuple[str, bytes]:
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return (hashlib.sha256(text).hexdigest() if lines else NONE), text
