"""The repository's own code that scripts reach: found by reading it, never by running it.

An import is looked for in the script's own folder and in the working directory, then (what a
``PYTHONPATH`` or ``sys.path`` would add is not always to be seen) in constant folders that the code
puts on ``sys.path``, at the root and in ``src``: one file too many makes a step stale once too
often, one too few would leave it green. Of a name that is worked out in part, every file counts
that fits it; where nothing is known of it that is said, and a sealed run shows it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache

from vaibify_lab.core.commands import Named, named_by
from vaibify_lab.core.errors import InvalidFile, MissingFile, UnsafePath
from vaibify_lab.files.answers import Answers
from vaibify_lab.files.codefile import parse_code
from vaibify_lab.files.codewalk import Walk
from vaibify_lab.files.descent import Descent, look
from vaibify_lab.files.directory import READ_LIMIT, Directory
from vaibify_lab.files.hashing import Stamp, open_descent, stamp_of
from vaibify_lab.files.modules import Finder, Folders, Listing
from vaibify_lab.files.parsed import Parsed
from vaibify_lab.files.paths import escaped, split
from vaibify_lab.files.refusals import reading
from vaibify_lab.files.shellsource import expanded_by
from vaibify_lab.files.tree import Tree
from vaibify_lab.files.trust import ChangeTimes, is_settled, stamps_in

PARSE_LIMIT = 4 * 2**20
_COMMANDS_KEPT = 2**16  # fewer than a workflow has steps would be as good as none
_NOTHING = Named()
_Asked = tuple[tuple[str, ...], str, Named]
_Told = tuple[
    tuple[tuple[str, Parsed], ...], tuple[tuple[str, Listing], ...], tuple[tuple[str, bool], ...]
]


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
    computed : tuple of str
        Where code is run of whose name nothing is known before, each with its place.
    """

    files: tuple[str, ...]
    missing_modules: tuple[tuple[str, str, int], ...] = ()
    problems: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """A scan, and all that it was told of the tree."""

    scan: CodeScan
    parsed: tuple[tuple[str, Parsed], ...]
    listings: tuple[tuple[str, Listing], ...]
    folders: tuple[tuple[str, bool], ...]


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
        self.named = lru_cache(_COMMANDS_KEPT)(named_by)
        self.expanded = lru_cache(_COMMANDS_KEPT)(expanded_by)
        self.kept: dict[_Asked, _Kept] = {}

    @contextmanager
    def moment(self) -> Iterator[Moment]:
        """Give one moment for many scans: it asks for each file and each folder once."""
        with self._lock, open_descent(self._tree) as descent:
            self._folders.times = ChangeTimes()
            yield Moment(self, descent, self._folders)

    def scan(self, scripts: Sequence[str], directory: str, modules: Sequence[str] = ()) -> CodeScan:
        """Return what scripts reach; see `Moment.scan`."""
        with self.moment() as moment:
            return moment.scan(scripts, directory, Named(modules=tuple(modules)))

    def unchanged(self, descent: Descent) -> dict[str, Parsed]:
        """Return what all files say that were parsed and are as they were, in one sweep."""
        by_folder: dict[str, dict[str, str]] = {}
        for path in self._parsed:
            directory, name = split(path)
            by_folder.setdefault(directory, {})[name] = path
        found = {}
        for directory, names in sorted(by_folder.items()):
            with suppress(OSError, UnsafePath):  # who asks for one of these is told why
                stamps = stamps_in(descent.enter(directory), names) or ()
                for path, stamp in zip(names.values(), stamps, strict=False):
                    if self._parsed[path][0] == stamp:
                        found[path] = self._parsed[path][2]
        return found

    def parsed(self, path: str, here: Directory, name: str, status: os.stat_result) -> Parsed:
        """Return what a file says, from memory where its status or its content is the same."""
        started = time.time_ns()
        kept = self._parsed.get(path)
        stamp = stamp_of(status)
        if kept and kept[0] == stamp:
            return kept[2]
        try:
            data = here.read(name, READ_LIMIT if path.endswith(".ipynb") else PARSE_LIMIT)
        except MissingFile:
            return Parsed()  # its own state says so
        except (UnsafePath, InvalidFile) as error:
            return _of_unknown(error)
        digest = hashlib.sha256(data).hexdigest()
        parsed = kept[2] if kept and kept[1] == digest else parse_code(path, data)
        is_kept = is_settled(stamp, started) and self._folders.times.are_kept_on(status.st_dev)
        self._parsed[path] = (stamp if is_kept else None, digest, parsed)
        return parsed


class Moment:
    """The tree's code as it is at one moment, seen through one open descent."""

    def __init__(self, scanner: CodeScanner, descent: Descent, folders: Folders) -> None:
        self.named = scanner.named
        self.expanded = scanner.expanded
        self.finder = Finder(descent, folders, time.time_ns())
        self.parsed = Answers(self._parse)
        self._scanner = scanner
        self._descent = descent
        self._unchanged: dict[str, Parsed] = {}

    def look_ahead(self) -> None:
        """Look at all files that were parsed before, at once: for who will ask for most of them."""
        self._unchanged = self._scanner.unchanged(self._descent)

    def scan(self, scripts: Sequence[str], directory: str, named: Named = _NOTHING) -> CodeScan:
        """Return what scripts reach; as before, where the tree answers as it did then.

        Parameters
        ----------
        scripts : sequence of str
            Repository paths; what is not Python, a notebook, shell, R or Julia counts itself only.
        directory : str
            The working directory, a repository path.
        named : Named
            What the commands start beside these: modules, Python that stands in the commands, and
            programs; and the folders in which they have code and programs looked for.
        """
        asked = (tuple(scripts), directory, named)
        all_kept = self._scanner.kept
        kept = all_kept.get(asked)
        if kept is None or not self._holds(kept):
            if len(all_kept) >= _COMMANDS_KEPT:
                all_kept.clear()
            kept = all_kept[asked] = self._walked(*asked)
        return kept.scan

    def _holds(self, kept: _Kept) -> bool:
        return (
            self.parsed.the_same(kept.parsed)
            and self.finder.listing.the_same(kept.listings)
            and self.finder.is_folder.the_same(kept.folders)
        )

    def _walked(self, scripts: tuple[str, ...], directory: str, named: Named) -> _Kept:
        self._told()  # what was asked before belongs to no scan
        walk = Walk(self, directory.removesuffix("/"))
        walk.run(scripts, named)
        missing = sorted((module, path, line) for (module, path), line in walk.missing.items())
        said = (f"{_place(path, line)} {text}" for path, line, text in sorted(walk.computed))
        problems = tuple(sorted(walk.problems))
        scan = CodeScan(tuple(sorted(walk.files)), tuple(missing), problems, tuple(said))
        return _Kept(scan, *self._told())

    def _told(self) -> _Told:
        return self.parsed.noted(), self.finder.listing.noted(), self.finder.is_folder.noted()

    def is_file(self, path: str) -> bool:
        """Tell whether a file, or a link that should not be there, stands on or at the path."""
        if self.finder.file(path):
            return True
        try:
            directory, name = split(path)
            mode = look(self._descent.enter(directory), name).st_mode
        except UnsafePath:
            return False
        except OSError as error:
            return error.errno == errno.ELOOP
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)

    def _parse(self, path: str) -> Parsed:
        known = self._unchanged.get(path)
        if known is not None:
            return known
        try:
            directory, name = split(path)
            opened = self._descent.enter(directory)
            status = look(opened, name)
        except OSError as error:
            return _not_read(path, error)
        except UnsafePath as error:
            return _of_unknown(error)
        return self._scanner.parsed(path, Directory(directory, opened), name, status)


def _place(path: str, line: int) -> str:
    return f"{escaped(path)}:{line}" if path else "a command"


def _not_read(path: str, refused: OSError) -> Parsed:
    try:
        with reading(path):
            raise refused
    except UnsafePath as error:
        return _of_unknown(error)
    except MissingFile:
        return Parsed()  # its own state says so


def _of_unknown(error: UnsafePath | InvalidFile) -> Parsed:
    return Parsed(problem=f"{error.text}: what it imports is not known")
