"""MANIFEST.sha256, byte for byte what GNU ``sha256sum`` (coreutils 9) writes in text mode.

The writer and the reader share constants only, so that a fault of one cannot bless itself in the
other. The reader is for bytes that somebody else may have made: it opens nothing, is linear in
their length, and passes over no line that is not empty (``sha256sum -c`` passes over malformed
lines with exit status 0).
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from vaibify_lab.core.errors import UnsafePath
from vaibify_lab.core.paths import LONGEST_COMPONENT, LONGEST_PATH, shown
from vaibify_lab.files.paths import MAX_DEPTH

NAME = "MANIFEST.sha256"
ATTRIBUTE_LINE = f"{NAME} -text"
MAX_BYTES = 64 * 2**20
MAX_LINES = 1_000_000
MAX_PROBLEMS = 1_000
_NAMED = 20
_NO_FILES = (b"", b".", b"..", b"-")  # "-" is standard input to sha256sum
_DRIVE = re.compile(rb"[A-Za-z]:[\\/]")
_LINE = re.compile(rb"(\\?)([0-9A-Fa-f]{64}) [ *](.+)", re.DOTALL)
# What nearly every line is: no part of the path starts with a dot or is too long.
_ORDINARY = re.compile(
    r"^([0-9a-f]{64})  ((?:\w[\w.-]{0,200}/){0,15}\w[\w.-]{0,200})$", re.ASCII | re.MULTILINE
)
_ESCAPE = re.compile(rb"\\(.?)", re.DOTALL)
_MEANING = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One listed file: repository path, 64 lower-case hex digits, the (first) line it stands on."""

    path: str
    sha256: str
    line: int


@dataclass(frozen=True, slots=True)
class ManifestProblem:
    """Why a line fails tier 1.

    ``code`` is ``malformed``, ``windows-path``, ``unsafe-path``, ``lists-itself``,
    ``conflicting-duplicate`` or ``too-large``; ``line`` is 0 when it is about the whole file.
    """

    line: int
    code: str
    text: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as read. ``entries`` are distinct paths, in the order of the file."""

    entries: tuple[ManifestEntry, ...]
    problems: tuple[ManifestProblem, ...] = ()
    warnings: tuple[str, ...] = ()

    def hashes(self) -> dict[str, str]:
        """Return the listed paths with their SHA-256."""
        return {entry.path: entry.sha256 for entry in self.entries}


def format_manifest(hashes: Mapping[str, str]) -> bytes:
    """Return the manifest of ``path -> sha256``, sorted by the bytes of the path.

    The manifest itself is left out. Paths are written as they are, with GNU's escapes for
    backslash, newline and carriage return.

    Raises
    ------
    UnsafePath
        A path that leaves the project or is not in its shortest form: the reader refuses it.
    """
    listed = sorted((os.fsencode(path), sha256) for path, sha256 in hashes.items() if path != NAME)
    return b"".join(_written(name, sha256) for name, sha256 in listed)


def _written(name: bytes, sha256: str) -> bytes:
    parts = name.split(b"/")
    too_long = max(map(len, parts)) > LONGEST_COMPONENT or len(name) > LONGEST_PATH
    outside = name.startswith((b"/", b"../")) or name in _NO_FILES or _DRIVE.match(name)
    unusual = posixpath.normpath(name) != name or b"\0" in name
    if outside or unusual or too_long or len(parts) > MAX_DEPTH:
        text = "is not a plain path inside the project, so no manifest can list it"
        raise UnsafePath(text, where=shown(os.fsdecode(name)))
    escaped = name.replace(b"\\", rb"\\").replace(b"\n", rb"\n").replace(b"\r", rb"\r")
    mark = b"\\" if escaped != name else b""
    return b"%s%s  %s\n" % (mark, sha256.encode("ascii"), escaped)


def parse_manifest(data: bytes) -> Manifest:
    """Read a manifest as strictly as its writer wrote it.

    Allowed besides what the writer writes: binary mode (``*``), upper-case digits, no final
    newline, CRLF (one warning), an unneeded leading ``./`` (one warning; ``a`` and ``./a`` are one
    path), the same path twice with the same hash (one warning). Every other line that is not empty
    is a problem with its number; the other lines are still read.
    """
    if len(data) > MAX_BYTES or data.count(b"\n") > MAX_LINES:
        text = f"has more than {MAX_BYTES} bytes or {MAX_LINES} lines; nothing of it was read"
        return Manifest((), (ManifestProblem(0, "too-large", text),))
    return _all_ordinary(data) or _read(data)


def _all_ordinary(data: bytes) -> Manifest | None:
    """Read what holds ordinary lines only, each path once: nearly every manifest, in one sweep."""
    if not data.isascii() or not data.endswith(b"\n"):
        return None
    entries: dict[str, ManifestEntry] = {}
    text, start = data.decode("ascii"), 0
    while found := _ORDINARY.match(text, start):  # up to the first that is none, never beyond
        sha256, path = found.groups()
        if path in entries:
            return None
        entries[path] = ManifestEntry(path, sha256, len(entries) + 1)
        start = found.end() + 1
    is_all = start == len(text) and NAME not in entries
    return Manifest(tuple(entries.values())) if is_all else None


def _read(data: bytes) -> Manifest:
    reader = _Reader()
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.endswith(b"\r"):
            reader.crlf += 1
            line = line[:-1]
        if line:
            reader.read(number, line)
        if len(reader.problems) > MAX_PROBLEMS:
            break
    return Manifest(
        tuple(reader.entries.values()), tuple(reader.problems), tuple(reader.warnings())
    )


@dataclass(slots=True)
class _Reader:
    """What is known after some lines."""

    entries: dict[str, ManifestEntry] = field(default_factory=dict)
    problems: list[ManifestProblem] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    dotted: list[str] = field(default_factory=list)
    crlf: int = 0

    def read(self, number: int, line: bytes) -> None:
        match = _LINE.fullmatch(line)
        if match is None:
            self._refuse(number, "malformed", _why_malformed(line))
            return
        mark, digits, name = match.groups()
        code, text, name = self._plain(number, name, escaped=bool(mark))
        path = os.fsdecode(name[:LONGEST_PATH])
        if code:
            self._refuse(number, code, text, path)
        else:
            self._add(ManifestEntry(path, digits.decode("ascii").lower(), number))

    def _plain(self, number: int, name: bytes, *, escaped: bool) -> tuple[str, str, bytes]:
        """Return why a path is refused (code and text, or empty) and what it means."""
        if len(name) > 2 * LONGEST_PATH:
            return "unsafe-path", _TOO_LONG, name
        if b"\r" in name:
            return "malformed", _RAW_RETURN, name
        if escaped:
            if not set(_ESCAPE.findall(name)) <= _MEANING.keys():
                return "malformed", _BAD_ESCAPE, name
            name = _ESCAPE.sub(lambda found: _MEANING[found[1]], name)
        elif b"\\" in name:
            return "windows-path", _WINDOWS, name
        if name.startswith(b"./"):
            name = name[2:]
            self.dotted.append(f"line {number}")
        return *_fault(name), name

    def _add(self, entry: ManifestEntry) -> None:
        if entry.path == NAME:
            self._refuse(entry.line, "lists-itself", _ITSELF, NAME)
            return
        first = self.entries.setdefault(entry.path, entry)
        if first is entry:
            return
        lines = f"lines {first.line} and {entry.line}"
        if first.sha256 == entry.sha256:
            self.repeated.append(f"{shown(entry.path)} ({lines})")
        else:
            text = f"{lines} list the same path with different hashes"
            self._refuse(entry.line, "conflicting-duplicate", text, entry.path)

    def _refuse(self, number: int, code: str, text: str, path: str | None = None) -> None:
        if len(self.problems) == MAX_PROBLEMS:
            code, path = "too-large", None
            text = f"more than {MAX_PROBLEMS} lines are wrong; nothing was read from here on"
        self.problems.append(ManifestProblem(number, code, text, path))

    def warnings(self) -> list[str]:
        found = []
        if self.crlf:
            found.append(
                f"{NAME} has Windows line endings (CRLF), which sha256sum before coreutils 9 takes "
                f"for part of each name; put this line into .gitattributes: {ATTRIBUTE_LINE}"
            )
        if self.dotted:
            found.append(f"a leading './' was left off the path: {_some(self.dotted)}")
        if self.repeated:
            found.append(f"listed more than once with the same hash: {_some(self.repeated)}")
        return found


_TOO_LONG = (
    f"has a name longer than {LONGEST_COMPONENT} bytes, or a path longer than {LONGEST_PATH}"
)
_WINDOWS = "holds an unescaped backslash, as paths written on Windows do; write '/'"
_BAD_ESCAPE = r"holds a backslash that is not part of \\, \n or \r, the only escapes"
_ITSELF = "the manifest lists itself, which can never match"
_RAW_RETURN = r"holds a carriage return that is not written as \r"


def _fault(name: bytes) -> tuple[str, str]:
    """Say why a path is refused without opening anything; two empty strings if it is not."""
    parts = name.split(b"/")
    if b"" in parts or b"." in parts or b".." in parts:
        return "unsafe-path", "is absolute, or has an empty, '.' or '..' part"
    if len(name) > LONGEST_PATH or max(map(len, parts)) > LONGEST_COMPONENT:
        return "unsafe-path", _TOO_LONG
    if len(parts) > MAX_DEPTH:
        return "unsafe-path", f"is nested deeper than {MAX_DEPTH} folders"
    if b"\0" in name:
        return "unsafe-path", "holds a NUL byte"
    if name == b"-":
        return "unsafe-path", "is '-', which sha256sum takes for standard input"
    if _DRIVE.match(name):
        return "unsafe-path", "starts with a drive letter"
    return "", ""


def _why_malformed(line: bytes) -> str:
    start = shown(line[:40].decode("utf-8", "surrogateescape"))
    if line.startswith(b"#"):
        kind = "a comment, and a manifest has none"
    elif line.startswith(b"SHA256 ("):
        kind = "BSD style, where GNU style is expected"
    elif line.startswith(b"\xef\xbb\xbf"):
        kind = "a byte order mark before the first hash"
    else:
        kind = "not 64 hex digits, two characters ('  ' or ' *') and a path"
    return f"malformed, {kind}: {start!r}"


def _some(items: list[str]) -> str:
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return ", ".join(items[:_NAMED]) + more
