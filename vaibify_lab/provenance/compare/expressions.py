r"""The forms of what says nothing of a result, by kind.

Each expression is anchored by what stands around it, because an address, a time or a duration can
also be a result. What stays doubtful counts in a cell's output alone, never in a file: a rate
in a text may be what was measured. No expression repeats something that repeats, so that none
takes long.
"""

from __future__ import annotations

import re
from functools import cache

from vaibify_lab.provenance.compare.named import NAMED
from vaibify_lab.provenance.compare.numbers import NUMBER

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_TIMED = (
    r"(?:wall[ -]time|cpu[ -]times?|elapsed[ -]time|run[ -]?time"
    r"|(?:execution|computation|training|fitting|processing|total)[ -]time)"
)
# of these a number alone may count things that were found
_TOOK = r"(?:elapsed|took|(?:finished|done|completed|passed|failed|ran) in)"
_UNIT = r"(?:ns|[\u00b5\u03bcu]s|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?!\w)"
_VALUE = r"\d{1,12}(?:[.:]\d{1,12}){0,3}(?:e[-+]?\d{1,3})?"
_HEX = r"[0-9a-fA-F]"
_SPAN = r"\d{1,4}:\d\d(?::\d\d)?"
_SIZE = r"[\d.]{1,14}[kMGTP]?i?B?"
_LEFT = (
    rf"{_SPAN}<(?:{_SPAN}|\?)(?:, {{1,8}}(?:[\d.]{{1,12}}|\?)[ A-Za-z]{{0,20}}/[A-Za-z]{{1,20}})?"
)
_THINGS = r"(?P<things> ?(?:it|B|batch(?:es)?|rows|files|samples|examples|steps?|epochs?))"
_LINES = r"[\u2501\u2578\u257a]{3,100}"
# kind, expression; group h: what stands before and is compared
_CERTAIN: tuple[tuple[str, str], ...] = (
    ("address", rf"(?P<h0> at )0x{_HEX}{{9,16}}(?=>)"),
    # tqdm, with and without a total; what it was told to show behind is compared
    ("progress", rf"(?P<h11>\b{_SIZE}/{_SIZE} \[){_LEFT}"),
    (
        "progress",
        rf"(?P<h12>\b[\d.]{{1,14}}[kMGTP]?{_THINGS} \[){_SPAN}, {{1,8}}"
        r"(?:(?:[\d.]{1,12}[kMGTP]?|\?)(?P=things)/s|[\d.]{1,12}s/(?P=things))",
    ),
    # Keras
    (
        "progress",
        rf"(?P<h13>\b\d{{1,9}}/\d{{1,9}} (?:\[[=>.]{{3,100}}\] - |{_LINES} ))"
        r"(?:ETA: {1,2})?(?:\d{1,6}m?s|\d{1,3}(?::\d\d){1,2})"
        r"(?: \d{1,6}[mu\u00b5]?s/(?:step|epoch|sample))?(?!\w)",
    ),
    # pip
    (
        "progress",
        rf"(?P<h14>(?:{_LINES} {{1,2}}[\d.]{{1,12}}/|\|[\u2588-\u258f ]{{3,100}}\| {{1,2}})"
        r"[\d.]{1,12} [kMG]?B {1,4})(?:[\d.]{1,12}|\?) [kMG]?B/s"
        r"(?: {1,2}(?:eta )?[\d-]{1,3}(?::[\d-]{2}){2})?",
    ),
    ("time", rf"\b\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:Z|[-+]\d\d:?\d\d)?"),
    ("time", rf"\b{_DAY},? {MONTH} {{1,2}}\d{{1,2}} {_CLOCK} (?:[A-Z]{{3,5}} )?\d{{4}}\b"),
    ("time", rf"\b{_DAY}, \d{{1,2}} {MONTH} \d{{4}} {_CLOCK}(?: (?:GMT|[-+]\d{{4}}))?"),
    ("time", r"\bdatetime\.datetime\(\d{4}(?:, ?\d{1,6}){4,6}\)"),
    ("date", r"\b\d{4}-\d\d-\d\d\b(?!:)"),
    # names that a machine made up; what follows is a result like any other
    ("temporary path", r"(?P<h4>(?<![\w./-])/tmp/)ipykernel_\d{1,8}/\d{1,12}\.py"),
    (
        "temporary path",
        r"(?P<h16>(?<![\w./-])/tmp/)tmp(?:[a-z0-9_]{8}|\.[A-Za-z0-9]{6,12})(?!\w)",
    ),
    (
        "temporary path",
        r"(?P<h10>/var/folders/)[\w+-]{1,4}/[\w+-]{1,60}/\w(?:/tmp[a-z0-9_]{8}(?!\w))?(?![\w-])",
    ),
    ("kernel number", r"(?P<h5>\bipykernel_)\d{1,8}(?:/\d{1,12}\.py)?"),
)
_IN_CELLS: tuple[tuple[str, str], ...] = (
    ("address", rf"(?P<h1>(?i:\bat |\bid=|\baddress[=: ]{{1,3}}))0x{_HEX}{{8,16}}\b"),
    ("address", rf"\b0x(?:0{{4}})?(?:7[ef]|55|56|10){_HEX}{{8,10}}\b"),
    ("uuid", rf"\b{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\b"),
    ("progress", rf"\[{_LEFT}"),
    ("progress", r"(?P<h17>\b\d{1,9}/\d{1,9} - )\d{1,6}m?s(?!\w)"),
    ("progress", rf"{_VALUE} ?(?:k?B|MB|GB|kiB|MiB|GiB|it|step|batch(?:es)?)/s\b"),
    ("progress", rf"{_VALUE} ?(?:s|ms|[\u00b5u]s)/(?:it|step|epoch|loop)\b"),
    ("duration", rf"{_VALUE} ?{_UNIT} (?:\u00b1|\+-) {_VALUE} ?{_UNIT} per loop"),
    (
        "duration",
        rf"(?P<h2>\b(?:user |sys: |CPU times: ?user |, total: )){_VALUE} ?{_UNIT}"
        rf"(?: {_VALUE} ?{_UNIT}){{0,2}}",
    ),
    (
        "duration",
        rf"(?P<h3>(?i:\b(?:{_TOOK}|{_TIMED}))(?: [A-Za-z]{{1,12}})?[:= ]{{1,4}})"
        rf"(?:{_VALUE} ?{_UNIT}(?: {_VALUE} ?{_UNIT}){{0,2}}|{_SPAN}(?:\.\d{{1,9}})?(?![\d:]))",
    ),
    (
        "duration",
        rf"(?P<h20>(?i:\b{_TIMED})[:= ]{{1,4}}){_VALUE}(?![.:\d]| ?[A-Za-z%])",
    ),
    ("clock", rf"(?<![\d:.]){_CLOCK}(?![\d:])"),
    # the figure itself is compared by its pixels
    ("figure line", r"(?P<h9><Figure size )\d{1,6}(?:\.\d{1,6})?x\d{1,6}(?:\.\d{1,6})?(?= with )"),
    (
        "temporary path",
        r"(?P<h18>(?<![\w./-])/tmp/)(?:ipykernel_\d{1,8}/\d{1,12}\.py|[\w.-]{1,100})",
    ),
    ("temporary path", r"(?P<h19>/var/folders/)[\w+-]{1,4}/[\w+-]{1,60}/\w/[\w.-]{1,100}"),
    ("process number", r"(?P<h6>(?i:\bpid[=: ]{1,3}))\d{1,8}\b"),
    (
        "installation path",
        r"(?<![\w./-])/[\w./@+-]{1,150}/(?:(?:site|dist)-packages|lib/python3\.\d{1,2})(?=/)",
    ),
)
_ALL = (*_IN_CELLS, *_CERTAIN)  # what takes more comes first
_KINDS = {f"n{number}": kind for number, (kind, _) in enumerate(_ALL)}
BAR = re.compile("|".join(expression for kind, expression in _CERTAIN if kind == "progress"))


@cache
def joined(kinds: frozenset[str] | None) -> re.Pattern[str]:
    """Return what finds noise, numbers and blanks; ``kinds`` as in `noise.Rules`."""
    known = enumerate(_ALL)
    found = known if kinds is None else [one for one in known if one[0] >= len(_IN_CELLS)]
    parts = [
        f"(?P<n{number}>{expression})"
        for number, (kind, expression) in found
        if kinds is None or kind in kinds
    ]
    rest = (f"(?P<text>{NAMED})", f"(?P<number>{NUMBER})", r"(?P<blank>[ \t]+)")
    return re.compile("|".join([*parts, *rest]))


def kind_and_head(match: re.Match[str]) -> tuple[str, str]:
    """Return the kind of what was found, and what of it stands before and is compared."""
    group = match.lastgroup or ""
    heads = (value for key, value in match.groupdict().items() if value and key[0] == "h")
    return _KINDS.get(group, group), next(heads, "")
