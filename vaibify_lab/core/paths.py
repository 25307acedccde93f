"""Repository paths: POSIX, relative to the project's root, plain.

The rules are of formats.md and cases M06, M07, M13: a path is refused before anything opens it.
"""

from __future__ import annotations

import re
import shlex
import unicodedata

LONGEST_COMPONENT = 255
LONGEST_PATH = 4096
MOST_PARTS = 128
PROTECTED = (".git", ".vaibify")
# The same for everybody, or private to a step: devices, programs of the system, /tmp, the project.
COMMON = tuple(f"/{one}/" for one in ["bin", "dev", "proc", "sys", "tmp", "usr", "workspace"])
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029]")
_LONE = re.compile("[\ud800-\udfff]")  # a byte that is not UTF-8, as Python keeps it
_PLAIN = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.+=@, -]*/)*[A-Za-z0-9_][A-Za-z0-9_.+=@, -]*/?")
_SHARED = (*COMMON, "/etc/")  # whose files every system has, if not with the same text
_HOME = re.compile(r"~|[A-Za-z]:[\\/]")
_BELOW_ROOT = re.compile(r"/[^/\s]+/")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_GLOB = re.compile(r"[*?\[\]]")


def is_plain(path: str) -> bool:
    """Tell, fast, that a path is of the everyday kind that no rule here refuses."""
    return len(path) <= LONGEST_COMPONENT and _PLAIN.fullmatch(path) is not None


def fault_of(path: str, *, directory: bool = False) -> str | None:
    """Say why a declared path is refused, or None.

    ``directory`` allows the final slash that declares a folder.
    """
    if path == "":
        return "is empty"
    if _CONTROL.search(path):
        return "holds a control character"
    if _LONE.search(path):
        return "is not valid UTF-8"
    if "\\" in path:
        return "holds a backslash; write the path with '/'"
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "is absolute; paths are relative to the repository's root"
    if path.startswith("~"):
        return "starts with '~'; paths are relative to the repository's root"
    if _GLOB.search(path):
        return "holds a wildcard; name the file, or its folder with a final '/'"
    return _fault_of_parts(path, directory)


def _fault_of_parts(path: str, directory: bool) -> str | None:
    if path.endswith("/") and not directory:
        return "ends with '/', which declares a folder; a file is expected here"
    parts = path.removesuffix("/").split("/")
    if ".." in parts:
        return "leaves its folder by '..'"
    if "" in parts or "." in parts:
        return "has an empty or '.' part; write it in its shortest form"
    if len(parts) > MOST_PARTS:
        return f"lies more than {MOST_PARTS} folders deep"
    if any(len(part.encode()) > LONGEST_COMPONENT for part in parts):
        return f"has a name longer than {LONGEST_COMPONENT} bytes"
    if len(path.encode()) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} bytes"
    return None


def is_of_one_machine(path: str) -> bool:
    """Tell whether a path that code opens is absolute or in a home, and not one that all have."""
    if _HOME.match(path):
        return True
    return _BELOW_ROOT.match(path) is not None and not path.startswith(_SHARED)


def is_protected(path: str) -> bool:
    """Tell whether a path lies in a folder that no step may touch."""
    return path.split("/", 1)[0].casefold() in PROTECTED


def fold(path: str) -> str:
    """Return what a case-insensitive, normalising file system would make of a path."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def is_within(path: str, folder: str) -> bool:
    """Tell whether ``path`` lies in ``folder`` ("" is the root; a final slash does not matter)."""
    folder = folder.rstrip("/")
    return folder == "" or path == folder or path.startswith(folder + "/")


def shown(path: str) -> str:
    r"""Return a path as text that is safe to print: control characters and bad bytes escaped.

    A byte that is not UTF-8 is shown as ``\xNN``.
    """
    if path.isprintable():
        return path
    return "".join(char if char.isprintable() else _escaped(char) for char in path)


def as_word(path: str) -> str:
    r"""Return a path as one word of a shell command that a person may paste.

    What cannot be printed is written as bash, zsh and ksh read it (``$'a\nb'``). What a program
    would not take for a path, a hyphen or git's colon in front, gets a ``./``.
    """
    word = f"./{path}" if path.startswith((":", "-")) else path
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_in_quotes, word))}'"


def as_bytes_word(path: str) -> str:
    """Return a path as one word whose every byte beyond ASCII is spelt: none looks like another."""
    word = as_word(path)
    if word.isascii():
        return word
    start = "./" if path.startswith((":", "-")) else ""
    return f"$'{start}{''.join(map(_as_bytes, path))}'"


def _as_bytes(char: str) -> str:
    if char.isascii():
        return _in_quotes(char)
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def _in_quotes(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char.isprintable():
        return char
    return _NAMED.get(char) or "".join(
        f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape")
    )


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) & 0xFF:02x}"
    return char.encode("unicode_escape").decode()
