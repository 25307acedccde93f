"""Ids of elements in HTML and SVG: noise only under one renaming that every reference follows.

The first id of one side is the first of the other, the second the second, and so on; what leads to
an element of one side leads to the element at the same place of the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Literal
from urllib.parse import unquote

Language = Literal["text", "tag", "style", "script"]

_NAME = r"(?:[-\w\u0080-\U0010ffff]|\\[0-9a-fA-F]{1,6} ?|\\.)"
_ELEMENT = re.compile(r"<([\w:-]+)")
_ATTRIBUTE = re.compile(
    r"([^\s\"'<>/=]{1,80})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=]+))"
)
_URL = re.compile(r"url\(\s{0,9}(?:[\"']|&quot;|&apos;|&#3[49];)?#([^\s\"'()&<>]{1,400})")
_FRAGMENT = re.compile(r"(?:^|;)\s{0,9}#([^\s\"'<>;]{1,400})")
_WORD = re.compile(r"(\S+)")
_EVENT = re.compile(r"(?:^|;)\s{0,9}([^\W\d][\w-]{0,400})(?=\.[A-Za-z])")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_LEADS = frozenset({"href", "xlink:href", "usemap"})
_ANIMATED = frozenset({"to", "from", "by", "values"})
_LISTS = frozenset(
    {"for", "headers", "list", "form", "itemref", "popovertarget", "commandfor", "data-id"}
    | {f"aria-{one}" for one in ("labelledby", "describedby", "controls", "owns", "details")}
    | {f"aria-{one}" for one in ("flowto", "errormessage", "activedescendant")}
)
_CHUNK = re.compile(r"[^{};]+(?P<end>[{};]?)")
_SELECTOR = re.compile(rf"#({_NAME}{{1,400}})")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6}) ?|(.))")
_CODE = re.compile(
    rf"(?P<get>getElementById\(\s{{0,9}})?[\"'`](?P<hash>#)?(?P<name>{_NAME}{{1,400}})(?P<end>[\"'`])?"
    r"|(?P<word>[A-Za-z_$][\w$]*)"
)
_UNREAD = re.compile(
    r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)|\"[^\"\n]*\"|'[^'\n]*'"  # comments and strings of CSS
)
_SEEN = frozenset({"title", "alt", "aria-label", "value", "content", "placeholder", "label"})
# a selector by an attribute's value may name a part of an id: nothing is renamed then
_BY_VALUE = re.compile(r"\[\s{0,9}(?:id|for|name|(?:xlink\S{0,3})?href)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reference:
    start: int
    end: int
    name: str
    defines: bool = False
    renames: bool = True  # False: what may be a name or a value; the text itself counts too


@dataclass(frozen=True, slots=True)
class Renaming:
    """What each side's ids are called in common: its number, or itself where none is renamed."""

    mine: dict[str, str]
    yours: dict[str, str]
    fresh_names: dict[str, str]

    def renamed(
        self, stored: str, fresh: str, language: Language, passed: Callable[[str, str], None]
    ) -> str | None:
        """Return a part of the stored side with the fresh one's ids.

        None: something in it leads to another element than it did. ``passed`` is told of each
        id that is another.
        """
        mine = [one for one in _references(stored, language) if one.name in self.mine]
        yours = [one for one in _references(fresh, language) if one.name in self.yours]
        if [self.mine[one.name] for one in mine] != [self.yours[one.name] for one in yours]:
            return None
        pieces, done = [], 0
        for one in mine:
            now = self.fresh_names[self.mine[one.name]]
            if one.renames and now != one.name:
                pieces += [stored[done : one.start], now]
                done = one.end
                passed(one.name, now)
        return "".join([*pieces, stored[done:]])


def renaming(
    stored: Iterable[tuple[str, Language]],
    fresh: Iterable[tuple[str, Language]],
    *,
    may_rename: bool,
) -> Renaming:
    """Pair the ids of two documents, given as parts with their languages."""
    sides = list(stored), list(fresh)
    mine, yours = ([*_defined(side)] for side in sides)
    by_value = any(
        language in ("style", "script") and _BY_VALUE.search(text)
        for side in sides
        for text, language in side
    )
    pairs = set(zip(mine, yours, strict=False))
    is_one_to_one = len(mine) == len(yours) and len(pairs) == len(set(mine)) == len(set(yours))
    if by_value or not is_one_to_one or not may_rename:
        own = {name: name for name in (*mine, *yours)}
        return Renaming({name: name for name in mine}, {name: name for name in yours}, own)
    numbers = {name: str(at) for at, name in enumerate(dict.fromkeys(mine))}
    back = {other: numbers[one] for one, other in pairs}
    return Renaming(numbers, back, {number: name for name, number in back.items()})


def _defined(parts: Iterable[tuple[str, Language]]) -> Iterator[str]:
    for text, language in parts:
        if language == "tag":
            yield from (one.name for one in _in_tag(text) if one.defines)


def _references(text: str, language: Language) -> list[_Reference]:
    if language == "text":
        return []
    read = {"tag": _in_tag, "style": _in_style, "script": _in_script}[language]
    return sorted(read(text), key=lambda one: one.start)


def _in_tag(text: str) -> Iterator[_Reference]:
    found = _ELEMENT.match(text)
    element = found[1].lower() if found else ""
    for attribute in _ATTRIBUTE.finditer(text) if found else ():
        group = attribute.lastindex or 0
        value, start, name = attribute[group], attribute.start(group), attribute[1].lower()
        if name in ("id", "xml:id") or (name == "name" and element in ("a", "map")):
            yield _Reference(start, start + len(value), unescape(value), defines=True)
            continue
        if name.startswith("on") or value[:11].lower() == "javascript:":
            yield from _in_script(value, start)
            continue
        for one in _in_value(name, value):
            at, end = one.span(1)
            # of an animation it may be a colour
            renames = name not in _ANIMATED or not _COLOUR.fullmatch(one[1])
            yield _Reference(start + at, start + end, unquote(unescape(one[1])), renames=renames)


def _in_value(name: str, value: str) -> Iterator[re.Match[str]]:
    """Find the names that an attribute's value tells."""
    if name in _LISTS:
        yield from _WORD.finditer(value)
        return
    if name in ("begin", "end"):
        yield from _EVENT.finditer(value)
    for one in _FRAGMENT.finditer(value) if name not in _SEEN else ():
        if name in _LEADS or name in _ANIMATED or not _COLOUR.fullmatch(one[1]):
            yield one
    yield from _URL.finditer(value)


def _in_style(text: str) -> Iterator[_Reference]:
    for chunk in _CHUNK.finditer(_UNREAD.sub(_without_signs, text)):
        # what stands before a brace selects; elsewhere such a sign begins a colour
        expression = _SELECTOR if chunk["end"] == "{" else _URL
        for one in expression.finditer(chunk[0]):
            start = chunk.start()
            yield _Reference(start + one.start(1), start + one.end(1), _unescaped(one[1]))


def _without_signs(found: re.Match[str]) -> str:
    """Return a comment or a string of CSS as long as it was, without what ends a rule."""
    return re.sub(r"." if found[0][0] == "/" else r"[{};]", " ", found[0], flags=re.DOTALL)


def _in_script(text: str, start: int = 0) -> Iterator[_Reference]:
    """Find names in code; a word alone may be one, for each id is a variable of the page."""
    for one in _CODE.finditer(text):
        group = "name" if one["name"] else "word"
        name = _unescaped(one[group])
        leads = not _COLOUR.fullmatch(name) if one["hash"] else one["get"] and one["end"]
        at, end = one.span(group)
        yield _Reference(start + at, start + end, name, renames=bool(leads))


def _unescaped(name: str) -> str:
    def plain(found: re.Match[str]) -> str:
        number = int(found[1], 16) if found[1] else 0
        return found[2] or chr(number if 0 < number < 0x110000 else 0xFFFD)

    return _ESCAPE.sub(plain, name)
