"""Text for a terminal: how wide it is, cut and wrapped so that it fits."""

from __future__ import annotations

import unicodedata

NARROWEST = 20


def columns(text: str) -> int:
    """Return how many columns of a terminal printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def cut(text: str, width: int) -> str:
    """Return text that takes no more than ``width`` columns, with an ellipsis where it was cut."""
    if columns(text) <= width:
        return text
    end, room = 0, width - 3
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        end += 1
    return text[:end] + "..."


def fill(text: str, width: int) -> str:
    """Return text cut, or filled with spaces, to exactly ``width`` columns."""
    short = cut(text, width)
    return short + " " * (width - columns(short))


def wrap(text: str, width: int | None, hang: int = 0) -> list[str]:
    """Return text as lines of at most ``width`` columns; None: one line.

    Parameters
    ----------
    text : str
        One line; its leading spaces are kept.
    width : int or None
        Columns, at least `NARROWEST`.
    hang : int
        By how many columns the lines after the first are moved in.
    """
    if width is None or columns(text) <= width:
        return [text]
    start = len(text) - len(text.lstrip(" "))
    indent = " " * min(hang, width // 2)
    lines, line = [], " " * start
    is_empty = True
    for word in text.split():
        for piece in _pieces(word, width - len(indent)):
            needed = columns(line) + columns(piece) + (not is_empty)
            if not is_empty and needed > width:
                lines.append(line)
                line, is_empty = indent, True
            line += piece if is_empty else f" {piece}"
            is_empty = False
    return [*lines, line]


def _pieces(word: str, width: int) -> list[str]:
    """Split a word that is wider than a line."""
    pieces, piece, used = [], "", 0
    for char in word:
        if used + _columns(char) > width:
            pieces.append(piece)
            piece, used = "", 0
        piece += char
        used += _columns(char)
    return [*pieces, piece]


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
