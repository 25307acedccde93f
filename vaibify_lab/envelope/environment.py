""".vaibify/environment.json: the pinned layers below Python, and nothing else.

The JSON keys are those of the requirement documents; this module is the border where they become
plain names. What is wrong in the file is named by its key and what was expected there. A JSON
Schema beside the package's other schemas says the same for editors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile, LaterFormat

NAME = ".vaibify/environment.json"
FORMAT = "vaibify-lab/environment/1"
ORIGINS = ("pulled", "built", "pushed")
LATEST_EPOCH = 253402300799  # the last second of the year 9999
_REMEDY = (
    f"git checkout -- {NAME}, or remove it and: jupyter vaibify build (without an image: "
    "jupyter vaibify envelope)"
)
_LATER = re.compile(r"vaibify-lab/environment/([1-9][0-9]{0,8})")
_HEX = r"[0-9a-f]{64}"
_PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_REGISTRY = rf"(?:[A-Za-z0-9.-]+(?::[0-9]{{1,5}})?/)?{_PART}(?:/{_PART})*@sha256:{_HEX}"
_DIGEST_TEXT = "'sha256:' and 64 lower-case hex digits"


@dataclass(frozen=True, slots=True)
class SystemTools:
    """What the container's own tools say of themselves; None where one is absent or not asked."""

    python: str | None = None
    gcc: str | None = None
    libc: str | None = None
    os_release: str | None = None
    locale: str | None = None
    tzdata: str | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostBinary:
    """A program outside the container: path as declared, SHA-256, first line of ``--version``."""

    path: str
    sha256: str
    version: str | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EnvironmentFile:
    """The pinned environment. Everything about the image is None while there is no engine.

    Attributes
    ----------
    image_name : str or None
        As a person calls it (``python:3.11``); pins nothing.
    config_digest : str or None
        ``sha256:`` and 64 hex digits.
    registry_digest : str or None
        ``name@sha256:...``, by which others pull it; None for an image that was never pushed.
    platform : str or None
        ``linux/amd64``.
    origin : str or None
        ``pulled``, ``built`` or ``pushed``.
    source_date_epoch : int or None
        Seconds since 1970.
    lock_sha256 : str or None
        Of requirements.lock.
    unknown : mapping
        Keys of others, kept as they are.
    """

    image_name: str | None = None
    config_digest: str | None = None
    registry_digest: str | None = None
    platform: str | None = None
    origin: str | None = None
    system_tools: SystemTools = SystemTools()
    host_binaries: tuple[HostBinary, ...] = ()
    source_date_epoch: int | None = None
    lock_sha256: str | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the file: sorted keys, two spaces, final newline."""
        document = {**self.unknown, "sFormat": FORMAT}
        document |= {key: getattr(self, name) for key, (name, _) in _TOP.items()}
        document["dictSystemTools"] = _written(self.system_tools, _TOOLS)
        document["listHostBinaries"] = [_written(one, _BINARY) for one in self.host_binaries]
        return jsonio.dumps(document)


def parse_environment(data: bytes, where: str = NAME) -> EnvironmentFile:
    """Read environment.json.

    Raises
    ------
    InvalidFile
        Naming the key and what was expected.
    LaterFormat
        For a file of a later version; it is left as it is.
    """
    try:
        return _parsed(data, where)
    except InvalidFile as error:
        if error.action is not None:
            raise
        raise InvalidFile(error.text, where=error.where, action=_REMEDY) from None


def _parsed(data: bytes, where: str) -> EnvironmentFile:
    document = jsonio.loads(data, where)
    if not isinstance(document, dict):
        raise InvalidFile("expected a JSON object", where=where)
    _require_format(document, where)
    known = {*_TOP, "sFormat", "dictSystemTools", "listHostBinaries"}
    values = _read(document, _TOP, where)
    tools = _mapping(document, "dictSystemTools", where)
    binaries = _list(document, "listHostBinaries", where)
    return EnvironmentFile(
        **values,
        system_tools=SystemTools(**_read(tools, _TOOLS, where), unknown=_rest(tools, {*_TOOLS})),
        host_binaries=tuple(_read_binary(item, where) for item in binaries),
        unknown=_rest(document, known),
    )


def _require_format(document: dict[str, Any], where: str) -> None:
    found = document.get("sFormat")
    if found == FORMAT:
        return
    later = _LATER.fullmatch(found) if isinstance(found, str) else None
    if later and int(later[1]) > 1:
        text = f"is of a later format ({found}) than this version reads"
        raise LaterFormat(text, where=where, action="update vaibify_lab")
    raise InvalidFile(f'sFormat: expected "{FORMAT}"', where=where)


def _mapping(document: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidFile(f"{key}: expected an object or null", where=where)
    return value


def _list(document: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise InvalidFile(f"{key}: expected a list", where=where)
    return value


def _read_binary(item: Any, where: str) -> HostBinary:
    if not isinstance(item, dict):
        raise InvalidFile("listHostBinaries: expected objects", where=where)
    values = _read(item, _BINARY, where)
    for key in ("sPath", "sSha256"):
        if item.get(key) is None:
            raise InvalidFile(f"listHostBinaries: {key}: expected a string", where=where)
    return HostBinary(**values, unknown=_rest(item, {*_BINARY}))


def _read(document: Mapping[str, Any], keys: _Keys, where: str) -> dict[str, Any]:
    found = {}
    for key, (name, check) in keys.items():
        value = document.get(key)
        if value is not None and (expected := check(value)) is not None:
            raise InvalidFile(f"{key}: expected {expected} or null", where=where)
        found[name] = int(value) if isinstance(value, float) else value
    return found


def _rest(document: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in known}


def _written(record: SystemTools | HostBinary, keys: _Keys) -> dict[str, Any]:
    return {**record.unknown, **{key: getattr(record, name) for key, (name, _) in keys.items()}}


_Check = Callable[[Any], str | None]
_Keys = Mapping[str, tuple[str, _Check]]


def _text(longest: int) -> _Check:
    expected = f"a string of 1 to {longest} characters"
    return lambda value: None if isinstance(value, str) and 1 <= len(value) <= longest else expected


def _pattern(pattern: str, expected: str) -> _Check:
    compiled = re.compile(pattern)
    return lambda value: None if isinstance(value, str) and compiled.fullmatch(value) else expected


def _epoch(value: Any) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 <= value <= LATEST_EPOCH and value == int(value):
        return None
    return "seconds since 1970, a whole number"


_TOP: _Keys = {
    "sImageName": ("image_name", _text(512)),
    "sConfigDigest": ("config_digest", _pattern(f"sha256:{_HEX}", _DIGEST_TEXT)),
    "sRegistryDigest": (
        "registry_digest",
        _pattern(_REGISTRY, f"name@sha256:... ({_DIGEST_TEXT}; no tag)"),
    ),
    "sPlatform": ("platform", _pattern(r"[a-z0-9]+/[a-z0-9_]+(?:/[a-z0-9]+)?", "as linux/amd64")),
    "sImageOrigin": ("origin", _pattern("|".join(ORIGINS), " or ".join(ORIGINS))),
    "iSourceDateEpoch": ("source_date_epoch", _epoch),
    "sLockSha256": ("lock_sha256", _pattern(_HEX, "64 lower-case hex digits")),
}
_TOOLS: _Keys = {
    "sPython": ("python", _text(4096)),
    "sGcc": ("gcc", _text(4096)),
    "sLibc": ("libc", _text(4096)),
    "sOsRelease": ("os_release", _text(65536)),
    "sLocale": ("locale", _text(4096)),
    "sTzdata": ("tzdata", _text(4096)),
}
_BINARY: _Keys = {
    "sPath": ("path", _text(4096)),
    "sSha256": ("sha256", _pattern(_HEX, "64 lower-case hex digits")),
    "sVersion": ("version", _text(4096)),
}
