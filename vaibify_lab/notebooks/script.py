"""The script that a cell becomes. Its first line says which cell's words it still holds.

The line stands where the cell's ``%%vaibify`` line stood, so that numbers of lines in a traceback
are the cell's. Its two marks are of the code and of the declaration as the cell wrote them: with
them anybody, in any clone, can tell whether somebody edited the script since.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core import jsonio

_LENGTH = 16
_MARK = rf"([0-9a-f]{{{_LENGTH}}})"
_HEAD = re.compile(rf"# Of the notebook cell .* \(code {_MARK}, declared {_MARK}\)\n")


@dataclass(frozen=True, slots=True)
class Script:
    """A script taken apart: the marks of its first line (empty where it has none), its code."""

    code_mark: str
    declared_mark: str
    code: str

    @property
    def is_as_written(self) -> bool:
        """Tell whether the code is still what a cell wrote."""
        return self.code_mark == mark_of(self.code)


def code_of(body: str) -> str:
    """Return a cell's lines as a script has them: ended by line feeds, the last one too."""
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.endswith("\n") else text + "\n"


def written(name: str, code: str, declared: Mapping[str, Any]) -> str:
    """Return the script of a cell."""
    marks = f"code {mark_of(code)}, declared {declared_mark(declared)}"
    return f"# Of the notebook cell %%vaibify step {name} ({marks})\n{code}"


def read(text: str) -> Script:
    """Take a script apart."""
    head = _HEAD.match(text)
    return Script(head[1], head[2], text[head.end() :]) if head else Script("", "", text)


def mark_of(code: str) -> str:
    """Return the mark of code."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def declared_mark(declared: Mapping[str, Any]) -> str:
    """Return the mark of what a cell declares."""
    return jsonio.digest(declared)[:_LENGTH]
