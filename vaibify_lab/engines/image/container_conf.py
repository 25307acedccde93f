"""container.conf: the repositories that go into the image, one a line.

``name|url|branch-tag-or-commit|method[|destination]``; ``#`` begins a comment. Whoever made the
file may be a stranger: its size is bounded, and no field can become an option of git or a line of a
Dockerfile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import fault_of, fold, is_within, shown

PATH = "container.conf"
METHODS = ("pip_editable", "pip_no_deps", "c_and_pip", "scripts_only", "reference")
LARGEST = 2**18
MOST = 200
_FORM = "expected name|url|branch-tag-or-commit|method[|destination]"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_URL = re.compile(r"(?:https?|ssh|git|file)://[!-~]{1,2000}")
_SCP = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?![/:]{2})[!-~]{1,2000}")
_FOLDER = re.compile(r"/[!-~]{1,2000}")
_REF = re.compile(r"[A-Za-z0-9_][\w./+@=#-]{0,249}")
_BAD_REF = re.compile(r"\.\.|//|@\{|/\.|\.lock(?:/|$)|[./]$")
_DESTINATION = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*", re.ASCII)
# A password, or a token in the place of a name: they are long, or begin as the well-known do.
_SECRET = re.compile(
    r"\w+://(?:[^/@]*:[^/@]*|[^/@]{36,}|(?:gh[a-z]|github_pat|glpat|hf)[_-][^/@]*)@"
)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One repository as asked for; ``destination`` is relative to the workspace's root."""

    name: str
    url: str
    ref: str
    method: str
    destination: str
    line: int

    @property
    def where(self) -> str:
        """The line, as an error names it."""
        return f"{PATH}, line {self.line}"

    @property
    def is_of_this_machine(self) -> bool:
        """Tell whether the URL is a folder of this machine, which nobody else has."""
        return self.url.startswith(("/", "file:"))


def parse_container_conf(data: bytes) -> tuple[SourceLine, ...]:
    """Read container.conf.

    Raises
    ------
    InvalidFile
        With the line's number, and what was expected there.
    """
    if len(data) > LARGEST:
        raise InvalidFile(f"is larger than {LARGEST} bytes", where=PATH)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidFile("is not UTF-8", where=PATH) from None
    found: list[SourceLine] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r").strip()
        if line and not line.startswith("#"):
            found.append(_read(number, line, found))
            if len(found) > MOST:
                raise InvalidFile(f"names more than {MOST} repositories", where=PATH)
    return tuple(found)


def _read(number: int, line: str, earlier: list[SourceLine]) -> SourceLine:
    fields = [part.strip() for part in line.partition(" #")[0].split("|")]
    if len(fields) not in (4, 5):
        raise _invalid(number, f"has {len(fields)} field{'s'[: len(fields) != 1]}; {_FORM}")
    name, url, ref, method = fields[:4]
    destination = (fields[4] if len(fields) == 5 else "") or name
    fault = (
        _fault_of_name(name)
        or _fault_of_url(url)
        or _fault_of_ref(ref)
        or _fault_of_method(method)
        or _fault_of_destination(destination)
        or _clash(name, destination, earlier)
    )
    if fault:
        raise _invalid(number, fault)
    return SourceLine(name, url, ref, method, destination, number)


def _fault_of_name(name: str) -> str | None:
    if _NAME.fullmatch(name):
        return None
    return f"name: expected letters, digits, '.', '_' and '-', found {_cited(name)}"


def _fault_of_url(url: str) -> str | None:
    if _SECRET.match(url):
        return "url: holds a password or token; let git's own credential helper keep it"
    if _URL.fullmatch(url) or _FOLDER.fullmatch(url):
        return None
    if _SCP.fullmatch(url) and "::" not in url:
        return None
    text = "url: expected https://, ssh://, git@host:path or an absolute folder"
    return f"{text}, found {_cited(url)}"


def _fault_of_ref(ref: str) -> str | None:
    if _REF.fullmatch(ref) and not _BAD_REF.search(ref):
        return None
    return f"expected a branch, a tag or a commit, found {_cited(ref)}"


def _fault_of_method(method: str) -> str | None:
    if method in METHODS:
        return None
    return f"method: expected one of {', '.join(METHODS)}, found {_cited(method)}"


def _fault_of_destination(destination: str) -> str | None:
    if (fault := fault_of(destination)) is not None:
        return f"destination: {_cited(destination)} {fault}"
    if _DESTINATION.fullmatch(destination):
        return None
    return f"destination: expected letters, digits, '.', '_', '+', '-', found {_cited(destination)}"


def _clash(name: str, destination: str, earlier: list[SourceLine]) -> str | None:
    for other in earlier:
        if fold(other.name) == fold(name):
            return f"name: {name} is also that of line {other.line}"
        one, two = fold(destination), fold(other.destination)
        if is_within(one, two) or is_within(two, one):
            return f"destination: {destination} lies where line {other.line} goes"
    return None


def _cited(text: str) -> str:
    return repr(shown(text[:80])) if text else "nothing"


def _invalid(number: int, fault: str) -> InvalidFile:
    return InvalidFile(fault, where=f"{PATH}, line {number}")
