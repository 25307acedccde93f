"""What C, Fortran, JavaScript, Perl and MATLAB files say about other files: by a few patterns.

What is named may be none: it counts where there is such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from vaibify_lab.files.parsed import Parsed, Sourced

_INCLUDE = re.compile(r"""^[ \t]*#?[ \t]*include[ \t]*["']([^"'\n]+)["']""", re.M | re.I)
_REQUIRE = re.compile(r"""\b(?:require|import|from)\b[ \t(]*["'](\.[^"'\n]*)["']""")
_PERL_FILE = re.compile(r"""\b(?:require|do)[ \t(]+["']([^"'\n]+)["']""")
_PERL_LIB = re.compile(r"""^[ \t]*use[ \t]+lib\b[^\n"']*["']([^"'\n]+)["']""", re.M)
_PERL_MODULE = re.compile(r"^[ \t]*(?:use|require)[ \t]+([A-Z]\w*(?:::\w+)*)", re.M)
_WORD = re.compile(r"\b[A-Za-z]\w{0,62}\b")
_MOST = 5000  # names in one file


def parse_compiled(data: bytes) -> Parsed:
    """Return what C or Fortran code includes by a quoted name."""
    return _named(found[1] for found in _INCLUDE.finditer(_text(data)))


def parse_javascript(data: bytes) -> Parsed:
    """Return the files that JavaScript imports by a relative name, whose suffix may be left out."""
    names = [found[1] for found in _REQUIRE.finditer(_text(data))]
    return _named(
        name + more
        for name in names
        for more in ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts")
    )


def parse_perl(data: bytes) -> Parsed:
    """Return the files and modules that Perl code requires."""
    text = _text(data)
    folders = ["", "lib/", *(f"{found[1]}/" for found in _PERL_LIB.finditer(text))]
    modules = [found[1].replace("::", "/") for found in _PERL_MODULE.finditer(text)]
    files = [found[1] for found in _PERL_FILE.finditer(text)]
    return _named([*files, *(f"{folder}{one}.pm" for one in modules for folder in folders)])


def parse_matlab(data: bytes) -> Parsed:
    """Return the files that any word of MATLAB or Octave code may mean."""
    return _named(f"{word}.m" for word in _WORD.findall(_text(data)))


def _named(paths: Iterable[str]) -> Parsed:
    found = islice(dict.fromkeys(paths), _MOST)
    return Parsed(sourced=tuple(Sourced(one, 0, certain=False) for one in found))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").replace("\0", "")
