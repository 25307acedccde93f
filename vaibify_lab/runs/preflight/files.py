"""Folders, scripts, inputs and outputs of a step: are they there, and are they what was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import as_word, is_within, shown
from vaibify_lab.files.clone_reasons import GITLINK, above, ignore_rules
from vaibify_lab.files.hashing import holds_pointer, pointers_among
from vaibify_lab.files.own import POINTER
from vaibify_lab.runs.preflight.elsewhere import elsewhere, in_other_form
from vaibify_lab.runs.preflight.inspection import Inspection
from vaibify_lab.runs.preflight.scripts import code_pointers, script_findings
from vaibify_lab.runs.writable import folder_of


def file_findings(inspection: Inspection, step: Step, planned: frozenset[str]) -> Iterator[Finding]:
    """Yield what is wrong with a step's files."""
    found = [*_directory(inspection, step)]
    yield from found
    if not found:
        yield from script_findings(inspection, step)
    yield from code_pointers(inspection, step)
    for path in step.inputs:
        yield from _input(inspection, step, path, planned)
    for path in step.outputs:
        yield from _output(inspection, step, path)
    yield from _tests(inspection, step)


def ignored_outputs(inspection: Inspection, steps: Sequence[Step]) -> Iterator[Finding]:
    """Yield the outputs that git ignores, with the rule."""
    index = inspection.repository.snapshot().index
    modules = {path for path, (mode, _) in index.items() if mode == GITLINK}
    owners = {
        path: step.slug
        for step in steps
        for path in step.outputs
        # git refuses the whole question when one path lies beyond a link or in a submodule
        if modules.isdisjoint([*above(path), path]) and inspection.place(path).kind != "link"
    }
    for path, rule in ignore_rules(inspection.repository, owners).items():
        text = f"output {shown(path)!r} is ignored by git ({rule}): a clone will not have it"
        action = f"git add -f -- {as_word(path)} when it is there, or change that rule"
        yield Finding("warning", "output-ignored", text, owners[path], path, action)


def _directory(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield why commands cannot run in the step's directory; that of an output is made."""
    folder = step.directory
    if not folder:
        return
    place = inspection.place(folder)
    is_made = any(is_within(folder_of(output), folder) for output in step.outputs)
    if place.kind == "folder" or (place.kind == "missing" and is_made):
        return
    if place.kind == "missing":
        text = f"sDirectory {folder!r} does not exist"
        action = f"mkdir -p {as_word(folder)}, or correct sDirectory"
        yield Finding("error", "directory-missing", text, step.slug, folder, action)
        return
    text = f"sDirectory {folder!r} {place.text or 'is a file'}"
    action = "put a real folder in its place, or correct sDirectory"
    yield Finding("error", "directory-unusable", text, step.slug, folder, action)


def _input(
    inspection: Inspection, step: Step, path: str, planned: frozenset[str]
) -> Iterator[Finding]:
    place = inspection.place(path)
    is_folder = path.endswith("/")
    fault = _fault_of_input(path, place.kind)
    makers = inspection.producers.of([path])
    is_made_first = not planned.isdisjoint(makers)
    if fault is not None:
        code, text, action = fault
        yield Finding("error", code, f"input {path!r} {text}", step.slug, path, action)
    elif place.kind in ("link", "other"):
        text, action = f"input {path!r} {place.text}", "put the file itself in its place"
        yield Finding("error", "input-unusable", text, step.slug, path, action)
    elif place.kind == "missing" and not is_made_first:
        yield _missing_input(inspection, step, path, makers)
    elif place.kind != "missing":
        wrong = list(_contents(inspection, step, path)) if is_folder else []
        yield from wrong
        yield from _pointers(inspection, step, path) if not (wrong or is_made_first) else ()


def _fault_of_input(path: str, kind: str) -> tuple[str, str, str] | None:
    if kind == "folder" and not path.endswith("/"):
        return "input-is-folder", "is a folder", f"declare it as {path + '/'!r}"
    if kind == "file" and path.endswith("/"):
        return "input-is-file", "is a file", f"declare it as {path.rstrip('/')!r}"
    return None


def _contents(inspection: Inspection, step: Step, folder: str) -> Iterator[Finding]:
    """Yield what of a declared folder cannot be an input."""
    fault = inspection.fault_of_folder(folder)
    if fault is not None:
        text = f"input {folder!r} holds {fault.where}, which {fault.text}"
        action = fault.action or "put the file itself in its place"
        yield Finding("error", "input-unusable", text, step.slug, fault.where, action)


def _pointers(inspection: Inspection, step: Step, path: str) -> Iterator[Finding]:
    """Yield that an input, or files of an input folder, stand there without their content."""
    tree, is_folder = inspection.tree, path.endswith("/")
    files = tree.list_files(path, strict=False) if is_folder else [path]
    found = list(pointers_among(tree, files))
    if not found:
        return
    text = f"input {path!r} {POINTER}"
    if is_folder:
        more = f" and {len(found) - 1} more like it" if found[1:] else ""
        text = f"input {path!r} holds {shown(found[0])}{more}, which {POINTER}"
    yield Finding("error", "input-lfs", text, step.slug, found[0], "git lfs pull")


def _missing_input(inspection: Inspection, step: Step, path: str, makers: Sequence[str]) -> Finding:
    text = f"input {path!r} does not exist"
    action = "put it there, or correct saInputDataFiles"
    if renamed := in_other_form(inspection, path):
        return Finding(
            "error", "input-missing", f"{text}: {renamed[0]}", step.slug, path, renamed[1]
        )
    if makers:
        text = f"{text}: step {makers[0]!r} makes it"
        action = inspection.workflow.by_slug[makers[0]].how_to_run
    elif step.directory and inspection.place(f"{step.directory}/{path}").kind != "missing":
        other = f"{step.directory}/{path}"
        text += f", but {other!r} does: paths are declared from the repository's root"
        action = f"declare {other!r}"
    elif other_place := elsewhere(inspection, path, ""):
        text += f", but {other_place.path!r} does"
        action = f"declare {other_place.path!r}, if that is the one"
    return Finding("error", "input-missing", text, step.slug, path, action)


def _output(inspection: Inspection, step: Step, path: str) -> Iterator[Finding]:
    place = inspection.place(path)
    wanted = "folder" if path.endswith("/") else "file"
    if place.kind in ("link", "other"):
        text, action = f"output {path!r} {place.text}", "move it out of the way"
        yield Finding("error", "output-unusable", text, step.slug, path, action)
    elif place.kind == "missing":
        yield from _below_a_file(inspection, step, path)
    elif place.kind == wanted == "file" and holds_pointer(inspection.tree, path):
        text = f"output {path!r} {POINTER}"
        yield Finding("warning", "output-lfs", text, step.slug, path, "git lfs pull")
    elif place.kind != wanted:
        other = path.rstrip("/") if wanted == "folder" else f"{path}/"
        text = f"output {path!r} is a {place.kind}"
        action = f"declare it as {other!r}, or move it out of the way"
        yield Finding("error", f"output-is-{place.kind}", text, step.slug, path, action)


def _below_a_file(inspection: Inspection, step: Step, path: str) -> Iterator[Finding]:
    parts = path.rstrip("/").split("/")
    for count in range(1, len(parts)):
        above = "/".join(parts[:count])
        if inspection.place(above).kind == "file":
            text = f"output {path!r} lies below {above!r}, which is a file"
            action = "move that file, or correct the path"
            yield Finding("error", "output-unusable", text, step.slug, path, action)


def _tests(inspection: Inspection, step: Step) -> Iterator[Finding]:
    files = [one for suite in step.suites for one in (suite.file, suite.standards)]
    for suite in step.suites:
        files += named_by(suite.commands, step.directory).scripts
    for path in dict.fromkeys(filter(None, files)):
        if inspection.place(path).kind != "file" and not inspection.producers.of([path]):
            text, action = f"test file {path!r} does not exist", "write it, or correct its name"
            if renamed := in_other_form(inspection, path):
                text, action = f"{text}: {renamed[0]}", renamed[1]
            yield Finding("warning", "test-missing", text, step.slug, path, action)
