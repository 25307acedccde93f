"""HTML and SVG: tags beside tags, text beside text; a table's cell is named by row and column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from vaibify_lab.provenance.compare.ids import Language, renaming
from vaibify_lab.provenance.compare.named import named, names_what_is_below
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.text import weigh_lines
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

_TAG = re.compile(  # a quoted value may hold what ends a tag
    r"<[^<>\"']*(?:\"[^\"<]*\"[^<>\"']*|'[^'<]*'[^<>\"']*)*>|<[^<>]*>"
)
_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)")
_DATE = re.compile(r"<dc:date>[^<]*</dc:date>")
_FOREIGN = re.compile(r"<(?P<ends>/)?(?:\w+:)?(?P<name>style|script)\b", re.IGNORECASE)
_HEADER = 60


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    where: str
    is_tag: bool
    language: Language = "text"
    is_named: bool = False  # a table's column says that what stands in it are names


def compare_markup(stored: str, fresh: str, rules: Rules) -> Comparison:
    """Compare two pieces of HTML, with their tables cell by cell."""
    weighing = Weighing(rules)
    if stored != fresh:
        _weigh(weighing, stored, fresh)
    return weighing.result()


def compare_svg(stored: str, fresh: str, rules: Rules) -> Comparison:
    """Compare two SVG pictures: ids and the date apart, a figure that differs is said to."""
    weighing = Weighing(rules)
    if stored != fresh:
        dates = _DATE.findall(stored), _DATE.findall(fresh)
        if (
            rules.passes_over("SVG date")
            and dates[0] != dates[1]
            and len(dates[0]) == len(dates[1])
        ):
            weighing.pass_over("SVG date", "metadata", dates[0][0], dates[1][0])
            stored, fresh = _DATE.sub("", stored), _DATE.sub("", fresh)
        _weigh(weighing, stored, fresh)
    if weighing.verdict == "different":
        weighing.verdict = "figure-differs"
    return weighing.result()


def _weigh(weighing: Weighing, stored: str, fresh: str) -> None:
    mine, yours = list(_parts(stored)), list(_parts(fresh))
    if len(mine) != len(yours):
        _lengths(weighing, mine, yours)
        return
    rules = weighing.rules
    names = renaming(
        *([(part.text, part.language) for part in side] for side in (mine, yours)),
        may_rename=rules.passes_over("element id"),
    )
    is_left_to_own = bool(rules.own) and not rules.passes_over("element id")
    before = ""
    for one, other in zip(mine, yours, strict=True):
        if one.is_tag != other.is_tag or one.language != other.language:
            weighing.note("different", "its parts are others", one.where)
            continue
        noise = partial(weighing.pass_over, "element id", one.where)
        renamed = names.renamed(one.text, other.text, one.language, noise)
        if renamed is None and not is_left_to_own:
            weighing.note("different", "an id leads to another element", one.where)
        else:
            _weigh_part(weighing, one.text if renamed is None else renamed, other, before)
        if other.language == "text" and other.text.strip():
            before = other.text.strip()[-_HEADER:]


def _weigh_part(weighing: Weighing, stored: str, fresh: _Part, before: str) -> None:
    if stored == fresh.text:
        return
    if fresh.language == "text":  # the word that says it may stand in the cell before
        sides = [named(f"{before} {text.strip()}") for text in (stored, fresh.text)]
        if fresh.is_named or sides[0] != sides[1]:
            weigh_lines(weighing, stored, fresh.text, f"{fresh.where} line", quoted=True)
            return
    if fresh.is_tag or "\n" not in stored.strip() + fresh.text.strip():
        weighing.line(stored, fresh.text, fresh.where)
    else:
        weigh_markup_lines(weighing, stored, fresh.text, fresh.where)


def weigh_markup_lines(weighing: Weighing, stored: str, fresh: str, where: str) -> None:
    """Compare longer text between two tags, a style or a script as a rule."""
    mine, yours = stored.split("\n"), fresh.split("\n")
    if len(mine) != len(yours):
        weigh_lines(weighing, stored, fresh, f"{where} line")
        return
    for number, (left, right) in enumerate(zip(mine, yours, strict=True), 1):
        weighing.line(left, right, f"{where} line {number}")


def _lengths(weighing: Weighing, mine: list[_Part], yours: list[_Part]) -> None:
    """Say what there is more or less of."""
    rows = [sum(part.text[:3].lower() == "<tr" for part in parts) for parts in (mine, yours)]
    if rows[0] != rows[1]:
        text = f"{rows[0]} table rows are now {rows[1]}"
    else:
        text = f"{len(mine)} parts of markup are now {len(yours)}"
    first = next(
        (a for a, b in zip(mine, yours, strict=False) if (a.is_tag, a.text) != (b.is_tag, b.text)),
        None,
    )
    weighing.note("different", text, first.where if first else "at the end")


def _parts(markup: str) -> Iterator[_Part]:
    """Yield tags and the text between them, each with where it stands."""
    place = _Place()
    done = 0
    language: Language | None = None  # of what is no markup
    for tag in _TAG.finditer(markup):
        if tag.start() > done:
            text = markup[done : tag.start()]
            place.text(text)
            yield _Part(text, place.where, False, language or "text", place.is_named)
        place.tag(tag[0])
        began = _FOREIGN.match(tag[0])
        if began and began["ends"]:
            language = None
        yield _Part(tag[0], place.where, True, language or "tag")
        if began and language is None and not began["ends"] and not tag[0].endswith("/>"):
            language = "style" if began["name"].lower() == "style" else "script"
        done = tag.end()
    if done < len(markup):
        yield _Part(markup[done:], place.where, False, language or "text")


class _Place:
    """Where in a document one is: in which table's row and column, or between which tags."""

    def __init__(self) -> None:
        self._table = self._row = self._column = self._tags = 0
        self._header: list[str] = []
        self._in_head = self._in_cell = False
        self._inside: str = ""

    def tag(self, text: str) -> None:
        """Pass a tag."""
        found = _NAME.match(text)
        name = found[1].lower() if found else ""
        self._tags += 1
        is_end = text.startswith("</")
        if name == "table" and not is_end:
            self._table += 1
            self._row, self._header = 0, []
        elif name == "thead":
            self._in_head = not is_end
        elif name == "tr" and not is_end:
            self._row += 1
            self._column = 0
        elif name in ("td", "th"):
            self._in_cell = not is_end
            self._column += not is_end
            if self._in_head and not is_end and self._row == 1:
                self._header.append("")
        elif name and not is_end:
            self._inside = name

    def text(self, text: str) -> None:
        """Pass text: a head's text names its column."""
        if self._in_cell and self._in_head and self._row == 1 and self._header:
            self._header[-1] = (self._header[-1] + text.strip())[:_HEADER]

    @property
    def is_named(self) -> bool:
        """Tell whether it is a cell of a column whose header says that it holds names."""
        return self._in_cell and names_what_is_below(self._column_name)

    @property
    def _column_name(self) -> str:
        at = self._column - 1
        return self._header[at] if 0 <= at < len(self._header) else ""

    @property
    def where(self) -> str:
        """Say it."""
        if self._in_cell:
            column = self._column_name or self._column
            return f"table {self._table}, row {self._row}, column {column}"
        return f"<{self._inside}> (tag {self._tags})" if self._inside else "the beginning"
