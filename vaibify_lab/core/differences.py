"""How the world differs from the last run that passed, one reason a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from vaibify_lab.core.facts import RunRecord, Surroundings
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason
from vaibify_lab.core.world import World

UNKNOWABLE = frozenset({"unreadable", "changing"})
_ROLES = {"output": "an output", "input": "an input", "code": "part of the code"}
DECLARE_READ = "add it to saInputDataFiles, then jupyter vaibify run"
STATE_TEXT = {
    "missing": "is missing",
    "link": "is, or lies below, a symbolic link",
    "not-regular": "is not a regular file",
    "unreadable": "cannot be read",
    "changing": "is changing while it is read",
    "lfs-pointer": "holds a git LFS pointer, not the content",
}


def since(step: Step, passed: RunRecord, workflow: Workflow, world: World) -> Iterator[Reason]:
    """Yield every difference that makes a step stale (state.md, "staleness")."""
    if (step.commands, step.directory) != (passed.commands, passed.directory):
        yield Reason("commands-changed", "its commands differ from those of the last run")
    if step.interactive and passed.done_by is None:
        yield Reason("now-interactive", "is done by a person now, and its last run was not")
    elif passed.done_by is not None and not step.interactive:
        yield Reason("now-automatic", "its last run was done by a person, and now it is not")
    code = world.code.get(step.slug, ())
    yield from of_files("code", code, code_pins(step, passed, world), world)
    for path, sha256 in passed.own_code.items():
        state = world.state(path)
        if state.kind != "missing" and state.sha256 != sha256:
            yield _changed("code", path, state)
    yield from of_files("input", world.inputs(step), passed.pins.inputs, world)
    for path, state in undeclared(passed.undeclared_reads, step, world):
        if state.sha256 != passed.undeclared_reads[path] or state.kind != "file":
            action = DECLARE_READ if state.kind == "file" else "jupyter vaibify run"
            yield replace(_changed("read", path, state), action=action)
    # an output that was withdrawn since is nobody's
    made = {path: passed.pins.outputs[path] for path in step.made_among(passed.pins.outputs)}
    yield from of_files("output", world.outputs(step), made, world)
    for folder in (path for path in step.outputs + step.inputs if path.endswith("/")):
        if folder in world.folder_faults:
            yield Reason("folder-unusable", world.folder_faults[folder], folder)
    yield from of_environment(step, passed, workflow, world)


def undeclared(
    paths: Mapping[str, str], step: Step, world: World
) -> Iterator[tuple[str, FileState]]:
    """Yield those of a run's undeclared files that are still undeclared, as they are now."""
    if not paths:
        return
    declared = {*world.inputs(step), *world.code.get(step.slug, ()), *world.outputs(step)}
    yield from ((path, world.state(path)) for path in paths if path not in declared)


def code_pins(step: Step, passed: RunRecord, world: World) -> Mapping[str, str]:
    """Return the hashes that stand for the code that ran.

    Those of the run, and for a notebook that was saved again since, while what runs in it stayed
    the same, that of its bytes now.
    """
    path, now = step.notebook, world.notebooks.get(step.slug)
    if path is None or now is None or now != passed.notebook or path not in passed.pins.code:
        return passed.pins.code
    sha256 = world.state(path).sha256
    return passed.pins.code if sha256 is None else {**passed.pins.code, path: sha256}


def of_files(
    role: str, now: Iterable[str], pins: Mapping[str, str], world: World
) -> Iterator[Reason]:
    """Yield how files of one role differ from what a run pinned."""
    listed = dict.fromkeys(now)
    for path in listed:
        state = world.state(path)
        if path not in pins:
            text = {
                "output": "was not produced by the last run",
                "input": "was not an input of the last run",
                "code": "was not part of the code of the last run",
            }[role]
            yield Reason(f"{role}-new", f"{shown(path)} {text}", path)
        elif state.sha256 != pins[path] or state.kind != "file":
            yield _changed(role, path, state)
    for path in pins:
        if path not in listed:
            text = f"{shown(path)} was {_ROLES[role]} of the last run and is not any more"
            yield Reason(f"{role}-gone", text, path)


def describe(path: str, state: FileState) -> str:
    """Say in words what is wrong with a file, or that its bytes differ."""
    text = STATE_TEXT.get(state.kind, "differs from the last run")
    detail = f" ({state.detail})" if state.detail else ""
    return f"{shown(path)} {text}{detail}"


def _changed(role: str, path: str, state: FileState) -> Reason:
    code = f"{role}-changed" if state.kind in ("file", "lfs-pointer") else f"{role}-{state.kind}"
    word = "undeclared input" if role == "read" else role
    return Reason(code, f"{word} {describe(path, state)}", path)


def of_environment(
    step: Step, passed: RunRecord | Surroundings, workflow: Workflow, world: World
) -> Iterator[Reason]:
    """Yield how what surrounds a step differs from what surrounded a run, or its tests."""
    if passed.image != world.image:
        if passed.image is None:
            yield Reason("outside-image", "ran outside the pinned image")
        else:
            yield Reason("image-changed", "the pinned image is not the one it ran in")
    if passed.lock != world.lock:
        yield Reason("lock-changed", "requirements.lock differs from the last run's")
    if dict(passed.environment) != dict(step.environment):
        yield Reason("environment-changed", "its dictEnvironment differs from the last run's")
    if passed.declared_deterministic != workflow.deterministic:
        yield Reason("determinism-changed", "bDeterministic differs from the last run's")
    if passed.network_isolation != world.network_isolation:
        yield Reason("network-changed", "networkIsolation differs from the last run's")
    if _has_another_seed(passed, workflow):
        yield Reason("seed-changed", "iSeed differs from the last run's seed")


def _has_another_seed(passed: RunRecord | Surroundings, workflow: Workflow) -> bool:
    """Compare what is declared; a drawn seed changes with what it is drawn from, never alone."""
    if workflow.seed is None:
        return passed.seed_declared
    return passed.seed is not None and passed.seed != workflow.seed
