"""What one file of code says about other files, before anything is looked up on disk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Import:
    """One import: ``from <level dots><module> import <names>``, or ``import module``.

    ``optional`` says that it may fail without harm: it is guarded by ``except ImportError``, by
    ``TYPE_CHECKING``, or by the Python version or platform.
    """

    module: str
    line: int
    names: tuple[str, ...] = ()
    level: int = 0
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Sourced:
    """A file that is read as code (``source x.sh``, ``source("x.R")``, ``%run x.py``).

    ``certain`` is False where a variable stood before it, so that it may lie anywhere, or where it
    may be none. A path with a final slash stands for the files of R in that folder, one with holes
    (see `core.holes`) for all files that fit.
    """

    path: str
    line: int
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file says.

    Attributes
    ----------
    imports : tuple of Import
    exported : tuple of str
        ``__all__`` where it is constant: what a star import may import as submodules.
    search : tuple of str
        Constant folders that are put on ``sys.path``.
    writes : tuple of str
        Modules that it writes before it may import them (``%%writefile``).
    search_below : tuple of str
        Constant folders on the path of whatever it starts (``PYTHONPATH``).
    sourced : tuple of Sourced
    commands : tuple of str
        Shell commands that may name code.
    folders : tuple of str
        Constant folders that it changes to.
    problem : str
        Why this may not be all, in words.
    computed : tuple of (line, words)
        Where code is run of which not even a part of the name is known, and what is done there.
    path : tuple of str
        Constant folders in which whatever it starts looks for programs (``PATH``).
    called : tuple of str
        Names of programs that it may start and that are looked for so.
    """

    imports: tuple[Import, ...] = ()
    exported: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    sourced: tuple[Sourced, ...] = ()
    commands: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    problem: str = ""
    search_below: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    computed: tuple[tuple[int, str], ...] = ()
    path: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    def joined(self, other: Parsed) -> Parsed:
        """Return both together; of two problems the first is told."""
        return Parsed(
            self.imports + other.imports,
            self.exported + other.exported,
            self.search + other.search,
            self.sourced + other.sourced,
            self.commands + other.commands,
            self.folders + other.folders,
            self.problem or other.problem,
            self.search_below + other.search_below,
            self.writes + other.writes,
            self.computed + other.computed,
            self.path + other.path,
            self.called + other.called,
        )
