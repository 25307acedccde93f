"""What shell, R and Julia files say about other files: a simple scan, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaibify_lab.files.parsed import Parsed, Sourced

# Reading commands costs more a byte than reading Python does.
_SHELL_LIMIT = 256 * 1024

_SUBSTITUTED = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[^{}]*\}|\$\w+")
_MAY_NAME_CODE = re.compile(
    r"\.(?:py|ipy|ipynb|sh|bash|zsh|r|jl|pl|m|awk)\b|(?:^|[\s;&|(])\.?/|\s-m\s", re.IGNORECASE
)
_SOURCE = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else|if)\b)\s*(?:source|\.)\s+[\"']?([^\s\"';&|)]+)"
)
_CD = re.compile(r"(?:^|[;&|({])\s*(?:cd|pushd)\s+[\"']?([^\s\"';&|)]+)")

_QUOTED = r"""\s*\(\s*(?:file\s*=\s*)?(["'])([^"'\n]+)\1"""
_R_SOURCE = re.compile(rf"\bsource{_QUOTED}")
_R_JOINED = re.compile(
    r"\bsource\s*\(\s*(?:file\s*=\s*)?(?:here::)?(?:here|file\.path)\(([^()]*)\)"
)
_R_CONSTANTS = re.compile(r"""\s*(["'])([^"'\n]+)\1\s*""")
_JULIA_INCLUDE = re.compile(rf"\binclude{_QUOTED}")


def parse_shell(data: bytes) -> Parsed:
    """Return what a shell script sources, and its commands that may name code."""
    if len(data) > _SHELL_LIMIT:
        return Parsed(problem=f"is larger than {_SHELL_LIMIT} bytes: what it runs is not known")
    commands: list[str] = []
    folders: list[str] = []
    sourced: list[Sourced] = []
    text = data.decode("utf-8", "surrogateescape").replace("\0", "").replace("\\\n", "\0")
    number = 1
    for joined in text.split("\n"):
        line = "" if joined.lstrip().startswith("#") else _substituted(joined.replace("\0", "  "))
        plain = line.replace("@/", "")
        if _MAY_NAME_CODE.search(plain):
            commands.append(plain)
        folders += _CD.findall(plain)
        sourced += _sourced(line, number)
        number += 1 + joined.count("\0")
    return Parsed(commands=tuple(commands), folders=tuple(folders), sourced=tuple(sourced))


def _substituted(line: str) -> str:
    """Put ``@`` for what only a shell can know: ``"$(dirname "$0")/x.sh"`` becomes ``@/x.sh"``."""
    for _ in range(4):
        shorter = _SUBSTITUTED.sub("@", line)
        if shorter == line:
            break
        line = shorter
    return re.sub(r'"?@"?/', "@/", line)


def _sourced(line: str, number: int) -> Iterator[Sourced]:
    for word in _SOURCE.findall(line):
        path = word.removeprefix("@/")
        if "@" not in path:
            yield Sourced(path, number, certain=path == word)


def parse_r(data: bytes) -> Parsed:
    """Return the files that R code sources, constant names only."""
    sourced: list[Sourced] = []
    for number, line in _lines(data):
        sourced += [Sourced(found[2], number) for found in _R_SOURCE.finditer(line)]
        for joined in _R_JOINED.finditer(line):
            parts = [_R_CONSTANTS.fullmatch(part) for part in joined[1].split(",")]
            words = [part[2] for part in parts if part]
            if len(words) == len(parts):
                sourced.append(Sourced("/".join(words), number))
    return Parsed(sourced=tuple(sourced))


def parse_julia(data: bytes) -> Parsed:
    """Return the files that Julia code includes, constant names only."""
    return Parsed(
        sourced=tuple(
            Sourced(found[2], number)
            for number, line in _lines(data)
            for found in _JULIA_INCLUDE.finditer(line)
        )
    )


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    text = data.decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith("#"):
            yield number, line
