"""Tier 2 inside the pinned image: it holds what the lock lists, and its own pip gets just that.

The network is on, the repository is not mounted, the place goes with the container. An sdist's own
code, which pip runs to read its metadata, runs there and never on the host.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaibify_lab.ceremony.report import TierProblem, TierReport, problem, some
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image.inside import (
    Difference,
    Expected,
    Inside,
    applies,
    differences,
    look_inside,
)
from vaibify_lab.engines.image.pip_words import fault_in
from vaibify_lab.engines.image.throwaway import Said, ask_image
from vaibify_lab.envelope.lock import NAME, Lock, LockedPackage

if TYPE_CHECKING:
    from docker import APIClient

_TIER = 2
VERIFIED = "hashes verified OK"
_REFUSED = "FAILED, pip of the pinned image refuses it"
_OTHERWISE = "FAILED, the pinned image does not hold what is listed"
SECONDS = 3600
_PLACE = "vaibify-tier2"
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_HASHES = """
import hashlib, json, os
found = {}
for name in os.listdir("got"):
    digest = hashlib.sha256()
    with open(os.path.join("got", name), "rb") as file:
        for piece in iter(lambda: file.read(2**20), b""):
            digest.update(piece)
    found[name] = [digest.hexdigest(), os.path.getsize(os.path.join("got", name))]
print(json.dumps(found))
"""
_SCRIPT = f"""
cd /{_PLACE} && export HOME=/{_PLACE} && mkdir got || exit 99
p=$(command -v python || command -v python3)
"$p" -m pip download --no-cache-dir --disable-pip-version-check --no-input --progress-bar off \\
  --retries 2 --timeout 30 --require-hashes -d got -r {NAME} >&2 || exit 1
"$p" -c "$1"
"""


def _silent(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class PinnedImage:
    """The pinned image, pulled already.

    Attributes
    ----------
    client : APIClient
        The engine that has it.
    id : str
        The image's Id there.
    tell : callable
        Told what goes on: how much may come first, then each line.
    """

    client: APIClient
    id: str
    tell: Callable[[str], None] = field(default=_silent)


Sizes = Callable[[Sequence[LockedPackage]], int | None]


def check_inside(
    lock: Lock, data: bytes, image: PinnedImage, sizes: Sizes
) -> tuple[TierReport | None, str]:
    """Compare what the image holds with the lock, and download the lock's packages inside it.

    Parameters
    ----------
    lock : Lock
        As read, without problems.
    data : bytes
        Its bytes, which pip gets.
    image : PinnedImage
        Where.
    sizes : callable
        Returns at most how many bytes the packages have, or None.

    Returns
    -------
    tuple
        The report; or None and why this cannot be done inside the image.
    """
    try:
        inside = look_inside(image.client, image.id)
        if inside.markers is None:
            return None, "the pinned image has no Python"
        wanted = [one for one in lock.packages if applies(one.marker, inside.markers)]
        if problems := list(_not_held(wanted, inside)):
            return _failed(wanted, problems, (), _OTHERWISE), ""
        if inside.pip is None:
            return None, "the pinned image has no pip"
        most = sizes(wanted)
        announced = _announced(most, inside.free_bytes)
        image.tell(announced)
        if most and inside.free_bytes is not None and most > inside.free_bytes:
            return TierReport(_TIER, "not-checkable", f"not checkable here: {announced}"), ""
        said = _download(image, data)
    except VaibifyError as error:
        return None, error.text
    return _report(lock, wanted, inside, said, announced)


def _download(image: PinnedImage, data: bytes) -> Said:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        place = tarfile.TarInfo(_PLACE)
        place.type, place.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(place)
        entry = tarfile.TarInfo(f"{_PLACE}/{NAME}")
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return ask_image(
        image.client,
        image.id,
        _SCRIPT,
        arguments=(_HASHES,),
        network=True,
        archive=("/", packed.getvalue()),
        seconds=SECONDS,
        tell=image.tell,
    )


def _report(
    lock: Lock, wanted: Sequence[LockedPackage], inside: Inside, said: Said, announced: str
) -> tuple[TierReport | None, str]:
    notes = tuple(_notes(lock, wanted, inside))
    if said.code != 0:
        lines = _COLOUR.sub("", said.err.decode("utf-8", "replace")).splitlines()
        fault = fault_in(lines)
        if fault is not None and fault.code == "no-network":
            return None, fault.text
        code = fault.code if fault else "pip-refused"
        text = fault.text if fault else f"pip says: {shown(' / '.join(lines[-4:]))[:600]}"
        return _failed(wanted, [problem(code, text, NAME)], notes), ""
    files = _files(said.out)
    problems = list(_not_there(wanted, {digest for digest, _ in files.values()}))
    if problems:
        return _failed(wanted, problems, notes), ""
    size = sum(size for _, size in files.values())
    plural = "" if len(files) == 1 else "s"
    done = f"{len(files)} file{plural}, {_megabytes(size)}, downloaded inside the pinned image"
    count = len(wanted)
    notes = (f"{done} ({announced})", *notes)
    return TierReport(_TIER, "passed", VERIFIED, count, count, warnings=notes), ""


def _failed(
    wanted: Sequence[LockedPackage],
    problems: Sequence[TierProblem],
    notes: tuple[str, ...],
    line: str = _REFUSED,
) -> TierReport:
    return TierReport(_TIER, "failed", line, len(wanted), 0, tuple(problems), notes)


def _not_held(wanted: Sequence[LockedPackage], inside: Inside) -> Iterator[TierProblem]:
    """Yield what the image holds otherwise; it was then not built from this lock."""
    for one in _differences(wanted, inside):
        if one.kind != "extra":
            yield problem("not-in-the-image", one.text, NAME)


def _differences(wanted: Sequence[LockedPackage], inside: Inside) -> Sequence[Difference]:
    """Compare; what was installed from a folder is a repository of container.conf."""
    expected = [Expected(one.name, one.version) for one in wanted]
    return differences(inside, expected, own_folders=("/",))


def _not_there(wanted: Sequence[LockedPackage], digests: set[str]) -> Iterator[TierProblem]:
    """Yield packages of which no file came that has one of their hashes: pip is not believed."""
    for one in wanted:
        if digests.isdisjoint(one.hashes):
            text = f"line {one.line}: no file of {one.name} {one.version} came with a listed hash"
            yield problem("not-downloaded", text, NAME)


def _files(out: bytes) -> Mapping[str, tuple[str, int]]:
    """Read the listing, which comes from an image that a stranger may have made."""
    try:
        value = json.loads(out)
    except ValueError:
        return {}
    items = value.items() if isinstance(value, dict) else ()
    return {name: (pair[0], pair[1]) for name, pair in items if _is_pair(pair)}


def _is_pair(pair: object) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and _SHA256.fullmatch(pair[0]) is not None
        and isinstance(pair[1], int)
    )


def _notes(lock: Lock, wanted: Sequence[LockedPackage], inside: Inside) -> Iterator[str]:
    markers = inside.markers or {}
    if left := len(lock.packages) - len(wanted):
        yield f"{left} of {len(lock.packages)} packages are for other platforms than the image's"
    python = markers.get("python_version")
    if lock.python is not None and lock.python != python:
        yield f"{NAME} is for Python {lock.python}; the pinned image has {shown(python or '')}"
    more = [one.text for one in _differences(wanted, inside) if one.kind == "extra"]
    if more:
        yield f"the pinned image holds more than is listed: {some(more)}"


def _announced(most: int | None, free: int | None) -> str:
    size = "an unknown number of bytes" if most is None else f"at most {_megabytes(most)}"
    room = "free space unknown" if free is None else f"{_megabytes(free)} free"
    return f"{size} to download, {room}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
