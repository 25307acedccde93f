"""The repository's own code that scripts reach: found by reading it, never by running it.

An import is looked for in the script's own folder and in the working directory, then (what a
``PYTHONPATH`` or ``sys.path`` would add is not always to be seen) in constant folders that the code
puts on ``sys.path``, at the root and in ``src``: one file too many makes a step stale once too
often, one too few would leave it green. What is imported under a computed name is not seen; a
sealed run shows it.
"""

from __future__ import annotations

import hashlib
import posixpath
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vaibify_lab.core.commands import looks_like_code, named_by
from vaibify_lab.core.errors import InvalidFile, MissingFile, UnsafePath
from vaibify_lab.files.codefile import parse_code
from vaibify_lab.files.hashing import Stamp, open_descent, stamp_of
from vaibify_lab.files.modules import CUSTOMARY, Finder, Folders, is_standard
from vaibify_lab.files.parsed import Import, Parsed, Sourced
from vaibify_lab.files.paths import escaped, join
from vaibify_lab.files.statcache import is_settled
from vaibify_lab.files.tree import READ_LIMIT, Tree

PARSE_LIMIT = 4 * 2**20


@dataclass(frozen=True, slots=True)
class CodeScan:
    """What scripts reach.

    Attributes
    ----------
    files : tuple of str
        The scripts and the repository's own modules and files that they reach, sorted.
    missing_modules : tuple of (module, importing path, line)
        Top-level modules that are neither in the repository nor in the standard library, by module
        and path. A module that a command names (``python -m``) has no importing path.
    problems : tuple of str
        Why this may not be all, each with its path.
    """

    files: tuple[str, ...]
    missing_modules: tuple[tuple[str, str, int], ...] = ()
    problems: tuple[str, ...] = ()


def reachable_code(
    tree: Tree, scripts: Sequence[str], directory: str, modules: Sequence[str] = ()
) -> CodeScan:
    """Return the code that scripts, run in ``directory``, reach (see `CodeScanner`)."""
    return CodeScanner(tree).scan(scripts, directory, modules)


class CodeScanner:
    """`reachable_code` for repeated looks: a file whose content is the same is not parsed again."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders = Folders()
        self._parsed: dict[str, tuple[Stamp | None, str, Parsed]] = {}
        self._lock = threading.Lock()
        self.named = lru_cache(4096)(named_by)

    def scan(self, scripts: Sequence[str], directory: str, modules: Sequence[str] = ()) -> CodeScan:
        """Return what scripts reach.

        Parameters
        ----------
        scripts : sequence of str
            Repository paths; what is not Python, a notebook, shell, R or Julia counts itself only.
        directory : str
            The working directory, a repository path.
        modules : sequence of str
            What follows ``python -m``.
        """
        with self._lock, open_descent(self._tree) as descent:
            finder = Finder(descent, self._folders, time.time_ns())
            walk = _Walk(self, finder, directory.removesuffix("/"))
            walk.run(scripts, modules)
        return CodeScan(
            tuple(sorted(walk.files)),
            tuple(sorted((module, path, line) for (module, path), line in walk.missing.items())),
            tuple(sorted(walk.problems)),
        )

    def parsed(self, path: str) -> Parsed:
        """Return what a file says, from memory where its status or its content is the same."""
        started = time.time_ns()
        try:
            status = self._tree.lstat(path)
            kept = self._parsed.get(path)
            if status and kept and kept[0] == stamp_of(status):
                return kept[2]
            limit = READ_LIMIT if path.endswith(".ipynb") else PARSE_LIMIT
            data = self._tree.read(path, limit)
        except MissingFile:
            return Parsed()  # its own state says so
        except (UnsafePath, InvalidFile) as error:
            return Parsed(problem=f"{error.text}: what it imports is not known")
        digest = hashlib.sha256(data).hexdigest()
        parsed = kept[2] if kept and kept[1] == digest else parse_code(path, data)
        stamp = stamp_of(status) if status else None
        is_kept = stamp is not None and is_settled(stamp, started)
        self._parsed[path] = (stamp if is_kept else None, digest, parsed)
        return parsed


@dataclass(slots=True)
class _Reached:
    """What one start reaches with one search path."""

    files: dict[str, None]
    missing: dict[tuple[str, str], int]
    search: dict[str, None]


class _Walk:
    """One scan: every script and module that is run, each with the path that Python would have."""

    def __init__(self, scanner: CodeScanner, finder: Finder, directory: str) -> None:
        self._scanner = scanner
        self._finder = finder
        self._directory = directory
        self._queued: set[str] = set()
        self._pending: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.files: set[str] = set()
        self.missing: dict[tuple[str, str], int] = {}
        self.problems: set[str] = set()

    def run(self, scripts: Iterable[str], modules: Iterable[str]) -> None:
        """Follow everything; what scripts run in their turn is added on the way."""
        for path in scripts:
            self._queue(path)
        for module in modules:
            self._queue_module(module, "")
        while self._pending:
            self._follow(*self._pending.pop())

    def _queue(self, path: str) -> None:
        if path not in self._queued:
            self._queued.add(path)
            roots = dict.fromkeys((posixpath.dirname(path), self._directory, *CUSTOMARY))
            self._pending.append(((path,), tuple(roots)))

    def _queue_module(self, module: str, origin: str) -> None:
        """Queue what ``python -m module`` runs: the module, or its package's ``__main__``."""
        if f"-m {module}" in self._queued:
            return
        self._queued.add(f"-m {module}")
        roots = tuple(dict.fromkeys((self._directory, *CUSTOMARY)))
        found = self._finder.absolute(module, roots)
        mains = [one for folder in found.folders for one in self._main(folder)]
        if found.files or mains:
            self._pending.append(((*found.files, *mains), roots))
        elif not is_standard(module):
            self.missing.setdefault((module.partition(".")[0], origin), 0)

    def _main(self, folder: str) -> tuple[str, ...]:
        return self._finder.file(join(folder, "__main__.py"))

    def _follow(self, start: tuple[str, ...], roots: tuple[str, ...]) -> None:
        """Follow imports; when the code adds to its search path, once more with that."""
        while True:
            reached = self._reach(start, roots)
            added = [folder for folder in reached.search if folder not in roots]
            if not added:
                break
            roots = (*roots, *added)
        self.files.update(reached.files)
        for key, line in reached.missing.items():
            self.missing.setdefault(key, line)

    def _reach(self, start: tuple[str, ...], roots: tuple[str, ...]) -> _Reached:
        reached = _Reached({}, {}, {})
        pending = list(start)
        while pending:
            path = pending.pop()
            if path in reached.files:
                continue
            reached.files[path] = None
            parsed = self._scanner.parsed(path)
            if parsed.problem:
                self.problems.add(f"{escaped(path)}: {parsed.problem}")
            for one in parsed.imports:
                found = self._imported(one, path, roots)
                pending += found
                if not (found or one.level or one.optional or is_standard(one.module)):
                    reached.missing.setdefault((one.module.partition(".")[0], path), one.line)
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
                names += self._scanner.parsed(file).exported
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
        bases = dict.fromkeys((self._directory, here, ""))
        bases.update(dict.fromkeys(self._folders(parsed.folders, path)))
        for one in parsed.sourced:
            self._source(one, path, bases)
        for base in bases if parsed.commands else ():
            named = self._scanner.named(parsed.commands, base)
            mentioned = filter(looks_like_code, named.mentioned)
            for script in (*named.scripts, *mentioned):
                for file in self._finder.file(script):
                    self._queue(file)
            for module in named.modules:
                self._queue_module(module, path)

    def _source(self, one: Sourced, path: str, bases: Iterable[str]) -> None:
        if one.path.startswith(("/", "~")):
            return  # not of the repository
        places = [place for base in bases if (place := _inside(base, one.path))]
        files = [file for place in places for file in self._finder.file(place)]
        for file in files:
            self._queue(file)
        if one.certain and not files:
            text = f"line {one.line} reads {escaped(one.path)}, which is not in the repository"
            self.problems.add(f"{escaped(path)}: {text}")


def _inside(base: str, word: str) -> str | None:
    """Return the repository path of a relative word; None when it leads out or is not plain."""
    path = posixpath.normpath(posixpath.join(base, word)) if "\0" not in word else ".."
    if path.startswith("/") or path.split("/", 1)[0] == "..":
        return None
    return "" if path == "." else path
