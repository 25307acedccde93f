"""A step at one moment: the code that its commands reach, the files that decide its tests."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

from vaibify_lab.core.code_names import counts_in_folder, looks_like_code
from vaibify_lab.core.commands import Named, search_path
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.model import Step
from vaibify_lab.files.imports import CodeScan, Moment
from vaibify_lab.files.paths import join
from vaibify_lab.files.tree import Tree

# https://docs.pytest.org/en/stable/reference/customize.html: where pytest looks for its settings.
_PYTEST_OWN = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_PYTEST_SHARED = {
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
_SETTINGS = (".ini", ".toml", ".cfg")
_FINDS_TESTS = re.compile(r"\b(?:pytest|unittest)\b")  # where no file of tests is named
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")

# By slug: a step, what its commands reach, and of that what it does not make itself.
Own = dict[str, tuple[Step, CodeScan, CodeScan]]


class Scouting:
    """One moment; a folder of tests that many steps name is listed once."""

    def __init__(self, moment: Moment, tree: Tree, own: Own) -> None:
        self._moment = moment
        self._tree = tree
        self._own = own
        self._below: dict[str, list[str]] = {}
        self._settings: dict[tuple[str, str], bool] = {}

    def code_of(self, step: Step) -> CodeScan:
        """Return what a step's commands reach, without what the step makes itself."""
        named = self._moment.named(step.commands, step.directory)
        known = self._moment.expanded(step.commands, step.directory)
        declared = self._declared(step)
        found = self._scripts(named, known, declared)
        scripts = tuple(dict.fromkeys((*found, *filter(None, [step.notebook]))))
        scan = self._moment.scan(scripts, step.directory, _started(named, known, step))
        kept = self._own.get(step.slug)
        if kept is None or kept[0] is not step or kept[1] is not scan:
            files = _not_made(scan.files, step)
            said = (*(f"a command {text}" for text in named.computed), *scan.computed)
            computed = said if declared is None else ()  # then somebody has seen to it
            own = dataclasses.replace(scan, files=files, computed=computed)
            kept = self._own[step.slug] = (step, scan, own)
        return kept[2]

    def notebook_of(self, step: Step) -> str | None:
        """Return the notebook that is run, unless the step reads it as a file as well."""
        path = step.notebook
        if path is None or step.interactive or path in (step.declared_scripts or ()):
            return None
        named = self._moment.named(step.commands, step.directory)
        return None if path in named.scripts or path in named.mentioned else path

    def test_files(self, step: Step, loaded: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the test files of a step.

        Those that its test commands name (for a folder, or a bare ``pytest``, the tests below),
        conftest.py and pytest's settings above them, the repository's own modules that these
        import, the standards, and what of ``loaded`` is there.
        """
        if not step.suites:
            return ()
        found: dict[str, None] = {}
        others: dict[str, None] = {}
        for suite in step.suites:
            found.update(dict.fromkeys(self._named_tests(suite.commands, step.directory)))
            found.update({suite.file: None} if suite.file else {})
            others.update({suite.standards: None} if suite.standards else {})
            others.update(dict.fromkeys(self._named_files(suite.commands, step)))
        places = [path.rpartition("/")[0] for path in found]
        found.update(dict.fromkeys(self._above(places, ("conftest.py",), {})))
        if any("pytest" in command for suite in step.suites for command in suite.commands):
            places.append(step.directory.rstrip("/"))
            others.update(dict.fromkeys(self._above(places, _PYTEST_OWN, _PYTEST_SHARED)))
            others.update(dict.fromkeys(self._named_settings(step)))
        files = dict.fromkeys((*found, *self._reached_by_tests(step, tuple(found)), *others))
        more = (path for path in loaded if path not in files)
        files.update(dict.fromkeys(filter(self._moment.is_file, more)))
        return _not_made(tuple(sorted(files)), step)

    def _scripts(
        self, named: Named, known: Named, declared: tuple[str, ...] | None
    ) -> tuple[str, ...]:
        """Return the code files that commands name; those that must exist are kept when missing.

        ``known`` is what they name where a shell has put in values. Declared ones stand in place of
        all that a name with holes may be, where one of them is that.
        """
        found = dict.fromkeys((*named.scripts, *(declared or ())))
        for path in (*named.mentioned, *known.scripts, *known.mentioned):
            if path not in found and looks_like_code(path) and self._moment.is_file(path):
                found[path] = None
        listed = frozenset(declared or ())
        for path in (*named.fitting, *known.fitting):
            fitting = self._moment.finder.fitting(path)
            found.update(dict.fromkeys(fitting if listed.isdisjoint(fitting) else ()))
        return tuple(found)

    def _declared(self, step: Step) -> tuple[str, ...] | None:
        """Return the declared scripts, of folders the code in them; None where none are."""
        if step.declared_scripts is None:
            return None
        return tuple(one for path in step.declared_scripts for one in self._code_at(path, step))

    def _code_at(self, path: str, step: Step) -> list[str]:
        """Return a script, or of a folder the code in it; itself where it is none."""
        folder = path.rstrip("/")
        if folder == path:
            return [path]
        if not self._moment.finder.is_folder(folder):
            return [folder]
        below = self._moment.finder.all_below(folder)
        return [one for one in below if counts_in_folder(one) and one != step.notebook]

    def _named_tests(self, commands: Iterable[str], directory: str) -> list[str]:
        found: list[str] = []
        for command in commands:
            named = self._moment.named((command,), directory)
            fitting = (one for name in named.fitting for one in self._moment.finder.fitting(name))
            mentioned = list(fitting)
            for path in (*named.scripts, *named.mentioned):
                if looks_like_code(path) and self._moment.is_file(path):
                    mentioned.append(path)
                elif path not in (directory, "") and self._moment.finder.is_folder(path):
                    mentioned += [one for one in self._all_below(path) if one.endswith(".py")]
            found_there = not mentioned and _FINDS_TESTS.search(command)
            if found_there or any(map(self._starts_unittest, mentioned)):
                below = self._all_below(directory)
                mentioned += [one for one in below if _TEST_FILE.search(one)]
            found += mentioned
        return found

    def _reached_by_tests(self, step: Step, found: tuple[str, ...]) -> tuple[str, ...]:
        """Return the repository's code that test files, and what test commands run, reach."""
        commands = [command for suite in step.suites for command in suite.commands]
        named, known = (
            read(tuple(commands), step.directory)
            for read in (self._moment.named, self._moment.expanded)
        )
        started = _started(named, known, step)
        more = self._scripts(Named(), known, None)
        scripts = tuple(dict.fromkeys((*found, *more)))
        if not (scripts or started.modules or started.python or started.path):
            return ()
        return self._moment.scan(scripts, step.directory, started).files

    def _named_files(self, commands: Iterable[str], step: Step) -> Iterator[str]:
        """Yield the files that test commands surely read, such as one to compare with."""
        known = {*step.outputs, *step.inputs, *step.test_inputs}
        for command in commands:
            for path in self._moment.named((command,), step.directory).read:
                if path not in known and not looks_like_code(path) and self._moment.is_file(path):
                    yield path

    def _starts_unittest(self, path: str) -> bool:
        """Tell whether a script, or a makefile, finds tests; pytest says itself what it loaded."""
        return not path.endswith(".py") and self._holds(path, "unittest")

    def _named_settings(self, step: Step) -> Iterator[str]:
        for command in (one for suite in step.suites for one in suite.commands):
            for path in self._moment.named((command,), step.directory).mentioned:
                if path.endswith(_SETTINGS) and self._moment.is_file(path):
                    yield path

    def _all_below(self, folder: str) -> list[str]:
        if folder not in self._below:
            self._below[folder] = self._tree.list_files(folder, strict=False)
        return self._below[folder]

    def _above(
        self, folders: Iterable[str], names: Iterable[str], shared: Mapping[str, str]
    ) -> Iterator[str]:
        """Yield files of these names in folders and above; of ``shared`` those that hold a text."""
        above = {"": None}
        for folder in folders:
            parts = folder.split("/")
            above |= {"/".join(parts[: count + 1]): None for count in range(len(parts))}
        for folder in above:
            for name in (*names, *shared):
                path = join(folder, name)
                if self._moment.is_file(path) and self._holds(path, shared.get(name, "")):
                    yield path

    def _holds(self, path: str, text: str) -> bool:
        asked = (path, text)
        if asked not in self._settings:
            try:
                self._settings[asked] = text.encode() in self._tree.read(path)
            except VaibifyError:  # its own state says what is wrong with it
                self._settings[asked] = True
        return self._settings[asked]


def _started(named: Named, known: Named, step: Step) -> Named:
    """Return what commands start, and where they and the step's environment have it looked for."""
    given = (step.environment.get(name, "") for name in ("PYTHONPATH", "PATH"))
    search, path = (search_path(text, step.directory) if text else [] for text in given)
    if not (search or path or known.called or known.path or known.search):
        return named
    return dataclasses.replace(
        named,
        search=(*named.search, *known.search, *search),
        path=(*named.path, *known.path, *path),
        called=(*named.called, *known.called),
        modules=tuple(dict.fromkeys((*named.modules, *known.modules))),
        python=tuple(dict.fromkeys((*named.python, *known.python))),
    )


def _not_made(files: tuple[str, ...], step: Step) -> tuple[str, ...]:
    """Return the files that are no outputs of the step: those are none of its code."""
    made = step.made_among(files)
    return tuple(path for path in files if path not in made) if made else files
