"""Formats that a library of the extra ``compare`` reads: what it raises becomes a verdict."""

from __future__ import annotations

from collections.abc import Callable

from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.packed import CannotUnpack, Room
from vaibify_lab.provenance.compare.verdict import Comparison

Compare = Callable[[bytes, bytes, Rules, Room], Comparison]
_REFUSED = "the bytes differ, and were not looked into:"


def with_library(
    kind: str, compare: Compare, stored: bytes, fresh: bytes, rules: Rules, room: Room
) -> Comparison:
    """Compare with a library; without it, or where it cannot read, the files are different."""
    try:
        return compare(stored, fresh, rules, room)
    except ModuleNotFoundError as error:
        needed = (error.name or "").partition(".")[0]
        text = f"{kind} is read with {needed}; install vaibify_lab with its extra 'compare'"
        return Comparison("different", f"{_REFUSED} {text}")
    except CannotUnpack as error:
        return Comparison("different", f"{_REFUSED} {error}")
    except Exception as error:  # whatever a file made to hurt makes its reader raise
        text = f"no {kind} that can be read ({type(error).__name__})"
        return Comparison("different", f"{_REFUSED} {text}")
