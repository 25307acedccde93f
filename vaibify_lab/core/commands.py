"""Which files of the repository a step's commands name, read from their text alone.

``cd`` is followed within one command; what variables or ``eval`` stand for is not known (a sealed
run proves that nothing was missed).
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from vaibify_lab.core import shell
from vaibify_lab.core.code_names import looks_like_code, unasked
from vaibify_lab.core.each import each_of
from vaibify_lab.core.holes import HOLE, is_unknown, with_holes, without_unknown_folders
from vaibify_lab.core.interpreters import Program, called_by, program_of, test_files_of
from vaibify_lab.core.references import ROOT

_PIECE = re.compile(r"[^\s'\"`();<>|&,=]+")
_READ_NOTHING = frozenset(
    {"mkdir", "rm", "rmdir", "touch", "test", "[", "[[", "echo", "printf", "tee", "ls", "git"}
    | {"chmod", "chown", "stat", "du", "which", "basename", "dirname"}
)
_READ_ALL = frozenset(
    {"diff", "cmp", "comm", "grep", "egrep", "fgrep", "cat", "jq", "head", "tail", "wc", "paste"}
    | {"sha256sum", "sha512sum", "sha1sum", "md5sum", "shasum", "b2sum", "join", "sdiff", "numdiff"}
)
_HOLDS_TEXT = re.compile(r"['\"`]|<<")  # words inside a word may be commands too
_HERE = re.compile(r"^(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)/")
_SEARCH = re.compile(r"(PYTHON)?PATH\+?=")
_INCLUDES = frozenset({"-I", "-iquote", "-isystem"})
_FOLDER = re.compile(r"-(?:I|iquote|isystem)(.+)")
_NOT_LITERAL = re.compile(r"[$`*?\[\]{}\x00]")
_NOT_KNOWN = re.compile(r"[$`{}\x00]")
_NUL = re.compile(r"\x00")
_ARGUMENT = re.compile(r"\$\{?[0-9@*]")
_IMPORTS_UNKNOWN = re.compile(r"^\s*(?:import|from)\s+[\w.]*[$@]", re.MULTILINE)
_UNKNOWN_FILES = "runs files whose names it works out"
_ROOT = "{" + ROOT + "}"


@dataclass(frozen=True, slots=True)
class Named:
    """What commands name: repository paths and Python modules.

    ``scripts`` stand where an interpreter expects its program, or pytest its tests (they must
    exist); ``mentioned`` is every word that could be a path inside the repository; ``modules``
    follow ``python -m``. ``patterns`` stand for the files that fit; ``given`` are words of programs
    that may read a folder; ``search`` are folders in which they have a program look for code: by
    ``PYTHONPATH``, by ``-I``, or where ``python -m`` starts; ``read`` are words of programs that do
    nothing but read their files. ``python`` is the code that follows ``python -c`` or stands in a
    here-document, each with the folder in which it is started. ``fitting`` are names of code with
    holes (see `core.holes`), ``computed`` what is said of code of whose name nothing is known.
    ``called`` are programs that the shell looks for, ``path`` folders in which they have it look.
    ``unread`` are words of programs that do not read what they name, and what a shell writes.
    """

    scripts: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    python: tuple[tuple[str, str], ...] = ()
    fitting: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def reads(self, path: str) -> bool:
        """Tell whether a path that is mentioned is one that is read, unless it is written."""
        return path in self.given or path not in self.unread


def named_by(commands: Iterable[str], directory: str) -> Named:
    """Read what commands name, as seen from their working directory (repository path)."""
    found = _Reading(directory)
    for command in commands:
        found.command(command)
    return Named(
        scripts=tuple(found.scripts),
        modules=tuple(found.modules),
        mentioned=tuple(found.mentioned),
        patterns=tuple(found.patterns),
        given=tuple(found.given),
        search=tuple(found.search),
        read=tuple(found.read),
        python=tuple(found.python),
        fitting=tuple(found.fitting),
        computed=tuple(found.computed),
        called=tuple(found.called),
        path=tuple(found.path),
        unread=tuple(found.unread),
    )


def search_path(text: str, directory: str | None) -> list[str]:
    """Return the folders of the repository in the value of ``PYTHONPATH`` or ``PATH``."""
    here = (_HERE.sub("./", f"{piece}/") for piece in text.split(":"))
    pieces = (_moved((piece,), directory) for piece in here)
    return [piece for piece in pieces if piece is not None]


def python_in(text: str) -> list[str]:
    """Return the Python that shell text holds: after ``-c``, and in here-documents."""
    simple = [part for part in shell.parts(text) if isinstance(part, shell.Simple)]
    programs = [program_of(part.words) for part in simple]
    found = [one.text for one in programs if one and one.kind == "python"]
    if any(one and one.kind == "stdin" for one in programs):
        found += shell.split_here_documents(text)[1]
    return found


def simple_commands(command: str) -> list[list[str]]:
    """Split a shell command into its simple commands' words, quotes removed."""
    simple = (part for part in shell.parts(command) if isinstance(part, shell.Simple))
    return [[*part.words, *part.targets] for part in simple]


@dataclass(slots=True)
class _Reading:
    directory: str
    scripts: dict[str, None] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    mentioned: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    given: dict[str, None] = field(default_factory=dict)
    search: dict[str, None] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)
    made: dict[str, None] = field(default_factory=dict)
    python: dict[tuple[str, str], None] = field(default_factory=dict)
    fitting: dict[str, None] = field(default_factory=dict)
    computed: dict[str, None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    path: dict[str, None] = field(default_factory=dict)
    unread: dict[str, None] = field(default_factory=dict)

    def command(self, text: str) -> None:
        """Read one command line, which starts in the step's directory."""
        here: str | None = self.directory
        around: list[str | None] = []
        for part in shell.parts(text):
            if isinstance(part, shell.Simple):
                here = self._simple(part, here, text)
            elif part == "(":
                around.append(here)
            elif around:
                here = around.pop()
        if _HOLDS_TEXT.search(text):
            self._mention(_PIECE.findall(text), self.directory)

    def _simple(self, part: shell.Simple, here: str | None, text: str) -> str | None:
        """Read one simple command; return the directory that the next one starts in."""
        if part.words[:1] in (("cd",), ("pushd",)):
            return _moved(part.words[1:], here)
        each = each_of(part.words)
        if each is not None:
            part = dataclasses.replace(part, words=each.words)
            self._fit(each.fitting, here)
            self.computed.update({_UNKNOWN_FILES: None} if each.unknown else {})
        self._mention((*part.words, *part.targets, *unasked(part.words)), here)
        _add(self.made, part.targets, here)
        _add(self.unread, part.written, here)
        for before, word in zip(("", *part.words), part.words, strict=False):
            self._told_by_option(before, word, here)
        if part.words and part.words[0] in _READ_ALL:
            _add(self.read, part.words[1:], here)
        if part.words and part.words[0] in _READ_NOTHING:
            pieces = [piece for word in part.words[1:] for piece in _PIECE.findall(word)]
            _add(self.unread, (*part.words[1:], *pieces), here)
        elif part.words:
            _add(self.patterns, part.patterns, here, _NOT_KNOWN)
            _add(self.given, part.words[1:], here)
        _add(self.scripts, test_files_of(part.words), here)
        self.called.update(dict.fromkeys(called_by(part.words)))
        program = program_of(part.words)
        if program is not None:
            self._program(program, here, text)
        return None if part.words[:1] == ("popd",) else here

    def _told_by_option(self, before: str, word: str, here: str | None) -> None:
        """Read what an option, or a variable, says of where code lies or is made."""
        if before == "-o":
            _add(self.made, (word,), here)
        elif before in _INCLUDES:
            _add(self.search, (word,), here)
        elif folder := _FOLDER.match(word):
            _add(self.search, (folder[1],), here)
        elif told := _SEARCH.match(word):
            found = self.search if told[1] else self.path
            found.update(dict.fromkeys(search_path(word.partition("=")[2], here)))

    def _program(self, program: Program, here: str | None, text: str) -> None:
        if program.kind in ("module", "python", "stdin") and here and here != self.directory:
            self.search[here] = None  # Python looks where it is started
        holed = _holed(program.text) if program.kind in ("file", "module") else ""
        if said := _of_unknown(program):
            self.computed[said] = None
        elif HOLE in holed:
            self._fit(_files_of_module(holed) if program.kind == "module" else [holed], here)
        elif program.kind == "file":
            path = _repository_path(program.text, here)
            self.scripts.update({path: None} if path and path not in self.made else {})
        elif program.kind == "module" and program.text:
            self.modules[program.text] = None
        elif program.kind == "shell":
            inner = dataclasses.replace(self, directory=here or "")
            inner.command(program.text)
        elif program.kind in ("python", "stdin"):
            given = program.kind == "python"
            for code in [program.text] if given else shell.split_here_documents(text)[1]:
                self.python[code, self.directory if here is None else here] = None

    def _mention(self, words: Iterable[str], here: str | None) -> None:
        for word in words:
            value = word.partition("=")[2] if "=" in word else word[2:] if word[:2] == "-f" else ""
            for piece in filter(None, (word, value)):
                path = _repository_path(piece, here)
                if path:
                    self.mentioned[path] = None
                self._fit([piece], here)

    def _fit(self, names: Iterable[str], here: str | None) -> None:
        """Add the names of code among these that have holes."""
        found = (_fitting(name, here) for name in names)
        self.fitting.update(dict.fromkeys(filter(None, found)))


def _of_unknown(program: Program) -> str:
    """Say what is started when nothing is known of its name; "" otherwise.

    What a script is given as its arguments stands where it is started, and counts there.
    """
    text = program.text
    if program.kind == "python" and _IMPORTS_UNKNOWN.search(text):
        return "imports a module whose name it works out"
    if program.kind not in ("file", "module") or _ARGUMENT.search(text) or looks_like_code(text):
        return ""
    if not is_unknown(with_holes(text)):
        return ""
    return f"runs a {program.kind} whose name it works out"


def _files_of_module(name: str) -> list[str]:
    """Return the files that ``python -m`` may run, of a module's name with holes."""
    path = name.replace(".", "/")
    return [f"{path}.py", f"{path}/__main__.py"]


def _fitting(word: str, here: str | None) -> str | None:
    """Return a name of code that has holes, as a repository path."""
    holed = without_unknown_folders(_holed(word))
    if HOLE not in holed or not looks_like_code(holed):
        return None
    return _repository_path(holed, "" if here is None else here, _NUL)


def _holed(word: str) -> str:
    root = _ROOT if word.startswith(_ROOT) else ""
    return root + with_holes(word.removeprefix(root))


def _add(
    found: dict[str, None],
    words: Iterable[str],
    here: str | None,
    unknown: re.Pattern[str] = _NOT_LITERAL,
) -> None:
    """Add the repository paths that words mean."""
    paths = (_repository_path(word, here, unknown) for word in words)
    found.update(dict.fromkeys(filter(None, paths)))


def _moved(arguments: tuple[str, ...], here: str | None) -> str | None:
    """Return where ``cd`` leads; None when its text does not say."""
    target = next((one for one in arguments if not one.startswith("-")), None)
    if target in (None, ".", "./"):
        return here if target else None
    if target in (_ROOT, f"{_ROOT}/"):
        return ""
    return _repository_path(target, here)


def _repository_path(
    word: str, here: str | None, unknown: re.Pattern[str] = _NOT_LITERAL
) -> str | None:
    """Return the repository path that a word means, or None when it can be none."""
    if word.startswith(_ROOT):
        joined = word.removeprefix(_ROOT).lstrip("/")
    elif here is None or word.startswith(("/", "~", "-")) or "://" in word:
        return None
    else:
        joined = posixpath.join(here, word) if word else ""
    if not joined or len(joined) > 4096 or unknown.search(joined):
        return None
    path = posixpath.normpath(joined)
    return None if path in (".", "..") or path.startswith("../") else path
