"""What one line of a lock may say: options, hashes, pins; each fault as (code, text)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from vaibify_lab.core.paths import shown

LONGEST_REQUIREMENT = 4096
_HEX = re.compile(r"[0-9A-Fa-f]+")
_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}")
INDEXES = {"-i", "--index-url", "--pypi-url", "--extra-index-url"}
_FRAGMENT = re.compile(r"[#&]sha256=([0-9A-Fa-f]{64})(?=&|$)")
_ARCHIVES = (".whl", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".lz", ".lzma")
_PLACES = INDEXES | {"-f", "--find-links"}
_VALUED = _PLACES | {"--no-binary", "--only-binary", "--trusted-host"}
_FLAGS = {"--prefer-binary", "--require-hashes", "--pre"}
_EDITABLE = ("editable", "an editable package is a folder of one machine")
_NESTED = ("nested", "includes another file; a lock holds everything itself")
_REFUSED_VALUED = {
    "-e": _EDITABLE,
    "--editable": _EDITABLE,
    "-r": _NESTED,
    "--requirement": _NESTED,
    "-c": _NESTED,
    "--constraint": _NESTED,
    "--hash": ("malformed", "a hash that belongs to no package"),
}
_REFUSED = {
    **_REFUSED_VALUED,
    "--no-index": ("no-index", "forbids the index, so nothing could be installed"),
    "--no-require-hashes": ("hashes-off", "turns the checking of hashes off"),
}
_TAKES_VALUE = _VALUED | _REFUSED_VALUED.keys()


def option_pairs(options: list[str]) -> Iterator[tuple[str, str | None]]:
    """Pair options with their values; a word that is no option comes out as a name."""
    words = iter(options)
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name.startswith("--"):
            yield name, value
        elif word in _TAKES_VALUE:
            yield word, next(words, None)
        elif word[:2] in _TAKES_VALUE:
            yield word[:2], word[2:]
        else:
            yield word, None


def fault_of_option(name: str, value: str | None) -> tuple[str, str] | None:
    """Say why an option on a line of its own is refused, or None."""
    if name in _REFUSED:
        return _REFUSED[name]
    if name in _FLAGS and value is None:
        return None
    if name not in _VALUED or not value:
        return "unknown-option", f"{shown(name[:60])} is no option of a lock"
    if name in _PLACES and not value.lower().startswith(("http://", "https://")):
        said = f"{shown(value[:200])} is a place on one machine: not installable elsewhere"
        return "local-path", said
    return None


def hashes_of(options: list[str], url: str | None) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Return the SHA-256 hashes a package lists, in lower case, and what is wrong beside them."""
    found = dict.fromkeys(digits.lower() for digits in _FRAGMENT.findall(url or ""))
    problems: list[tuple[str, str]] = []
    for name, value in option_pairs(options):
        kind, _, digits = (value or "").partition(":")
        if name != "--hash":
            problems.append(("unknown-option", f"has the option {shown(name[:60])}"))
        elif kind not in _LENGTHS:
            said = f"has a hash of a kind that pip refuses: {shown(kind[:20])}"
            problems.append(("bad-hash", said))
        elif len(digits) != _LENGTHS[kind] or not _HEX.fullmatch(digits):
            problems.append(("bad-hash", f"has a {kind} that is not {_LENGTHS[kind]} digits"))
        elif kind == "sha256":
            found[digits.lower()] = None
    return tuple(found), problems


def fault_of_text(requirement: str) -> tuple[str, str] | None:
    """Say what is wrong before the words are taken apart, or None."""
    if len(requirement) > LONGEST_REQUIREMENT or requirement.count("(") > 20:
        return "malformed", f"a requirement of absurd length or depth: {shown(requirement[:60])}..."
    if "\0" in requirement:
        return "malformed", f"holds a NUL character: {shown(requirement[:200])}"
    target = requirement.split(";", 1)[0].strip()
    name, at, place = target.partition("@")
    if at and "/" not in name:
        is_local = place.strip().lower().startswith("file:")
    elif "://" in target and not target.lower().startswith("file:"):
        return "malformed", "a bare URL; write it as name @ URL"
    else:
        is_local = "/" in target or target.startswith(".") or target.lower().endswith(_ARCHIVES)
    if is_local:
        said = f"{shown(target[:200])} is a path of one machine: not installable elsewhere"
        return "local-path", said
    return None


def fault_of_pin(parsed: Requirement, has_hash: bool) -> list[tuple[str, str]]:
    """Say what keeps a requirement from meaning exactly one set of bytes."""
    problems = []
    if parsed.url is None:
        if not _is_pinned(parsed):
            problems.append(("unpinned", "is not pinned to one version by =="))
    elif not parsed.url.lower().startswith(("http://", "https://")):
        return [("not-hashable", "comes from version control, whose bytes have no hash")]
    if not has_hash:
        problems.append(("no-hash", "has no sha256 hash"))
    return problems


def _is_pinned(parsed: Requirement) -> bool:
    pins = list(parsed.specifier)
    if len(pins) != 1 or pins[0].operator not in ("==", "==="):
        return False
    try:
        Version(pins[0].version)
    except InvalidVersion:  # ==1.*, or === something that no index can be asked for
        return False
    return True
