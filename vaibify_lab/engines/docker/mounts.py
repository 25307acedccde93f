"""What of the host a step's container sees, and that nothing else got in its place."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.core.paths import PROTECTED, is_within, shown
from vaibify_lab.engines.base import Launch
from vaibify_lab.engines.docker.inspected import Container, Mount
from vaibify_lab.files.descent import Descent, look

WORKSPACE = "/workspace"
EXCHANGE = "/vaibify-exchange"
PREAMBLE = "/vaibify-preamble"
TEMPORARY = "/tmp"  # noqa: S108  the step's own
LASTING = "/var/tmp"  # noqa: S108  the step's own
Identity = tuple[int, int]


def seen_at(project_name: str) -> str:
    """Return where a step sees the project."""
    return f"{WORKSPACE}/{project_name}"


def mounts_of(launch: Launch, scratch: Path) -> tuple[Mount, ...]:
    """Return a step's mounts: the project, what may be written of it, what never may.

    Parameters
    ----------
    launch : Launch
        Vetted; paths of the host without links.
    scratch : Path
        Holds ``tmp`` and ``var-tmp``.
    """
    tree, place = str(launch.tree), seen_at(launch.project_name)
    mounts = [Mount(place, tree, "" in launch.writable)]
    mounts += [Mount(f"{place}/{path}", f"{tree}/{path}", False) for path in _below(launch)]
    mounts += [Mount(f"{place}/{path}", f"{tree}/{path}", True) for path in launch.writable if path]
    mounts += [
        Mount(f"{place}/{path}", str(source), False) for path, source in launch.read_only.items()
    ]
    mounts += [
        Mount(f"{place}/{name}", f"{tree}/{name}", False)
        for name in PROTECTED
        if os.path.exists(f"{tree}/{name}") and not os.path.islink(f"{tree}/{name}")
    ]
    mounts += [
        Mount(TEMPORARY, f"{scratch}/tmp", True),  # noqa: S108  no shared one
        Mount(LASTING, f"{scratch}/var-tmp", True),
    ]
    if launch.exchange is not None:
        mounts.append(Mount(EXCHANGE, str(launch.exchange), True))
    if launch.preamble is not None:
        mounts.append(Mount(PREAMBLE, str(launch.preamble), False))
    return tuple(sorted({one.target: one for one in mounts}.values()))


def identities(mounts: Iterable[Mount]) -> dict[str, Identity]:
    """Return (device, inode) of each source, each component opened without following a link.

    Raises
    ------
    UnsafePath
        A link is on the way to one.
    MissingFile
        One is not there.
    """
    found = {}
    with Descent(Path("/")) as descent:
        for source in sorted({one.source for one in mounts}):
            found[source] = _identity(descent, source)
    return found


def require_same(before: Mapping[str, Identity], mounts: Iterable[Mount]) -> None:
    """Look again: each source must be what it was.

    Raises
    ------
    UnsafePath
    """
    now = identities(mounts)
    for source, identity in before.items():
        if now[source] != identity:
            text = "was put in the place of another while the step was being started"
            raise UnsafePath(text, where=shown(source), action="run the step again")


def require_asked(container: Container, mounts: Iterable[Mount], image: str) -> None:
    """Compare what the engine made with what was asked of it.

    Raises
    ------
    UnsafePath
        A folder of the host is mounted otherwise than asked, or a volume lies in the project.
    """
    asked = frozenset(mounts)
    for one in sorted(asked ^ container.mounts):
        how = "asked and not made" if one in asked else "made and not asked"
        mode = "writable" if one.writable else "read-only"
        text = f"this mount of the step's container ({mode}, at {shown(one.target)}) was {how}"
        raise UnsafePath(text, where=shown(one.source))
    for target in container.volumes:
        if is_within(target, WORKSPACE) or is_within(WORKSPACE, target):
            text = f"the image keeps a volume at {shown(target)}, which would hide the project"
            raise UnsafePath(text, where=image, action="take VOLUME out of its Dockerfile")


def _below(launch: Launch) -> list[str]:
    """Return other file systems mounted inside the project.

    An engine before version 25 leaves them writable below a read-only mount, so each is laid
    read-only by itself.
    """
    if "" in launch.writable:
        return []
    top = os.fsencode(launch.tree) + b"/"
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    points = {_unescaped(line.split(b" ")[4]) for line in lines}
    below = sorted(os.fsdecode(one[len(top) :]) for one in points if one.startswith(top))
    return [one for one in below if not any(is_within(one, path) for path in launch.writable)]


def _unescaped(field: bytes) -> bytes:
    for character in b" \t\n\\":
        field = field.replace(b"\\%03o" % character, bytes([character]))
    return field


def _identity(descent: Descent, source: str) -> Identity:
    parent, _, name = source.strip("/").rpartition("/")
    try:
        status = look(descent.enter(parent), name) if name else os.stat("/")
    except FileNotFoundError:
        raise MissingFile("is not there; a step needs it", where=shown(source)) from None
    except OSError as error:
        text = f"cannot be reached without a link: {error.strerror}"
        raise UnsafePath(text, where=shown(source)) from None
    if stat.S_ISLNK(status.st_mode):
        raise UnsafePath("is a symbolic link", where=shown(source))
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        raise UnsafePath("is neither a folder nor a regular file", where=shown(source))
    return status.st_dev, status.st_ino
