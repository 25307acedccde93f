"""What other languages' files say about other files: by a few patterns, and every quoted code name.

What is named may be none: it counts where there is such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from vaibify_lab.core.code_names import COMPILED, looks_like_code
from vaibify_lab.files.parsed import Parsed, Sourced
from vaibify_lab.files.shellsource import parse_shell

_INCLUDE = re.compile(r"""^[ \t]*#?[ \t]*include[ \t]*["']([^"'\n]+)["']""", re.M | re.I)
_REQUIRE = re.compile(r"""\b(?:require|import|from)\b[ \t(]*["'](\.[^"'\n]*)["']""")
_PERL_FILE = re.compile(r"""\b(?:require|do)[ \t(]+["']([^"'\n]+)["']""")
_PERL_LIB = re.compile(r"""^[ \t]*use[ \t]+lib\b[^\n"']*["']([^"'\n]+)["']""", re.M)
_PERL_MODULE = re.compile(r"^[ \t]*(?:use|require)[ \t]+([A-Za-z]\w*(?:::\w+)*)", re.M)
_QUOTED = re.compile(r"""(["'`])([^"'`\n]{1,300})\1""")
_TOGETHER = re.compile(r"\(([^()\n]{1,500})\)")
_BEFORE_NAME = re.compile(r"^[@$][\w:.{}]*/")  # a variable, such as the script's own folder
_COMMENT = re.compile(r"^[ \t]*(?:#|%|//|--|;|\*|!).*$", re.M)
_MATLAB_COMMENT = re.compile(r"%.*$", re.M)
_STARTS = re.compile(r"\.[A-Za-z]\w{0,7}\b|\s-m\s")
_OBJECT = re.compile(r"([\w./-]{1,200})\.o\b|^([\w./-]{1,200})[ \t]*:(?!=)", re.M)
_NAME = re.compile(r"\$\((\w+)\)")
_CHANGED = re.compile(r"\$\(\w+:[^()=\n]*=([^()\n]*)\)")  # $(N:%=steps/%.py)
_AUTOMATIC = re.compile(r"(?<=[\w/.-])\$(?:[*@]|\([*@][DF]?\))|\$(?:[*@]|\([*@][DF]?\))(?=[.]\w)")
_FUNCTION = re.compile(
    r"\$\((?:foreach|shell|patsubst|addprefix|addsuffix|filter|sort|strip|subst|wildcard|if|call)\s"
    r"([^()\n]*)\)"
)
_DEEPEST = 5
_FOLDERS = 20
_WORD = re.compile(r"\b[A-Za-z]\w{0,62}\b")
_MOST = 5000  # names in one file


def parse_compiled(data: bytes) -> Parsed:
    """Return what C or Fortran code includes by a quoted name."""
    return _named(found[1] for found in _INCLUDE.finditer(_text(data)))


def parse_javascript(data: bytes) -> Parsed:
    """Return the files that JavaScript imports by a relative name, whose suffix may be left out."""
    names = [found[1] for found in _REQUIRE.finditer(_text(data))]
    found = _named(
        name + more
        for name in names
        for more in ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts")
    )
    return found.joined(parse_quoted(data))


def parse_perl(data: bytes) -> Parsed:
    """Return the files and modules that Perl code requires."""
    text = _text(data)
    given = (_BEFORE_NAME.sub("", found[1]) for found in _PERL_LIB.finditer(text))
    folders = ["", "lib/", *(f"{one}/" for one in given)]
    modules = [found[1].replace("::", "/") for found in _PERL_MODULE.finditer(text)]
    files = [found[1] for found in _PERL_FILE.finditer(text)]
    found = _named([*files, *(f"{folder}{one}.pm" for one in modules for folder in folders)])
    return found.joined(parse_quoted(data))


def parse_matlab(data: bytes) -> Parsed:
    """Return the files that any word of MATLAB or Octave code may mean, in folders it names too."""
    text = _MATLAB_COMMENT.sub("", _text(data))
    named = (found[2].strip("/") for found in _QUOTED.finditer(text))
    folders = ["", *(f"{one}/" for one in islice(dict.fromkeys(named), _FOLDERS) if " " not in one)]
    words = dict.fromkeys(_WORD.findall(text))
    return _named(f"{folder}{word}.m" for folder in folders for word in words)


def parse_rules(data: bytes) -> Parsed:
    """Return what a makefile's rules may run, and the sources that it may compile unasked."""
    stems = dict.fromkeys(found[1] or found[2] for found in _OBJECT.finditer(_text(data)))
    sources = (stem + suffix for stem in stems for suffix in COMPILED if suffix[1] in "cf")
    return parse_shell(_as_shell(_text(data)).encode("utf-8", "surrogateescape")).joined(
        _named(sources)
    )


def _as_shell(text: str) -> str:
    """Return a makefile's text as its recipes hand it to a shell, as far as that can be seen.

    Of make's functions their arguments are left, of automatic variables within a name a hole.
    """
    text = _NAME.sub(r"${\1}", text.replace("$$", "$"))
    text = _AUTOMATIC.sub("%", _CHANGED.sub(r" \1 ", text))
    for _ in range(_DEEPEST):
        text, count = _FUNCTION.subn(lambda found: f" {found[1].replace(',', ' ; ')} ", text)
        if not count:
            break
    return text.replace("${MAKE}", "make")


def parse_quoted(data: bytes) -> Parsed:
    """Return the code files that any language names in quotes, also piece by piece, and commands.

    In comments that fill a line nothing counts.
    """
    text = _COMMENT.sub("", _text(data))
    quoted = dict.fromkeys(found[2] for found in _QUOTED.finditer(text))
    for call in _TOGETHER.finditer(text):
        parts = [found[2] for found in _QUOTED.finditer(call[1])]
        quoted.update({"/".join(parts): None} if len(parts) > 1 else {})
    names = (_BEFORE_NAME.sub("", one) for one in quoted)
    found = _named(one for one in names if looks_like_code(one) and len(one.split()) == 1)
    commands = [one for one in quoted if len(one.split()) > 1 and _STARTS.search(one)]
    return found.joined(Parsed(commands=tuple(commands[:_MOST])))


def _named(paths: Iterable[str]) -> Parsed:
    found = islice(dict.fromkeys(paths), _MOST)
    return Parsed(sourced=tuple(Sourced(one, 0, certain=False) for one in found))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").replace("\0", "")
