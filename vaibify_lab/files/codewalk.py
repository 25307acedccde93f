"""The walk from scripts to all code that they reach, one file at a time."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaibify_lab.core.code_names import COMPILED, looks_like_code
from vaibify_lab.core.commands import Named
from vaibify_lab.core.holes import HOLE
from vaibify_lab.files.modules import CUSTOMARY, is_standard
from vaibify_lab.files.parsed import Import, Parsed, Sourced
from vaibify_lab.files.paths import escaped, join
from vaibify_lab.files.pysource import parse_python

if TYPE_CHECKING:
    from vaibify_lab.files.imports import Moment

_UNASKED = ("sitecustomize.py", "usercustomize.py")
_HEADERS = ("include", "inc", "src")  # where headers lie by custom


@dataclass(slots=True)
class _Reached:
    """What one start reaches with one search path."""

    files: dict[str, None]
    missing: dict[tuple[str, str], int]
    search: dict[str, None]


class Walk:
    """One scan: every script and module that is run, each with the path that Python would have."""

    def __init__(self, moment: Moment, directory: str) -> None:
        self._moment = moment
        self._finder = moment.finder
        self._directory = directory
        self._queued: set[str] = set()
        self._search: dict[str, None] = {}
        self._path: dict[str, None] = {}
        self._called: dict[str, None] = {}
        self._pending: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self._inline: dict[str, Parsed] = {}
        self._origin: dict[str, str] = {}
        self.files: set[str] = set()
        self.missing: dict[tuple[str, str], int] = {}
        self.problems: set[str] = set()
        self.computed: set[tuple[str, int, str]] = set()

    def run(self, scripts: Iterable[str], named: Named) -> None:
        """Follow scripts and what commands name, and what these run in their turn."""
        for path in scripts:
            self._queue(path)
        self._start(named, "")
        while self._pending or self._queue_called():
            self._follow(*self._pending.pop())

    def _start(self, named: Named, origin: str) -> None:
        """Queue what commands start otherwise than by a file's path, and look where they say."""
        self._look_in(named.search)
        self._path.update(dict.fromkeys(named.path))
        self._called.update(dict.fromkeys(named.called))
        for module in named.modules:
            self._queue_module(module, origin)
        for code, folder in named.python:
            self._queue_code(code, folder, origin)

    def _queue_called(self) -> bool:
        """Queue the programs that are called and lie where a shell was told to look for them."""
        for folder in self._path:
            held = self._finder.listing(folder)
            for name in self._called:
                for file in held.file(name):
                    self._queue(join(folder, file))
        return bool(self._pending)

    def _look_in(self, folders: Iterable[str]) -> None:
        """Look for code in these folders too; Python runs two modules there unasked."""
        for folder in folders:
            self._search[folder] = None
            for name in _UNASKED:
                for file in self._finder.file(join(folder, name)):
                    self._queue(file)

    def _queue(self, path: str) -> None:
        if not looks_like_code(path):  # ``python app`` runs app/__main__.py
            path = next(iter(self._main(path)), path)
        if path not in self._queued:
            self._queued.add(path)
            roots = dict.fromkeys((posixpath.dirname(path), self._directory, *CUSTOMARY))
            self._pending.append(((path,), tuple(roots)))

    def _queue_code(self, code: str, folder: str, origin: str) -> None:
        """Queue Python that stands in a command, as a file that no tree can have."""
        name = f"-c {folder}\0{code}"
        if name not in self._queued:
            self._queued.add(name)
            path = join(folder, f"\0{len(self._inline)}")
            parsed = parse_python(code)
            self._inline[path] = replace(parsed, problem="")  # what a shell puts in need not parse
            self._origin[path] = origin
            roots = dict.fromkeys((folder, self._directory, *CUSTOMARY))
            self._pending.append(((path,), tuple(roots)))

    def _queue_module(self, module: str, origin: str) -> None:
        """Queue what ``python -m module`` runs: the module, or its package's ``__main__``."""
        if f"-m {module}" in self._queued:
            return
        self._queued.add(f"-m {module}")
        roots = tuple(dict.fromkeys((self._directory, *self._search, *CUSTOMARY)))
        found = self._finder.absolute(module, roots)
        mains = [one for folder in found.folders for one in self._main(folder)]
        if found.files or mains:
            self._pending.append(((*found.files, *mains), roots))
        elif not is_standard(module):
            self.missing.setdefault((module.partition(".")[0], origin), 0)

    def _main(self, folder: str) -> tuple[str, ...]:
        return self._finder.file(join(folder, "__main__.py"))

    def _follow(self, start: tuple[str, ...], roots: tuple[str, ...]) -> None:
        """Follow imports; when the code adds to its search path, once more with that.

        Whether it adds in front or behind is not told apart: what either would find counts.
        """
        added = list(self._search)
        while True:
            ways = [self._reach(start, (*roots, *added))]
            ways += [self._reach(start, (*added, *roots))] if added else []
            more = dict.fromkeys(folder for way in ways for folder in way.search)
            new = [folder for folder in more if folder not in added]
            if not new:
                break
            added += new
        for way in ways:
            self.files.update(path for path in way.files if path not in self._inline)
            for (module, path), line in way.missing.items():
                inline = path in self._inline
                asked = (module, self._origin[path] if inline else path)
                self.missing.setdefault(asked, 0 if inline else line)

    def _reach(self, start: tuple[str, ...], roots: tuple[str, ...]) -> _Reached:
        reached = _Reached({}, {}, {})
        pending = list(start)
        while pending:
            path = pending.pop()
            if path in reached.files:
                continue
            reached.files[path] = None
            parsed = self._inline.get(path) or self._moment.parsed(path)
            if parsed.problem:
                self.problems.add(f"{escaped(path)}: {parsed.problem}")
            place = self._origin.get(path, path)
            self.computed.update((place, line, text) for line, text in parsed.computed)
            for one in parsed.imports:
                found = self._imported(one, path, roots)
                pending += found
                top = one.module.partition(".")[0]
                excused = one.level or one.optional or top in parsed.writes
                if not (found or excused or is_standard(one.module)):
                    reached.missing.setdefault((top, path), one.line)
            reached.search.update(dict.fromkeys(self._folders(parsed.search, path)))
            self._run_by(parsed, path)
        return reached

    def _imported(self, one: Import, path: str, roots: tuple[str, ...]) -> list[str]:
        """Return the files that an import statement runs or may run."""
        parts = one.module.split(".") if one.module else []
        if one.level:
            folder = posixpath.dirname(path)
            for _ in range(one.level - 1):
                if not folder:
                    return []  # above the root
                folder = posixpath.dirname(folder)
            files = list(self._finder.file(join(folder, "__init__.py")))
            found = self._finder.below(parts, (folder,))
        else:
            files = []
            found = self._finder.absolute(one.module, roots)
        names = [name for name in one.names if name != "*"]
        if "*" in one.names:
            for file in found.files[-1:] or files[-1:]:
                names += self._moment.parsed(file).exported
        below = [self._finder.below((name,), found.folders).files for name in names]
        return [*files, *found.files, *(file for files in below for file in files)]

    def _folders(self, words: Iterable[str], path: str) -> Iterator[str]:
        """Yield the folders of the tree that constant words may mean."""
        for word in words:
            for base in (self._directory, posixpath.dirname(path), ""):
                folder = _inside(base, word)
                if folder is not None and self._finder.is_folder(folder):
                    yield folder

    def _run_by(self, parsed: Parsed, path: str) -> None:
        """Queue what a script sources or runs, wherever it may mean it to be."""
        here = posixpath.dirname(path)
        self._look_in(self._folders(parsed.search_below, path))
        bases = dict.fromkeys((self._directory, here, ""))
        bases.update(dict.fromkeys(self._folders(parsed.folders, path)))
        included = path.lower().endswith((*COMPILED, ".pl", ".pm"))
        headers = (*self._search, *_HEADERS) if included else ()
        searched = dict.fromkeys(self._folders(parsed.search, path))
        self._path.update(dict.fromkeys(self._folders(parsed.path, path)))
        self._called.update(dict.fromkeys(parsed.called))
        for one in parsed.sourced:
            more = searched if HOLE in one.path else headers  # part of a module's name
            self._source(one, path, (*bases, *more))
        for base in bases if parsed.commands else ():
            named = self._moment.named(parsed.commands, base)
            self._start(named, path)
            mentioned = filter(looks_like_code, named.mentioned)
            for script in (*named.scripts, *mentioned, *named.fitting):
                for file in self._at(script, folder=False):
                    self._queue(file)

    def _source(self, one: Sourced, path: str, bases: Iterable[str]) -> None:
        if one.path.startswith(("/", "~")):
            return  # not of the repository
        places = [place for base in bases if (place := _inside(base, one.path))]
        files = [file for place in places for file in self._at(place, one.path.endswith("/"))]
        for file in files:
            self._queue(file)
        if one.certain and not files:
            text = f"line {one.line} reads {escaped(one.path)}, which is not in the repository"
            self.problems.add(f"{escaped(path)}: {text}")

    def _at(self, place: str, folder: bool) -> tuple[str, ...]:
        """Return the file at a place, those that fit it, or the files of R in a folder."""
        if HOLE in place and not self._finder.file(place):
            return self._finder.fitting(place)
        if not folder:
            return self._finder.file(place)
        listing = self._finder.listing(place)
        names = [name for name in listing.kinds if name.lower().endswith(".r")]
        return tuple(join(place, name) for name in names if listing.file(name))


def _inside(base: str, word: str) -> str | None:
    """Return the repository path of a relative word; None when it leads out or is not plain."""
    path = posixpath.normpath(posixpath.join(base, word)) if "\0" not in word else ".."
    if path.startswith("/") or path.split("/", 1)[0] == "..":
        return None
    return "" if path == "." else path
