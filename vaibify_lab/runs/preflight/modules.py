"""Modules that a step's code imports and that nothing offers: repository, Python, or the lock."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.utils import canonicalize_name

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.core.graph import ancestors
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.core.status import LIST_IT, UNSEEN
from vaibify_lab.envelope.lock import NAME
from vaibify_lab.files.modules import is_standard
from vaibify_lab.files.pysource import parse_python
from vaibify_lab.runs.preflight.inspection import Inspection
from vaibify_lab.runs.preflight.locked import MAKE_LOCK
from vaibify_lab.runs.preflight.module_names import known_distributions

# A name where a requirement begins: on a line of its own, or in a list of strings.
_PACKAGE = re.compile(rb"""(?:^|["'])[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)""", re.MULTILINE)


def module_findings(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield the modules that a step, or what runs its tests, will not find."""
    scan = inspection.code.get(step.slug)
    if scan is None:
        return
    for text in scan.problems:
        yield Finding("warning", "code-unread", text, step.slug)
    for text in scan.computed:
        yield Finding("warning", "code-computed", text + UNSEEN, step.slug, None, LIST_IT)
    first: dict[str, str] = {}
    for module, path, line in scan.missing_modules:
        said = f"{shown(path)}:{line} imports" if path else "a command runs"
        first.setdefault(module.partition(".")[0], said)
    for module, said in first.items():
        yield from missing_module(inspection, step, module, said)
    for module in _run_by_tests(inspection, step):
        for found in missing_module(inspection, step, module, "a test command runs"):
            yield Finding("warning", found.code, found.text, step.slug, None, found.action)


def _run_by_tests(inspection: Inspection, step: Step) -> list[str]:
    commands = [command for suite in step.suites for command in suite.commands]
    named = named_by(commands, step.directory)
    imports = (one for code, _ in named.python for one in parse_python(code).imports)
    inside = (one.module for one in imports if not (one.level or one.optional))
    imported = [one for one in inside if _in_repository(inspection, one.partition(".")[0]) is None]
    names = (name.partition(".")[0] for name in (*named.modules, *imported))
    return [name for name in dict.fromkeys(names) if not is_standard(name)]


def missing_module(inspection: Inspection, step: Step, module: str, said: str) -> Iterator[Finding]:
    """Yield at most one finding: an error where it is certain, else a warning."""
    if _is_offered(inspection, module, known_distributions(module)) or _is_made(inspection, module):
        return
    brings = _distributions(inspection, module)
    if _is_offered(inspection, module, brings):
        return
    own = _in_repository(inspection, module)
    where = f"{NAME} does not have" if inspection.lock is not None else "this Python does not have"
    usual = f" ({brings[0]})" if brings and brings[0] != module else ""
    level: Level = "error"
    text = f"{said} {module!r}{usual}, which {where}"
    action = _remedy(inspection, [*brings, canonicalize_name(module)])
    if own is not None:
        level = "warning"
        text = f"{said} {module!r}, which is {own!r}, but not where Python looks for it"
        action = "put its folder on PYTHONPATH in dictEnvironment, and its files into saScripts"
    elif inspection.lock is not None and not brings:
        level = "warning"
        text = f"{said} {module!r}, which nothing in {NAME} is known to bring"
    elif not brings and _may_be_made(inspection, step):
        level = "warning"
    if own is None and not brings and said.endswith(" imports"):
        action = f"{action}; a module of your own goes beside what imports it"
    yield Finding(level, "module-missing", text, step.slug, None, action)


def _remedy(inspection: Inspection, names: Sequence[str]) -> str:
    """Say how to get a module: its package may be asked for already, and only not locked."""
    asked = _PACKAGE.findall(inspection.requirements or b"")
    if not {canonicalize_name(one.decode("ascii")) for one in asked}.isdisjoint(names):
        return f"it is in {inspection.source}: {MAKE_LOCK}"
    return f"add {names[0]} to {inspection.source}, then: {MAKE_LOCK}"


def _distributions(inspection: Inspection, module: str) -> list[str]:
    """Return the canonical names of what may bring a module, the usual one first."""
    names = (*known_distributions(module), *inspection.engine.distributions().get(module, ()))
    return list(dict.fromkeys(canonicalize_name(name) for name in names))


def _is_offered(inspection: Inspection, module: str, brings: Sequence[str]) -> bool:
    if inspection.locked is None:
        can_import = inspection.engine.can_import
        return can_import is None or can_import(module)
    if inspection.locked.problems:  # then it was not read to its end, and that is said
        return True
    names = {package.name for package in inspection.locked.packages}
    return not names.isdisjoint([*brings, canonicalize_name(module)])


def _is_made(inspection: Inspection, module: str) -> bool:
    """Tell whether a step makes the module: a file of that name, or files in such a folder."""
    made = (f"/{path}" for step in inspection.workflow.steps for path in step.outputs)
    return any(f"/{module}/" in path or path.endswith(f"/{module}.py") for path in made)


def _may_be_made(inspection: Inspection, step: Step) -> bool:
    """Tell whether what a step rests on, or itself, fills a folder with files of any name."""
    steps = inspection.workflow.by_slug
    before = ancestors(inspection.workflow, [step.slug]) if step.slug in steps else ()
    made = (path for one in (step, *map(steps.__getitem__, before)) for path in one.outputs)
    return any(path.endswith("/") for path in made)


def _in_repository(inspection: Inspection, module: str) -> str | None:
    endings = (f"{module}.py", f"{module}/__init__.py")
    found = [path for ending in endings for path in inspection.ending_with(ending)]
    return found[0] if found else None
