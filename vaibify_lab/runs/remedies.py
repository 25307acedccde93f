"""What to do about a file or module that a failed step did not find, told from its repository.

A log names what was not found. Whether that is another step's output, the step's own, a file that
lies elsewhere, or a path of one machine, only the repository and the workflow can tell.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason
from vaibify_lab.runs import explain

_PUT = "put it into the repository, or let a step make it"
_INSTALL = ", or install the program where the step runs"
# Of tools, not of the project: an environment of packages lies in many a repository, ignored.
_OTHERS = re.compile(r"(?:^|/)(?:\.|site-packages/|node_modules/|__pycache__/)")


@dataclass(frozen=True)
class Place:
    """What a failed step stood in.

    ``root`` is where it saw the repository, ``home`` where that lies on this machine. ``steps``
    are the workflow's steps, ``gone`` paths of code that an earlier run had. ``files`` lists
    the repository's files; it is asked once, and only where something was not found.
    """

    step: Step
    root: str
    home: str
    steps: Iterable[Step]
    gone: Collection[str]
    files: Callable[[], Iterable[str]]

    def explained(self, reason: Reason, log: str) -> Reason:
        """Return the reason with what to do, where the repository tells it."""
        if reason.code == "missing-module":
            return self._module(reason, explain.modules_not_found(log))
        name = explain.file_not_found(log) if reason.code == "missing-file" else None
        return self._file(reason, name) if name else reason

    @cached_property
    def _known(self) -> list[str]:
        return [one for one in self.files() if not _OTHERS.search(one)]

    def _module(self, reason: Reason, names: list[str]) -> Reason:
        for name in names[-1:]:
            if found := explain.module_files(name, list(self.gone), certain=True):
                text = f"imports {name!r}, and {shown(found[0])}, which it ran before, is gone"
                return Reason("module-gone", text, found[0], "put it back, or change the import")
            if found := explain.module_files(name, self._known, certain=True):
                action = (
                    f"{shown(found[0])} is in the repository, where Python does not look: put it "
                    "beside what imports it, or its folder into PYTHONPATH (dictEnvironment) and "
                    "the file into saScripts"
                )
                return replace(reason, path=found[0], action=action)
        return reason

    def _file(self, reason: Reason, name: str) -> Reason:
        path = self._inside(name)
        if path is None:
            return self._elsewhere(reason, name)
        if name.startswith(f"{self.home}/") and self.home != self.root and path in self._known:
            action = f"that is a path of this machine: write {shown(self._from_step(path))}"
            return replace(reason, path=path, action=action)
        if self.step.made_among([path]):
            action = "it is its own output, and a run begins without its outputs: do not read it"
            return replace(reason, path=path, action=action)
        for other in self.steps:
            if other.slug != self.step.slug and other.made_among([path]):
                action = f"step {other.slug!r} makes it: declare it in saInputDataFiles"
                return replace(reason, path=path, action=action)
        if path in self._known and not name.startswith("/"):
            action = (
                "it is there: the step had gone to another folder (cd, os.chdir) when it looked"
            )
            return replace(reason, path=path, action=action)
        return self._elsewhere(reason, name, path)

    def _inside(self, name: str) -> str | None:
        """Return the repository path that a name stands for in the step's directory."""
        for top in dict.fromkeys((self.root, self.home)):
            if name.startswith(f"{top}/"):
                return posixpath.normpath(name[len(top) + 1 :])
        path = posixpath.normpath(posixpath.join(self.step.directory, name))
        return None if path.startswith(("/", "~", "..")) else path

    def _elsewhere(self, reason: Reason, name: str, path: str | None = None) -> Reason:
        """Name files of the same name in the repository, of other capitals if need be."""
        last = posixpath.basename(name.rstrip("/"))
        alike = [
            one for one in self._known if posixpath.basename(one).casefold() == last.casefold()
        ]
        others = [one for one in alike if one != path]
        found = [one for one in others if posixpath.basename(one) == last] or others
        if not found:
            outside = path is None and name.startswith(("/", "~"))
            why = "that is a path of one machine, which others do not have: " if outside else ""
            program = "" if re.search("[./*]", name) else _INSTALL
            return replace(reason, action=why + _PUT + program)
        near = min(found, key=lambda one: (one != posixpath.normpath(name), len(one), one))
        capitals = "; capitals count" if posixpath.basename(near) != last else ""
        where = self.step.directory or "the repository's root"
        action = (
            f"the repository has {shown(near)}: from {shown(where)}, where the step runs, that is "
            f"{shown(self._from_step(near))}{capitals}"
        )
        return replace(reason, path=near, action=action)

    def _from_step(self, path: str) -> str:
        return posixpath.relpath(path, self.step.directory or ".")
