"""What of a notebook decides what its run does, told apart from what every save rewrites."""

from __future__ import annotations

import hashlib

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.provenance.compare.notebook_file import read_notebook

# What nbclient and papermill do otherwise with a cell that has one of them.
TAGS = frozenset({"raises-exception", "skip-execution", "parameters", "injected-parameters"})
_NATIVE = "python3"  # what the runner takes where a notebook names no kernel


def what_runs(data: bytes) -> str | None:
    """Return one digest of all that a kernel is given, None for what is no notebook.

    In it: the sources of the code cells, in order and byte for byte, their tags that runners act
    on, the kernel's name and language. Not in it: outputs, counts, ids, text cells and raw ones,
    other metadata, and code cells that hold nothing.
    """
    try:
        book = read_notebook(data, "notebook")
    except VaibifyError:
        return None
    cells = [[cell.source, sorted(cell.tags & TAGS)] for cell in book.code]
    value = {"kernel": book.kernel or _NATIVE, "language": book.language, "cells": cells}
    return hashlib.sha256(jsonio.line(value)).hexdigest()  # no text normalised
