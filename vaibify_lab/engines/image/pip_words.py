"""What pip says when it refuses a lock, read for the package that it is about.

pip (22 to 25) has no machine-readable errors; these sentences have stood since version 8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HASHES = "DO NOT MATCH THE HASHES"
_UNPINNED = "must have their versions pinned"
_UNHASHED = "hashes are required"
_NAME = re.compile(  # four spaces: what pip says on standard output meanwhile has two or none
    r"^ {4}([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?(\S*) (?:from |--hash=|\(from )"
)
_WANTED_BY = re.compile(r"\(from ([^()]*?)->")
_GOT = re.compile(r"^\s+Got\s+([0-9a-f]{8,128})")
_NO_MATCH = re.compile(r"ERROR: No matching distribution found for (\S+)")
_NO_NETWORK = re.compile(r"Retrying \(Retry\(|Failed to establish a new connection|timed out")


@dataclass(frozen=True, slots=True)
class PipFault:
    """``hash-mismatch``, ``not-listed``, ``not-offered`` or ``no-network``; the package's name."""

    code: str
    package: str
    text: str


def fault_in(lines: Sequence[str]) -> PipFault | None:
    """Return what pip refused, or None when it is none of the refusals known here."""
    for index, line in enumerate(lines):
        rest = lines[index + 1 :]
        if _HASHES in line:
            return _mismatch(rest)
        if _UNPINNED in line or _UNHASHED in line.lower():
            return _not_listed(rest)
        if missing := _NO_MATCH.search(line):
            return _not_offered(missing[1], lines)
    return None


def _mismatch(rest: Sequence[str]) -> PipFault | None:
    found = _first(_NAME, rest)
    if found is None:
        return None
    got = _first(_GOT, rest)
    has = f": what the index has is sha256:{got[1][:12]}..." if got else ""
    name = f"{found[1]}{found[2]}"
    return PipFault("hash-mismatch", found[1], f"{name} does not match its hash{has}")


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next((found for line in lines if (found := pattern.search(line))), None)


def _not_listed(rest: Sequence[str]) -> PipFault | None:
    found = _first(_NAME, rest)
    if found is None:
        return None
    wanted = _first(_WANTED_BY, rest)
    by = f", which {wanted[1].split('->')[-1].strip()} needs" if wanted else ""
    text = f"{found[1]}{by}, is not listed with a version and a hash"
    return PipFault("not-listed", found[1], text)


def _not_offered(requirement: str, lines: Sequence[str]) -> PipFault:
    name = re.split(r"[=<>!~;\[]", requirement, maxsplit=1)[0]
    if any(_NO_NETWORK.search(line) for line in lines):
        return PipFault("no-network", name, "pip reaches no index from inside the image")
    return PipFault("not-offered", name, f"{requirement} is not offered for this Python")
