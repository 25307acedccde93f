"""The scripts of a step: are they there, and are they what was said."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import as_word, shown
from vaibify_lab.files.hashing import pointers_among
from vaibify_lab.files.own import POINTER
from vaibify_lab.runs.preflight.elsewhere import elsewhere, in_other_form
from vaibify_lab.runs.preflight.inspection import Inspection

_REGULAR = "put a regular file in its place"


def script_findings(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield what is wrong with the scripts that a step names."""
    made: set[str] = set(step.outputs)
    scripts = dict.fromkeys(step.declared_scripts or ())
    for command in step.commands:
        named = named_by([command], step.directory)
        scripts |= dict.fromkeys(path for path in named.scripts if path not in made)
        made.update(named.mentioned)  # an earlier command may compile what a later one runs
    for path in [*scripts, *filter(None, [step.notebook])]:
        yield from _script(inspection, step, path)


def _script(inspection: Inspection, step: Step, path: str) -> Iterator[Finding]:
    if path.endswith("/"):
        yield from _folder_of_code(inspection, step, path)
        return
    place = inspection.place(path)
    if place.kind == "file" or (place.kind == "missing" and inspection.producers.of([path])):
        return
    if place.kind == "folder" and inspection.place(f"{path}/__main__.py").kind == "file":
        return  # which Python runs
    if place.kind == "folder" and path in (step.declared_scripts or ()):
        text, action = f"script {path!r} is a folder", f"declare it as {path + '/'!r}"
        yield Finding("error", "script-unusable", text, step.slug, path, action)
        return
    if place.kind != "missing":
        text = f"script {path!r} {place.text or 'is a folder'}"
        yield Finding("error", "script-unusable", text, step.slug, path, _REGULAR)
        return
    other = elsewhere(inspection, path, step.directory)
    if renamed := in_other_form(inspection, path):
        text, action = f"script {path!r} does not exist: {renamed[0]}", renamed[1]
    elif other is None:
        text, action = f"script {path!r} does not exist", "write it, or correct the command"
    else:
        here, there = _folder_words(step.directory), _folder_words(other.base)
        text = f"script {path!r} does not exist, but {other.path!r} does: wrong directory, "
        text += f"commands run in {here}, not in {there}"
        relative = posixpath.relpath(other.path, step.directory or ".")
        action = f"write {as_word(relative)} in the command, or set sDirectory to "
        action += repr(other.base)
    yield Finding("error", "script-missing", text, step.slug, path, action)


def _folder_of_code(inspection: Inspection, step: Step, path: str) -> Iterator[Finding]:
    """Yield that a folder in saScripts is none, or what of it is no code that can be pinned."""
    place = inspection.place(path)
    if place.kind == "folder":
        held = [one for one in inspection.code[step.slug].files if one.startswith(path)]
        if not held:
            text = f"folder {path!r} in saScripts holds no code"
            action = "correct saScripts, or leave it out"
            yield Finding("warning", "script-missing", text, step.slug, path, action)
        for one in held:
            at = inspection.place(one)
            if at.kind not in ("file", "missing"):
                text = f"saScripts names {path!r}, in which {one!r} {at.text or 'cannot be read'}"
                action = "put what it leads to in its place, or name the files one by one"
                yield Finding("error", "script-unusable", text, step.slug, one, action)
    elif place.kind != "missing":
        text = f"{path!r} in saScripts {place.text or 'is a file'}"
        action = "put a real folder in its place, or declare the file without the final '/'"
        yield Finding("error", "script-unusable", text, step.slug, path, action)
    elif not inspection.producers.of_code([path]):
        text = f"folder {path!r} in saScripts does not exist"
        action = "correct saScripts: paths are declared from the repository's root"
        yield Finding("error", "script-missing", text, step.slug, path, action)


def code_pointers(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield the code of which only a pointer is here."""
    for path in pointers_among(inspection.tree, inspection.code[step.slug].files):
        text = f"code {shown(path)!r} {POINTER}"
        yield Finding("error", "code-lfs", text, step.slug, path, "git lfs pull")


def _folder_words(folder: str) -> str:
    return repr(folder) if folder else "the repository's root"
