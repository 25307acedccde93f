"""What shell, R and Julia files say about other files: a simple scan, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vaibify_lab.core.code_names import looks_like_code
from vaibify_lab.core.commands import Named, named_by, python_in, search_path
from vaibify_lab.core.holes import HOLE, is_unknown, with_holes, without_unknown_folders
from vaibify_lab.core.interpreters import PYTHON_NAMES
from vaibify_lab.files.parsed import Parsed, Sourced
from vaibify_lab.files.pysource import parse_python

# Reading commands costs more a byte than reading Python does.
_SHELL_LIMIT = 256 * 1024

_SUBSTITUTED = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[A-Za-z_!#][^{}]*\}|\$[A-Za-z_]\w*")
_PYTHON_NAME = re.compile(
    rf"""["']?\$(?:{PYTHON_NAMES}\b|\({PYTHON_NAMES}\)|\{{{PYTHON_NAMES}(?::[-=][^{{}}]*)?\}})["']?"""
)
_OUTPUT = re.compile(r"\$\([^()]*\)|`[^`]*`")  # without what is one more level down
_REAL = re.compile(r"\$\((?:realpath|readlink\s+-f)\s+([^\s()]+)\)")
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+([^;\n]*)")
# What a script or a rule is given: whoever starts it names that.
_WORD_OF_RULE = re.compile(r"\$\((?:firstword|lastword|word)\s[^()]*\)")
_ARGUMENT = re.compile(r"""["']?\$\{?[0-9@*]+\}?["']?(?=/)""")
_WILDCARD = re.compile(r"\$\(wildcard\s+([^()]*)\)")
_MAY_NAME_CODE = re.compile(
    r"\.[a-z]{1,7}[0-9]{0,2}\b|(?:^|[\s;&|(])\.?/|\s-[a-z]*m|\b(?:g?make|snakemake|just)\b",
    re.IGNORECASE,
)
_MAY_COMPUTE = re.compile(rf"{HOLE}|\bxargs\b|\s-(?:exec|ok)|\$")
_PYTHON = re.compile(r"\b(?:python|pypy)")
_BEGINS_CODE = re.compile(r"<<|\s-[A-Za-z]*c")
# Also as makefiles have it: ``NAME := value`` and ``$(NAME)``.
_GIVEN = re.compile(
    r"""(?:^[ ]*(?:export[ ]+)?([A-Za-z_]\w*)[ \t]*[:?]?=[ \t]*|(?:^|[\s;&|(])([A-Za-z_]\w*)=)"""
    r"""["']?([^\s"';&|()]*)"""
)
_SEARCHED = ("PYTHONPATH", "PATH")
_CALLED = re.compile(
    r"(?:^|[;&|(){}`!])[ \t]*"
    r"(?:(?:then|do|else|elif|if|while|until|time|exec|command|nohup|nice|env|xargs"
    r"|\w+=\S{0,300})[ \t]+)*([A-Za-z_][\w.+-]*)"
)
_LONGEST_VALUE = 1000  # a name that holds itself twice grows with every line
_QUOTED_FOLDER = re.compile(r'"([^"\s$`]*)"/')
_OF_NAME = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_SOURCE = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else|if)\b)\s*(?:source|\.)\s+[\"']?([^\s\"';&|)]+)"
)
_CD = re.compile(r"(?:^|[;&|({])\s*(?:cd|pushd)\s+[\"']?([^\s\"';&|)]+)")

_QUOTED = r"""\s*\(\s*(?:file\s*=\s*)?(["'])([^"'\n]+)\1"""
_R_SOURCE = re.compile(rf"\bsource{_QUOTED}")
_R_JOINED = re.compile(
    r"\bsource\s*\(\s*(?:file\s*=\s*)?(?:here::)?(here|file\.path|paste0)\(([^()]*)\)"
)
_R_CONSTANTS = re.compile(r"""\s*(["'])([^"'\n]+)\1\s*""")
_R_COMPUTED = re.compile(r"\bsource\b(?!\s*\(\s*(?:file\s*=\s*)?[\"'])")
_R_LISTED = re.compile(r"""\b(?:list\.files|dir)\s*\(\s*(?:path\s*=\s*)?(["'])([^"'\n]+)\1""")
_JULIA_INCLUDE = re.compile(rf"\binclude{_QUOTED}")


def parse_shell(data: bytes) -> Parsed:
    """Return what a shell script sources, and its commands that may name code.

    Names that were given a constant stand for it from there on.
    """
    if len(data) > _SHELL_LIMIT:
        return Parsed(problem=f"is larger than {_SHELL_LIMIT} bytes: what it runs is not known")
    commands: list[str] = []
    folders: list[str] = []
    sourced: list[Sourced] = []
    computed: list[tuple[int, str]] = []
    called: dict[str, None] = {}
    given: dict[str, str] = {}
    whole = data.decode("utf-8", "surrogateescape").replace("\0", "")
    for number, line in _all_lines(whole, given):
        plain = without_unknown_folders(line)
        if _MAY_NAME_CODE.search(plain):
            commands.append(plain)
        if _MAY_COMPUTE.search(plain):
            computed += [(number, said) for said in named_by([plain], "").computed]
        folders += _CD.findall(plain)
        called |= dict.fromkeys(_CALLED.findall(plain))
        sourced += _sourced(line, number)
    search, path = (_folders(given.get(name, "")) for name in _SEARCHED)
    found = Parsed(
        commands=tuple(commands),
        folders=tuple(folders),
        sourced=tuple(sourced),
        search_below=search,
        computed=tuple(computed),
        path=path,
        called=tuple(called),
    )
    if not _may_hold_python(whole):
        return found
    beside = replace(found, search=(*folders, *found.search_below))
    return beside.joined(_python_inside(whole))


def shell_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines of a shell script, as `parse_shell` reads them, with their numbers."""
    whole = data[:_SHELL_LIMIT].decode("utf-8", "surrogateescape").replace("\0", "")
    return ((number, without_unknown_folders(line)) for number, line in _all_lines(whole, {}))


def _folders(value: str) -> tuple[str, ...]:
    """Return the folders of a search path, from wherever it starts."""
    pieces = (one.removeprefix("@/").rstrip(HOLE) for one in value.split(":"))
    return tuple(filter(None, pieces))


def expanded_by(commands: tuple[str, ...], directory: str) -> Named:
    """Return what commands name once the names in them that are known stand for their values.

    As it is in a shell script: folders of which nothing is known are left out, so that a path may
    begin at the working directory or at the root; whether it is there is for the asker to see.
    """
    text = "\n".join(one for one in commands if "$" in one or "`" in one)
    if not text:
        return Named()
    said = parse_shell(text.encode())
    here, root = (named_by(said.commands, base) for base in (directory, ""))
    path = [one for folder in said.path for one in search_path(folder, directory)]
    return replace(  # Python runs here alone: what it imports must be found from here
        here,
        scripts=(*here.scripts, *root.scripts),
        mentioned=(*here.mentioned, *root.mentioned),
        patterns=(*here.patterns, *root.patterns),
        given=(*here.given, *root.given),
        unread=(*here.unread, *root.unread),
        fitting=(*here.fitting, *root.fitting),
        search=(*here.search, *root.search),
        called=(*here.called, *said.called),
        path=(*here.path, *root.path, *path),
        computed=(),
    )


def _may_hold_python(text: str) -> bool:
    """Tell whether some line starts Python and, behind that, what may be its code."""
    starts = ((line, _PYTHON.search(line)) for line in text.split("\n"))
    return any(found and _BEGINS_CODE.search(line, found.end()) for line, found in starts)


def _python_inside(text: str) -> Parsed:
    """Return what Python says that stands in a shell script."""
    found = Parsed()
    for code in python_in(text):
        before = text.find(code)
        said = parse_python(code, 1 + text.count("\n", 0, max(before, 0)))
        found = found.joined(replace(said, problem=""))  # what the shell puts in need not parse
    return found


def _all_lines(text: str, given: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield lines as they are known, each after the commands whose output it puts in."""
    for number, line, inside in _known_lines(text, given):
        yield from ((number, one) for one in inside)
        yield number, line


def _known_lines(text: str, given: dict[str, str]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield lines, joined where they go on: number, line, commands in it; comments are empty."""
    number = 1
    for joined in text.replace("\\\n", "\0").split("\n"):
        is_comment = joined.lstrip().startswith("#")
        line = "" if is_comment else joined.replace("\0", "  ")
        whole = _known(line, given)
        yield number, whole, _inside(line, given)
        number += 1 + joined.count("\0")


def _inside(line: str, given: dict[str, str]) -> list[str]:
    """Return the commands whose output a line puts in, innermost first, as they are known."""
    found: list[str] = []
    for _ in range(4):
        found += [one[0][1:-1].removeprefix("(") for one in _OUTPUT.finditer(line)]
        shorter = _OUTPUT.sub(HOLE, line)
        if shorter == line:
            break
        line = shorter
    return [_with_values(one, given) for one in found]


def _known(line: str, given: dict[str, str]) -> str:
    """Return a line with what is known of its names; add what it gives names itself."""
    for *names, value in _GIVEN.findall(_with_values(line, given)):
        name = "".join(names)
        if name in _SEARCHED:  # whatever it was at any time
            pieces = dict.fromkeys((*given.get(name, "").split(":"), *value.split(":")))
            value = ":".join(filter(None, pieces))
        given[name] = value if len(value) <= _LONGEST_VALUE else HOLE
    for name, words in _LOOP.findall(line):  # each of its words is read where it stands
        code = (one for one in words.split() if looks_like_code(with_holes(one)))
        given[name] = next(code, HOLE)
    return _with_values(line, given)


def _with_values(line: str, given: dict[str, str]) -> str:
    said = _OF_NAME.sub(lambda found: given.get(found[1] or found[2] or found[3], found[0]), line)
    whole = _substituted(_PYTHON_NAME.sub("python", said))
    return whole if said == line else _QUOTED_FOLDER.sub(r"\1/", whole)


def _substituted(line: str) -> str:
    """Put ``@`` for what only a shell can know: ``"$(dirname "$0")/x.sh"`` becomes ``@/x.sh"``."""
    line = _REAL.sub(r"\1", line)
    line = _ARGUMENT.sub(HOLE, _WILDCARD.sub(r"\1", _WORD_OF_RULE.sub("$1", line)))
    for _ in range(4):
        shorter = _SUBSTITUTED.sub(HOLE, line)
        if shorter == line:
            break
        line = shorter
    return re.sub(r'"?@"?/', "@/", line)


def _sourced(line: str, number: int) -> Iterator[Sourced]:
    for word in _SOURCE.findall(line):
        path = without_unknown_folders(word)
        if "$" not in path and not is_unknown(path):
            yield Sourced(path, number, certain=path == word and HOLE not in path)


def parse_r(data: bytes) -> Parsed:
    """Return the files that R code sources; of a name that it works out, where."""
    sourced: list[Sourced] = []
    computed = [number for number, line in _lines(data) if _R_COMPUTED.search(line)]
    for number, line in _lines(data):
        if computed:
            listed = (found[2].rstrip("/") + "/" for found in _R_LISTED.finditer(line))
            sourced += [Sourced(one, number, certain=False) for one in listed]
        sourced += [Sourced(found[2], number) for found in _R_SOURCE.finditer(line)]
        sourced += _joined_in_r(line, number)
    known = any(not one.certain for one in sourced)
    said = (
        ()
        if known
        else tuple((number, "sources a file whose name it works out") for number in computed)
    )
    return Parsed(sourced=tuple(sourced), computed=said)


def _joined_in_r(line: str, number: int) -> Iterator[Sourced]:
    """Yield what ``source`` is given by ``file.path``, ``here`` and ``paste0``, with its holes."""
    for joined in _R_JOINED.finditer(line):
        by = "" if joined[1].startswith("paste") else "/"
        parts = [_R_CONSTANTS.fullmatch(part) for part in joined[2].split(",")]
        path = by.join(part[2] if part else HOLE for part in parts)
        if not is_unknown(path) or looks_like_code(path):
            yield Sourced(without_unknown_folders(path), number, certain=HOLE not in path)


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
