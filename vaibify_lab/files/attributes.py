"""What git's attributes do to a file's bytes on their way in and out, without running a filter."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vaibify_lab.files.git import Repository

_NAMES = ("text", "crlf", "eol", "ident", "working-tree-encoding", "filter")
_IDENT = re.compile(rb"\$Id(?::[^$\n]*)?\$")
_LONE_LF = re.compile(rb"(?<!\r)\n")
_PLAIN_ENCODINGS = ("utf-8", "utf8")


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of one path that can alter bytes; ``""`` where not specified.

    Values are git's own: ``set``, ``unset`` or what stands after the equals sign.
    """

    text: str = ""
    eol: str = ""
    ident: str = ""
    encoding: str = ""
    filter: str = ""

    @property
    def is_lfs(self) -> bool:
        """Whether git stores a pointer instead of the content."""
        return self.filter == "lfs"

    @property
    def has_filter(self) -> bool:
        """Whether a clean filter is named that may store anything at all."""
        return self.filter not in ("", "set", "unset")

    @property
    def recodes(self) -> bool:
        """Whether git stores another character encoding than the work tree has."""
        values = ("", "set", "unset", *_PLAIN_ENCODINGS)
        return self.encoding.lower() not in values

    def words(self, autocrlf: str | None = None) -> str:
        """Return them as they would stand in ``.gitattributes``, with a setting that joins in."""
        named = {
            "text": self.text,
            "eol": self.eol,
            "ident": self.ident,
            "working-tree-encoding": self.encoding,
            "filter": self.filter,
        }
        words = [_word(name, value) for name, value in named.items() if value]
        setting = f"core.autocrlf={autocrlf}" if autocrlf and not self.text else ""
        return " ".join([*words, setting] if setting else words)


def read_attributes(
    repository: Repository, paths: Iterable[str], *, committed: bool = False
) -> dict[str, Attributes]:
    """Ask git for the attributes of paths: those of the work tree, or of the index."""
    wanted = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if not wanted:
        return {}
    source = ("--cached",) if committed else ()
    said = repository.run("check-attr", "-z", *source, "--stdin", *_NAMES, input=wanted)
    fields = os.fsdecode(said).split("\0")[:-1]
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        found.setdefault(path, {})[name] = "" if value == "unspecified" else value
    return {path: _from_git(values) for path, values in found.items()}


def stored_form(data: bytes, attributes: Attributes, autocrlf: str | None) -> bytes:
    """Return what git would store, line endings and ``$Id$`` done as git does them."""
    wants_text = attributes.text or attributes.eol or autocrlf in ("true", "input")
    if wants_text and attributes.text != "unset":
        data = data.replace(b"\r\n", b"\n")
    return _IDENT.sub(b"$Id$", data) if attributes.ident == "set" else data


def changes_on_checkout(data: bytes, attributes: Attributes) -> bool:
    """Tell whether a clone would hold other bytes than the committed ``data``."""
    if attributes.recodes or (attributes.ident == "set" and _IDENT.search(data)):
        return True
    if attributes.eol != "crlf" or attributes.text == "unset":
        return False
    # By `auto`, git leaves alone what looks binary or has carriage returns already.
    left_alone = attributes.text == "auto" and (b"\0" in data or b"\r" in data)
    return not left_alone and _LONE_LF.search(data) is not None


def blob_id(data: bytes, object_format: str) -> str:
    """Return the name git gives to these bytes."""
    hasher = hashlib.new(object_format, b"blob %d\0" % len(data), usedforsecurity=False)
    hasher.update(data)
    return hasher.hexdigest()


def attribute_line(path: str, words: str) -> str:
    """Return a line of ``.gitattributes`` for one path, quoted as git reads it."""
    # Anchored: this path alone, and a leading ``!`` or ``#`` means nothing.
    pattern = "/" + re.sub(r"([\\*?\[])", r"\\\1", path)
    if re.search(r'[\s"\\]', pattern) or not pattern.isprintable():
        pattern = '"' + "".join(map(_in_quotes, pattern)) + '"'
    return f"{pattern} {words}"


def _in_quotes(char: str) -> str:
    """Return a character as it stands between git's quotes, where bytes may be octal."""
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def _word(name: str, value: str) -> str:
    return {"set": name, "unset": f"-{name}"}.get(value, f"{name}={value}")


def _from_git(values: Mapping[str, str]) -> Attributes:
    old = values["crlf"]  # what `text` and `eol` were called before git 1.7.2
    return Attributes(
        text=values["text"] or ("set" if old == "input" else old),
        eol=values["eol"],
        ident=values["ident"],
        encoding=values["working-tree-encoding"],
        filter=values["filter"],
    )
