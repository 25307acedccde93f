"""What an image holds, asked in a throw-away container without network."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from packaging.markers import Marker
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from vaibify_lab.core.components import NONE
from vaibify_lab.core.errors import ImageRefused
from vaibify_lab.core.paths import shown
from vaibify_lab.engines import machine
from vaibify_lab.engines.image.throwaway import ask_image

if TYPE_CHECKING:
    from docker import APIClient

INSTALLERS = frozenset({"pip", "setuptools", "wheel"})  # a virtual environment's own
_MOST = 20_000
_LONGEST = 4000
_PYTHON = r"""
import importlib.metadata as m, json, os, platform, sys
n = "{0.major}.{0.minor}.{0.micro}".format(sys.implementation.version)
found = []
for d in m.distributions():
    try:
        direct = json.loads(d.read_text("direct_url.json") or "{}").get("url", "")
    except ValueError:
        direct = ""
    found.append([d.metadata["Name"], d.version, direct])
print(json.dumps({"packages": found, "markers": {
    "implementation_name": sys.implementation.name, "implementation_version": n,
    "os_name": os.name, "platform_machine": platform.machine(),
    "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(), "platform_system": platform.system(),
    "platform_version": platform.version(), "python_full_version": platform.python_version(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform}}))
"""
_SCRIPT = r"""
say() { printf '\n%s %s\n' "$1" "$2"; }
mark=$1; p=$(command -v python || command -v python3)
say "$mark" os_release; cat /etc/os-release
say "$mark" gcc; gcc --version | head -n 1
say "$mark" libc; getconf GNU_LIBC_VERSION || ldd --version 2>&1 | head -n 1
say "$mark" locale; printf 'LANG=%s LC_ALL=%s' "$LANG" "$LC_ALL"
say "$mark" tzdata; head -n 1 /usr/share/zoneinfo/tzdata.zi || cat /usr/share/zoneinfo/+VERSION
say "$mark" utf8; LC_ALL=C.UTF-8 bash -c : 2>&1 && echo known
say "$mark" cuda; cat /usr/local/cuda/version.json /usr/local/cuda/version.txt
say "$mark" preload; printf '%s ' "$LD_PRELOAD"; cat /etc/ld.so.preload
say "$mark" free; df -Pk /tmp /
if [ -n "$p" ]; then
say "$mark" pip; "$p" -m pip --version
say "$mark" python; "$p" -c "$2"
say "$mark" frozen; "$p" -m pip freeze --all --disable-pip-version-check
fi
say "$mark" end
"""
QUESTION = _SCRIPT + _PYTHON  # what is asked of an image


@dataclass(frozen=True, slots=True)
class Package:
    """One installed distribution; ``url`` is where pip took it from, when not from an index."""

    name: str
    version: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Inside:
    """What an image holds. None where it does not say.

    Attributes
    ----------
    python, gcc, libc, os_release, locale, tzdata : str or None
        As the tools say of themselves.
    cuda, preload : str
        CUDA's version, and what is loaded before all other libraries; "none" where nothing is.
    has_utf8 : bool
        Its programs know the locale C.UTF-8.
    pip : str or None
        pip's version; None when there is no pip.
    packages : tuple of Package
    frozen : tuple of str
        The lines of ``pip freeze --all``, sorted; of ``packages`` where there is no pip.
    markers : mapping of str to str
        The environment in which a lock's markers hold there; empty without Python.
    free_bytes : int or None
        Free where a container writes.
    """

    python: str | None = None
    gcc: str | None = None
    libc: str | None = None
    os_release: str | None = None
    locale: str | None = None
    tzdata: str | None = None
    cuda: str = NONE
    preload: str = NONE
    has_utf8: bool = True
    pip: str | None = None
    packages: tuple[Package, ...] = ()
    frozen: tuple[str, ...] = ()
    markers: Mapping[str, str] | None = None
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """One package of requirements.lock; the version is empty when it comes from a URL."""

    name: str
    version: str
    marker: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One package that the image holds otherwise than the lock says."""

    kind: Literal["missing", "other-version", "extra"]
    package: str
    text: str


def look_inside(client: APIClient, image: str) -> Inside:
    """Ask an image what it holds.

    Raises
    ------
    ImageRefused, CannotCheck
    """
    mark = f"--{secrets.token_hex(8)}--"
    said = ask_image(client, image, _SCRIPT, arguments=(mark, _PYTHON))
    parts = _sections(said.out.decode("utf-8", "replace"), mark)
    if "end" not in parts:
        words = shown((said.err + said.out).decode("utf-8", "replace").strip())[:200]
        raise ImageRefused(f"cannot be run here: {words or f'exit {said.code}'}", where=image)
    described = _described(parts.get("python", ""))
    markers = described.get("markers", {})
    packages = tuple(_packages(described))
    return Inside(
        python=_python(markers),
        gcc=_text(parts, "gcc"),
        libc=_text(parts, "libc"),
        os_release=parts.get("os_release", "").strip()[:60_000] or None,
        locale=_text(parts, "locale"),
        tzdata=_text(parts, "tzdata"),
        cuda=machine.cuda(parts.get("cuda", "")),
        has_utf8=parts.get("utf8", "").split() == ["known"],
        preload=machine.preload(parts.get("preload", "")),
        pip=(_text(parts, "pip") or "  ").split(" ")[1] or None,
        packages=packages,
        frozen=_frozen(parts.get("frozen", ""), packages),
        markers=markers or None,
        free_bytes=_free(parts.get("free", "")),
    )


def differences(
    inside: Inside, expected: Sequence[Expected], own_folders: Sequence[str] = ()
) -> tuple[Difference, ...]:
    """Compare what an image holds with a lock.

    Parameters
    ----------
    inside : Inside
        What the image said.
    expected : sequence of Expected
        What the lock lists.
    own_folders : sequence of str
        Container paths of container.conf's repositories: what comes from there is expected too.
    """
    held = {canonicalize_name(one.name): one for one in inside.packages}
    wanted = {one.name: one for one in expected if applies(one.marker, inside.markers or {})}
    found = [_compared(one, held.get(canonicalize_name(one.name))) for one in wanted.values()]
    places = tuple(f"file://{folder.rstrip('/')}" for folder in own_folders)
    extra = [
        Difference("extra", name, f"{name} {shown(one.version)} is not in the lock")
        for name, one in sorted(held.items())
        if name not in wanted and name not in INSTALLERS and not _is_at(one.url, places)
    ]
    return (*(one for one in found if one is not None), *extra)


def applies(marker: str | None, environment: Mapping[str, str]) -> bool:
    """Tell whether a line of a lock holds in an image."""
    return marker is None or Marker(marker).evaluate({**environment, "extra": ""})


def _compared(wanted: Expected, held: Package | None) -> Difference | None:
    name = f"{wanted.name} {wanted.version}".strip()
    if held is None:
        return Difference("missing", wanted.name, f"{name} is not in the image")
    if not wanted.version or _same(wanted.version, held.version):
        return None
    text = f"{name}: the image has {shown(held.version)}"
    return Difference("other-version", wanted.name, text)


def _same(one: str, other: str) -> bool:
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def _is_at(url: str, places: tuple[str, ...]) -> bool:
    return any(url == place or url.startswith(f"{place}/") for place in places)


def _sections(text: str, mark: str) -> dict[str, str]:
    found = {}
    for part in text.split(f"\n{mark} ")[1:]:
        name, _, content = part.partition("\n")
        found[name] = content
    return found


def _described(text: str) -> dict[str, Any]:
    """Read what Python printed: an image made by a stranger may print anything."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    markers = value.get("markers") if isinstance(value, dict) else None
    if not isinstance(markers, dict) or not all(isinstance(one, str) for one in markers.values()):
        return {}
    return dict(value)


def _packages(described: Mapping[str, Any]) -> Iterator[Package]:
    listed = described.get("packages")
    for item in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(item, list) and len(item) == 3 and all(isinstance(x, str) for x in item):
            yield Package(*(text[:_LONGEST] for text in item))


def _frozen(text: str, packages: Sequence[Package]) -> tuple[str, ...]:
    """Return the lines that pip wrote, else the same from what Python itself finds."""
    lines = [shown(line.strip())[:_LONGEST] for line in text.splitlines() if line.strip()]
    if not lines:
        found = {(canonicalize_name(one.name), one.version, one.url) for one in packages}
        lines = [
            shown(f"{name} @ {url}" if url else f"{name}=={version}")
            for name, version, url in found
        ]
    return tuple(sorted(lines[:_MOST]))


def _python(markers: Mapping[str, str]) -> str | None:
    kind = markers.get("platform_python_implementation", "")
    version = markers.get("python_full_version", "")
    return shown(f"{kind} {version}".strip())[:_LONGEST] or None


def _text(parts: Mapping[str, str], name: str) -> str | None:
    lines = parts.get(name, "").strip().splitlines()
    return shown(lines[0].strip())[:_LONGEST] or None if lines else None


def _free(text: str) -> int | None:
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) >= 6 and words[3].isdecimal():
            return int(words[3]) * 1024
    return None
