"""Plain text: line by line, as a terminal would have shown it in the end."""

from __future__ import annotations

import re

from vaibify_lab.provenance.compare.expressions import BAR
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

_CONTROL = re.compile(r"\x1b\[[0-9;?]{0,40}[A-Za-z]")


def decoded(stored: bytes, fresh: bytes) -> tuple[str, str]:
    """Return both as text: UTF-8 where both are, else each byte a character."""
    try:
        return stored.decode("utf-8"), fresh.decode("utf-8")
    except UnicodeDecodeError:
        return stored.decode("latin-1"), fresh.decode("latin-1")


def compare_text(stored: str, fresh: str, rules: Rules) -> Comparison:
    """Compare two texts."""
    weighing = Weighing(rules)
    if stored != fresh:
        weigh_lines(weighing, stored, fresh, "line")
    return weighing.result()


def weigh_lines(
    weighing: Weighing, stored: str, fresh: str, what: str, *, quoted: bool = False
) -> None:
    """Compare two texts line by line."""
    if weighing.rules.passes_over("terminal codes"):
        stored, fresh = _settled(weighing, stored, fresh)
    mine, yours = stored.split("\n"), fresh.split("\n")
    for number, (one, other) in enumerate(zip(mine, yours, strict=False), 1):
        weighing.line(one, other, f"{what} {number}", quoted=quoted)
    shorter = min(len(mine), len(yours))
    if len(mine) != len(yours):
        rest = "".join((mine if len(mine) > shorter else yours)[shorter:])
        if rest or not weighing.rules.passes_over("line break at the end"):
            text = f"{len(mine)} lines are now {len(yours)}"
            weighing.note("different", text, f"{what} {shorter + 1}")
        else:
            weighing.pass_over("line break at the end", f"{what} {shorter}")


def _settled(weighing: Weighing, stored: str, fresh: str) -> tuple[str, str]:
    """Take out colours and what a progress bar wrote over, and note where that mattered."""
    plain = _CONTROL.sub("", stored), _CONTROL.sub("", fresh)
    if plain != (stored, fresh) and _CONTROL.findall(stored) != _CONTROL.findall(fresh):
        weighing.pass_over("terminal codes", "colours and the like")
    seen = _without_bars if weighing.rules.of_a_file else _overwritten
    lines = [seen(text) for text in plain]
    if lines != list(plain) and plain[0] != plain[1]:
        weighing.pass_over("progress", "lines written over")
    return lines[0], lines[1]


def _overwritten(text: str) -> str:
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_last(line) for line in lines)


def _last(line: str) -> str:
    """Return what is seen of a line at last: what came last, over what it does not reach."""
    if "\r" not in line:
        return line
    parts = [part for part in line.split("\r") if part]
    return parts[-1].rstrip() if parts else ""


def _without_bars(text: str) -> str:
    """Take out of a file what is a progress bar by its form, where another state of it follows.

    Nothing else: in a file the sign that ends a bar may be what ends every line.
    """
    return "\n".join(_last_bar(line) for line in text.split("\n")) if "\r" in text else text


def _last_bar(line: str) -> str:
    *before, last = line.split("\r")
    kept = [part for part in before if not BAR.search(part)]
    if len(kept) == len(before):
        return line
    return "\r".join([*filter(None, kept), last.rstrip()])
