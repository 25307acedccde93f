"""Files of text by their kind: what may be a result is compared, only what cannot be is noise."""

from __future__ import annotations

import re
from dataclasses import replace

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.markup import compare_markup, compare_svg
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.provenance.compare.notebooks import compare_notebooks
from vaibify_lab.provenance.compare.structured import compare_json_lines, compare_json_text
from vaibify_lab.provenance.compare.tables import NoTable, compare_tables
from vaibify_lab.provenance.compare.text import decoded, weigh_lines
from vaibify_lab.provenance.compare.verdict import Comparison, Ignored, joined
from vaibify_lab.provenance.compare.weighing import Weighing

MOST_PARTS = 1_000_000  # lines, or tags: what memory grows with
MOST_TEXT = 16 * 2**20  # bytes of text without a form, in which numbers must be looked for
SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".tab"), "table"),
    **dict.fromkeys((".json", ".geojson"), "JSON"),
    **dict.fromkeys((".jsonl", ".ndjson"), "JSON lines"),
    **dict.fromkeys((".html", ".htm", ".xml", ".rels"), "markup"),
    ".svg": "SVG",
    ".ipynb": "notebook",
}
_NOTHING: frozenset[str] = frozenset()
_IN_SVG = frozenset({"element id", "SVG date"})
_IN_TEXT = frozenset(
    {"address", "temporary path", "kernel number", "progress"}
    | {"terminal codes", "line ends", "line break at the end"}
)
_CLOCKS = frozenset({"time", "date"})  # such only when the time of the run is known
_OFFICE = re.compile(  # members of office files, which are zip files
    r".*\.(?:(?:xls|doc|ppt)[xm]/docProps/core|od[stpg]/meta)\.xml", re.IGNORECASE | re.DOTALL
)
_PROPERTY = re.compile(
    r"(?<=<)(dcterms:created|dcterms:modified|meta:creation-date|meta:editing-duration|dc:date)"
    r"([^<>]{0,200})>([^<>]{0,60})(?=</)"
)


def compare_texts(kind: str, path: str, stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    """Compare two files of text; ``kind`` is one of `SUFFIXES`, or text."""
    mark = b"<" if kind in ("markup", "SVG") else b"\n"
    if max(stored.count(mark), fresh.count(mark)) > MOST_PARTS and kind != "table":
        text = f"the bytes differ, and were not looked into: more than {MOST_PARTS:,} lines or tags"
        return Comparison("different", text)
    if max(len(stored), len(fresh)) > MOST_TEXT and kind in ("text", "markup", "SVG"):
        text = f"the bytes differ, and were not looked into: larger than {MOST_TEXT:,} bytes"
        return Comparison("different", text)
    strict = replace(rules, kinds=_NOTHING)
    if kind == "notebook":
        return _notebooks(stored, fresh, rules)
    if kind == "JSON":
        return compare_json_text(stored, fresh, strict)
    if kind == "JSON lines":
        found = compare_json_lines(stored, fresh, strict)
        return found or compare_texts("text", path, stored, fresh, rules)
    mine, yours = decoded(stored, fresh)
    if kind == "SVG":
        return compare_svg(mine, yours, replace(rules, kinds=_IN_SVG))
    if kind == "markup":
        compare = _office if _OFFICE.fullmatch(path) else compare_markup
        return compare(mine, yours, strict)
    if kind == "table":
        try:
            return compare_tables(mine, yours, strict, tabs=not path.lower().endswith(".csv"))
        except NoTable:
            return compare_texts("text", path, stored, fresh, rules)
    return _plain(stored, fresh, rules)


def _plain(stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    kinds = _IN_TEXT | (_CLOCKS if rules.ran is not None else _NOTHING)
    weighing = Weighing(replace(rules, kinds=kinds))
    mine, yours = decoded(stored, fresh)
    if weighing.rules.passes_over("line ends"):
        ends = [[line.endswith("\r") for line in text.split("\n")] for text in (mine, yours)]
        mine, yours = mine.replace("\r\n", "\n"), yours.replace("\r\n", "\n")
        if any(one != other for one, other in zip(*ends, strict=False)):
            weighing.pass_over("line ends", "the file")
    weigh_lines(weighing, mine, yours, "line")
    return weighing.result()


def _office(stored: str, fresh: str, rules: Rules) -> Comparison:
    """Compare the core properties of an office file: when it was made is noise."""
    found = [_PROPERTY.findall(text) for text in (stored, fresh)]
    if not rules.ignore or len(found[0]) != len(found[1]):
        return compare_markup(stored, fresh, rules)
    plain = [_PROPERTY.sub(r"\1\2>", text) for text in (stored, fresh)]
    noise = tuple(
        Ignored("core properties", one[0], one[2], other[2])
        for one, other in zip(*found, strict=True)
        if one != other
    )
    passed = Comparison("noise-only" if noise else "identical", "", "", None, None, noise)
    rest = compare_markup(plain[0], plain[1], rules)
    return joined([rest, replace(passed, ignored_count=len(noise))])


def _notebooks(stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    """Compare two notebooks with their outputs; what else differs is of how it was run."""
    try:
        mine, yours = read_notebook(stored, "stored"), read_notebook(fresh, "fresh")
    except InvalidFile as error:
        return Comparison("different", f"the bytes differ, and one is no notebook: {error}")
    texts = [[cell.source for cell in one.cells if not cell.is_code] for one in (mine, yours)]
    if texts[0] != texts[1]:
        return Comparison("different", "the cells of text are others", "the notebook")
    found = compare_notebooks(mine, yours, rules)
    noise = found.ignored or (Ignored("notebook metadata", "the notebook"),)
    return joined([found.whole, Comparison("noise-only", "", "", None, None, noise, len(noise))])
