"""Whether a cell's code is Python that any Python runs, or IPython's."""

from __future__ import annotations

import ast
import warnings

from vaibify_lab.files.ipysource import without_magics
from vaibify_lab.notebooks.names import LONGEST, free_names

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
OF_IPYTHON = frozenset({"display", "get_ipython"})  # which its kernels have without an import


def needs_ipython(code: str) -> bool:
    """Tell whether only IPython can run the code: magics, ``!``, ``display``, top-level await."""
    if compiles(code):
        return not OF_IPYTHON.isdisjoint(free_names(code))
    return any(compiles(text, awaiting=True) for text in (code, without_magics(code)))


def compiles(code: str, *, awaiting: bool = False) -> bool:
    """Tell whether Python takes the code, perhaps with ``await`` outside of functions.

    Very long code is not asked of: Python will say it.
    """
    if len(code) > LONGEST:
        return True
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if awaiting else 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "cell", "exec", flags, dont_inherit=True)
    except _UNREADABLE:
        return False
    return True
