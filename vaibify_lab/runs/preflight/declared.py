"""What a step declares, asked of files that its code or its commands name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaibify_lab.core.code_names import looks_like_code
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import PROTECTED, is_within, shown
from vaibify_lab.envelope.lock import NAME as LOCK
from vaibify_lab.envelope.manifest import NAME as MANIFEST
from vaibify_lab.runs.preflight.inspection import Inspection

# Of git and of ours: what changes there is told otherwise.
_NEVER_DECLARED = (*PROTECTED, LOCK, MANIFEST)


@dataclass(frozen=True)
class Declared:
    """The files of a step that need no word more; what is told is added to ``known``."""

    inspection: Inspection
    step: Step
    known: list[str]

    def holds(self, path: str) -> bool:
        """Tell whether a path is one of them, or lies in one."""
        return any(is_within(path, one) for one in (*self.known, *_NEVER_DECLARED))

    def maker(self, path: str) -> str | None:
        """Return the other step that makes a path."""
        makers = self.inspection.producers.of([path])
        return next((one for one in makers if one != self.step.slug), None)

    def is_missed(self, path: str) -> bool:
        """Tell whether a path is a file of the repository, or will be one, that is not declared."""
        if self.holds(path):
            return False
        is_file = self.inspection.place(path).kind == "file"
        return is_file or self.maker(path) is not None

    def missed_by(self, pattern: str) -> list[str]:
        """Return the files that fit a pattern and are not declared."""
        return [path for path in self.inspection.fitting(pattern) if not self.holds(path)]

    def missed_in(self, folder: str) -> list[str]:
        """Return what a folder that is named holds; nothing where the step declares a part of it.

        Code is not meant: a folder of modules is named to import from it.
        """
        if self.step.directory and is_within(self.step.directory, folder):
            return []
        if any(is_within(one, folder) for one in self.known):
            return []
        if self.inspection.place(folder).kind != "folder":
            return []
        found = self.inspection.below(folder)
        return [path for path in found if not looks_like_code(path) and not self.holds(path)]

    def is_raw(self, folder: str, paths: Sequence[str]) -> bool:
        """Tell whether no step makes anything in a folder that holds these, so that all is read."""
        if any(is_within(one, folder) for one in self.step.outputs):
            return False
        return not any(map(self.maker, paths))

    def tell(self, paths: Iterable[str]) -> str:
        """Return words for files that are not declared, which are told with that."""
        first, *more = paths
        self.known.extend([first, *more])
        return f"{shown(first)!r} and {len(more)} more are" if more else f"{shown(first)!r} is"
