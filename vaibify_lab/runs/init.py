"""``init``: the files that make a git repository a project; a file that is there is never touched.

The exceptions are two files of git's that are lists of lines: a missing line is added at their end;
and a workflow.json without a step, which takes those that a notebook's cells may become.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile, UsageError, VaibifyError
from vaibify_lab.core.workflow_keys import FORMAT
from vaibify_lab.envelope.manifest import ATTRIBUTE_LINE
from vaibify_lab.files.clone_reasons import ignore_rules
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.tree import Tree
from vaibify_lab.notebooks.proposing import propose
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs import project_file
from vaibify_lab.runs.opened import Opened

WORKFLOW, REQUIREMENTS = "workflow.json", "requirements.in"
ATTRIBUTES, IGNORED = ".gitattributes", ".vaibify/.gitignore"
_EVERY_FILE = "* -text"
_CONTAINER_CONF = """\
# Repositories that go into the image, one a line:
# name|url|branch-tag-or-commit|method[|destination]
# method: pip_editable, pip_no_deps, c_and_pip, scripts_only or reference
"""
_REQUIREMENTS = """\
# The Python packages that the steps import, one a line, such as: numpy>=1.26
# `jupyter vaibify envelope --only lock` pins them, with hashes, in requirements.lock.
"""


@dataclass(frozen=True, slots=True)
class Initialised:
    """Repository paths: ``written`` anew or added to, ``left`` as they were, ``ignored`` by git.

    The last are among the first two; ``ignored`` maps each to the rule with its file and line.
    ``proposed`` are the steps that a notebook's cells may become.
    """

    written: tuple[str, ...]
    left: tuple[str, ...]
    ignored: dict[str, str]
    proposed: tuple[Mapping[str, Any], ...] = ()


def init_project(
    opened: Opened, *, name: str | None = None, notebook: str | None = None
) -> Initialised:
    """Write vaibify.yml, container.conf, workflow.json, requirements.in and what git must know.

    Parameters
    ----------
    opened : Opened
        The repository. Where it has a workflow already, no other is made; and no requirements.in
        where pyproject.toml says which packages there are.
    name : str, optional
        The project's name; the folder's when absent.
    notebook : str, optional
        Repository path of a notebook whose cells are to become steps: they go into a workflow.json
        that is new or has no step, and their scripts beside the notebook. It is only read.

    Raises
    ------
    UsageError
        The name cannot be a project's.
    MissingFile, InvalidFile
        There is no such notebook, or it cannot be read.
    """
    tree = opened.tree
    proposals = propose(notebook, read_notebook(tree.read(notebook), notebook)) if notebook else ()
    steps = tuple(one.step for one in proposals)
    wanted = _contents(opened, name, steps)
    filled = _filled(tree, steps) if WORKFLOW in wanted else None
    if filled is not None:
        wanted[WORKFLOW] = filled
    if WORKFLOW in wanted and (filled is not None or tree.lstat(WORKFLOW) is None):
        wanted |= {one.path: one.script for one in proposals if one.script is not None}
    anew = {WORKFLOW} if filled is not None else set()
    written = [path for path, text in wanted.items() if _write(tree, path, text, anew)]
    lines = {IGNORED: f"{LOCAL.rpartition('/')[2]}/", ATTRIBUTES: _attributes(opened)}
    written += [path for path, line in lines.items() if _add_line(tree, path, line)]
    every = [*wanted, *lines]
    left = tuple(path for path in every if path not in written)
    return Initialised(tuple(written), left, ignore_rules(opened.repository, every), steps)


def _attributes(opened: Opened) -> str:
    """Return the line that keeps git from converting line endings.

    Of every file where git holds nothing yet; else of the manifest alone, for files that are in git
    may rest on a conversion, and `check --publish` names those that would be altered.
    """
    if opened.tree.lstat(ATTRIBUTES) is None:
        return ATTRIBUTE_LINE if opened.repository.snapshot().index else _EVERY_FILE
    lines = opened.tree.read(ATTRIBUTES).decode("utf-8", "replace").splitlines()
    return _EVERY_FILE if _EVERY_FILE in lines else ATTRIBUTE_LINE


def _contents(
    opened: Opened, name: str | None, steps: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    project = opened.project_file()
    chosen = name or project.name
    if not project_file.is_name(chosen):
        text = f"{chosen[:100]!r} cannot be a project's name"
        raise UsageError(text, action="use letters, digits, '.', '_' and '-'")
    found = {project_file.PATH: _project_text(chosen), "container.conf": _CONTAINER_CONF}
    if set(opened.workflow_paths()) <= {WORKFLOW}:
        found[WORKFLOW] = _workflow_text(chosen, steps)
    if not _has_packages_in_pyproject(opened.tree):
        packages = "".join(f"{one}\n" for one in project.python_packages)
        found[REQUIREMENTS] = _REQUIREMENTS + packages
    return found


def _filled(tree: Tree, steps: Sequence[Mapping[str, Any]]) -> str | None:
    """Return a workflow.json that has no step with these; None where it must stay as it is."""
    if not steps or tree.lstat(WORKFLOW) is None:
        return None
    before = tree.read(WORKFLOW)
    try:
        value = jsonio.loads(before, WORKFLOW)
    except InvalidFile:
        return None
    if not isinstance(value, dict) or value.get("listSteps") != []:
        return None
    indent = re.search(rb'\n([ \t]+)"', before)
    value["listSteps"] = list(steps)
    return _as_text(value, indent[1].decode() if indent else "  ")


def _project_text(name: str) -> str:
    value = yaml.safe_dump({"projectName": name}, allow_unicode=True)
    return f"{value}# true: no step reaches the network.\nnetworkIsolation: false\n"


def _workflow_text(name: str, steps: Sequence[Mapping[str, Any]]) -> str:
    value = {
        "sFormat": FORMAT,
        "sWorkflowName": name,
        "sPlotDirectory": "plots",
        "sFigureType": "pdf",
        "listSteps": list(steps),
    }
    return _as_text(value, "  ")


def _as_text(value: Mapping[str, Any], indent: str) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False) + "\n"


def _has_packages_in_pyproject(tree: Tree) -> bool:
    """Tell whether pyproject.toml is the source of packages already."""
    with suppress(VaibifyError, ValueError):
        return "project" in tomllib.loads(tree.read("pyproject.toml").decode("utf-8"))
    return False


def _write(tree: Tree, path: str, text: str, anew: Collection[str]) -> bool:
    """Write a file that is not there, or that is among those to be written anew."""
    if path not in anew and tree.lstat(path) is not None:
        return False
    tree.write(path, text.encode("utf-8"))
    return True


def _add_line(tree: Tree, path: str, line: str) -> bool:
    there = b"" if tree.lstat(path) is None else tree.read(path)
    if line.encode() in (one.strip() for one in there.split(b"\n")):
        return False
    gap = b"" if there.endswith(b"\n") or not there else b"\n"
    tree.write(path, there + gap + line.encode() + b"\n")
    return True
