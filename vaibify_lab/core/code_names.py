"""Which names are those of code, and which files programs read as code unasked."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

COMPILED = (
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cu", ".cuh"),
    *(".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08"),
)
_CODE = (
    *(".py", ".ipy", ".ipynb", ".pyx", ".pxd", ".pxi", ".sage"),
    *(".sh", ".bash", ".zsh", ".ksh", ".awk", ".sed", ".gp", ".gnuplot"),
    *(".r", ".rmd", ".qmd", ".jl", ".m", ".wl", ".wls", ".stan", ".do", ".sas"),
    *(".pl", ".pm", ".js", ".mjs", ".cjs", ".ts", ".lua", ".rb", ".tcl"),
    *(".rs", ".go", ".java"),
    *COMPILED,
    *(".mk", ".smk", ".cmake"),
)
_ABOUT = frozenset(
    {"README", "LICENSE", "LICENCE", "COPYING", "AUTHORS", "NOTICE", "CHANGELOG", "CITATION"}
)
# What programs read where no word names another: file names, each as it may be written.
_UNASKED = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    "snakemake": ("Snakefile", "workflow/Snakefile"),
    "just": ("justfile", "Justfile"),
    "ninja": ("build.ninja",),
    "scons": ("SConstruct",),
    "doit": ("dodo.py",),
}
RULES = frozenset(posixpath.basename(one) for names in _UNASKED.values() for one in names)
_NAMES_ANOTHER = re.compile(r"-[A-Za-z]*f$|--(?:file|makefile|snakefile|justfile|sconstruct)\b")


def looks_like_code(path: str) -> bool:
    """Tell by its name whether a file is code that a command may run, compile or make by."""
    return path.lower().endswith(_CODE) or posixpath.basename(path) in RULES


def counts_in_folder(path: str) -> bool:
    """Tell whether a file in a folder of code is code: by its name, or for want of an ending."""
    name = posixpath.basename(path)
    plain = name != "" and "." not in name and name.upper() not in _ABOUT
    return plain or looks_like_code(path)


def unasked(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the files that a program reads by itself, unless a word names another."""
    names = _UNASKED.get(words[0], ()) if words else ()
    if not names or any(_NAMES_ANOTHER.match(one) for one in words[1:]):
        return
    if words[0] == "snakemake" and "-s" in words:
        return
    place = words[words.index("-C") + 1 :][:1] if "-C" in words else ()
    yield from (posixpath.join(*place, name) for name in names)
