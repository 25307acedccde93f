"""What tests and people said of a step, as far as it still holds for the bytes that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vaibify_lab.core.differences import UNKNOWABLE, describe, of_environment
from vaibify_lab.core.facts import (
    BEGAN_NOTHING,
    COLLECTED_NOTHING,
    RAN_NOTHING,
    CategoryResult,
    FactFault,
    RunRecord,
    SignOff,
    SignOffs,
    TestMarker,
)
from vaibify_lab.core.model import Category, Step, Workflow
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason, TestState, UserState
from vaibify_lab.core.world import World

_OTHER = {
    "image-changed": "ran before another image was pinned",
    "lock-changed": "ran before requirements.lock changed",
    "environment-changed": "ran before its dictEnvironment changed",
    "determinism-changed": "ran before bDeterministic changed",
    "network-changed": "ran before networkIsolation changed",
    "seed-changed": "ran before iSeed changed",
}

_DUE = ("-untested", "-cut-short", "-unknown", "marker-unusable")


def of_category(
    step: Step,
    category: Category,
    marker: TestMarker | FactFault | None,
    workflow: Workflow,
    world: World,
) -> tuple[TestState, list[Reason]]:
    """Return the state of one category of a step's tests, with the reasons."""
    suites = [suite for suite in step.suites if suite.category == category]
    commands = tuple(command for suite in suites for command in suite.commands)
    if not commands:
        return "none", []
    if isinstance(marker, FactFault):
        return "unknown", [Reason("marker-unusable", marker.text, marker.path, marker.action)]
    if marker is None or category not in marker.categories:
        return "untested", [_untested(category, "have not been run")]
    result = marker.categories[category]
    if result.commands != commands:
        return "untested", [_untested(category, "have other commands than when they ran")]
    moved = _moved_since_tests(step, category, marker, world)
    if moved is not None:
        return moved
    other = _in_other_surroundings(step, marker, workflow, world)
    if other:
        return "untested", [_untested(category, other)]
    if result.collected == 0 and result.outcome != "failed":
        text = f"{category} tests {result.detail or 'collected no test'}"
        write = write_a_test(step, result)
        code = f"{category}-{'empty' if write else 'cut-short'}"
        return "untested", [Reason(code, text, None, write or "jupyter vaibify test")]
    if result.outcome == "failed":
        bad = [one.name for one in result.tests if one.outcome not in ("passed", "skipped")]
        text = f"failed: {', '.join(bad[:5]) or result.detail or 'see the log'}"
        if bad and set(bad) <= set(commands) and result.detail:  # commands, not pytest's tests
            text += f" ({result.detail})"
        return "failed", [Reason(f"{category}-failed", f"{category} tests {text}")]
    if result.outcome == "unknown":
        write = write_a_test(step, result)
        code = f"{category}-{'empty' if write else 'unknown'}"
        return "unknown", [Reason(code, result.detail or "tests told nothing", None, write)]
    return "passed", []


def write_a_test(step: Step, result: CategoryResult) -> str | None:
    """Return what to do where commands ran no test: run again, they would again run none.

    None where the tests did not come to their end, so that to run them again may help.
    """
    if result.outcome == "failed" or result.exit_status is None:
        return None
    if result.detail.startswith(BEGAN_NOTHING):
        first = "let the command run its tests by pytest"
    elif result.detail.startswith((RAN_NOTHING, COLLECTED_NOTHING)) or not result.detail:
        first = "write a test that is neither skipped nor expected to fail, or correct the command"
    else:
        return None
    which = f": {shown(result.commands[0])}" if len(result.commands) == 1 else ""
    return f"{step.to_be_enabled}{first}{which}, then: jupyter vaibify test {step.slug}"


def why_due(reasons: Iterable[Reason]) -> str | None:
    """Return why nobody knows what tests say of the bytes that are there; None where it is known.

    They have not come to an end on them, or what they said there cannot be read. Tests that failed,
    or that collected nothing, have: to run those again is somebody's decision.
    """
    return next((one.text for one in reasons if one.code.endswith(_DUE)), None)


def _moved_since_tests(
    step: Step, category: Category, marker: TestMarker, world: World
) -> tuple[TestState, list[Reason]] | None:
    """Compare every file that the tests saw; a change that is certain goes before an unknown."""
    groups = (
        (world.outputs(step), marker.output_hashes),
        (world.expand((*step.inputs, *step.test_inputs)), marker.input_hashes),
        # what a session says it loaded is not to be found by reading alone
        ((*world.test_files.get(step.slug, ()), *marker.test_hashes), marker.test_hashes),
    )
    found = [one for now, then in groups for one in _moved(now, then, world)]
    certain = [path for path, state in found if state.kind not in UNKNOWABLE]
    if certain:
        text = f"ran before {shown(certain[0])} changed"
        return "untested", [_untested(category, text, certain[0])]
    if found:
        path, state = found[0]
        return "unknown", [Reason(f"{category}-unknown", describe(path, state), path)]
    return None


def _in_other_surroundings(step: Step, marker: TestMarker, workflow: Workflow, world: World) -> str:
    """Say what surrounded the tests and is not what surrounds the step now; "" when all is."""
    then = marker.surroundings
    if then is None:
        return ""
    if then.directory != step.directory:
        return "ran before sDirectory changed"
    first = next(of_environment(step, then, workflow, world), None)
    if first is None:
        return ""
    return _OTHER.get(first.code, "ran outside the pinned image")


def of_person(
    step: Step,
    found: SignOffs | FactFault | None,
    passed: RunRecord | None,
    world: World,
    keep_if_identical: bool,
) -> tuple[UserState, list[Reason]]:
    """Return what a person said of a step's outputs, while it is still about these bytes."""
    sign = _how_to_sign(step, passed, world)
    if isinstance(found, FactFault):
        action = found.action_by(sign)
        return "unknown", [Reason("sign-off-unusable", found.text, found.path, action)]
    if found is None:
        return "untested", [Reason("not-signed", "nobody has signed it off", None, sign)]
    entry = found.entries[-1]
    if entry.signature_state == "invalid":
        text = f"the signature of {entry.by} does not fit the sign-off: it was edited afterwards"
        return "unknown", [Reason("signature-invalid", text, None, sign)]
    if passed is None:
        text = "no run has passed that it could be about"
        return "untested", [Reason("sign-off-gone", text, None, sign)]
    if entry.run_id != passed.run_id and not keep_if_identical:
        text = f"the step was run again after {entry.by} signed"
        return "untested", [Reason("sign-off-gone", text, None, sign)]
    return _of_signed_bytes(entry, world.outputs(step), world, sign)


def _how_to_sign(step: Step, passed: RunRecord | None, world: World) -> str:
    """Return what to type to sign a step, and before it what there must be: a run's own outputs."""
    sign = f"jupyter vaibify sign-off {step.slug} --pass"
    pins = passed.pins.outputs if passed is not None else {}
    made = {path: pins[path] for path in step.made_among(pins)}
    kinds = {state.kind for _, state in _moved(world.outputs(step), made, world)}
    if "lfs-pointer" in kinds:
        return f"git lfs pull, then: {sign}"
    if passed is None or kinds - UNKNOWABLE:
        return f"{step.how_to_run}, look at what it wrote, then: {sign}"
    return sign


def _of_signed_bytes(
    entry: SignOff, outputs: Iterable[str], world: World, sign: str
) -> tuple[UserState, list[Reason]]:
    now = dict.fromkeys(outputs)
    found = list(_moved(now, entry.hashes, world))
    for path, state in found:
        if state.kind not in UNKNOWABLE:
            text = _why_gone(path, state, path in now, path in entry.hashes, entry.by)
            return "untested", [Reason("sign-off-gone", text, path, sign)]
    if found:
        path, state = found[0]
        return "unknown", [Reason("sign-off-unknown", describe(path, state), path)]
    if entry.verdict == "failed":
        said = f": {entry.note}" if entry.note else ""
        return "failed", [Reason("signed-failed", f"{entry.by} signed it as failed{said}")]
    return "passed", []


def _why_gone(path: str, state: FileState, declared: bool, signed: bool, by: str) -> str:
    if not signed:
        return f"{shown(path)} is not among what {by} signed"
    if not declared:
        return f"{shown(path)}, which {by} signed, is not an output any more"
    if state.kind == "file":
        return f"{shown(path)} changed since {by} signed"
    return f"{describe(path, state)}; {by} signed its content"


def _moved(
    now: Iterable[str], then: Mapping[str, str], world: World
) -> Iterator[tuple[str, FileState]]:
    """Yield every file that is not there now as it was then, or was not looked at then."""
    listed = dict.fromkeys(now)
    for path in listed | dict.fromkeys(then):
        state = world.state(path)
        same = path in then and path in listed
        if not same or state.kind != "file" or state.sha256 != then[path]:
            yield path, state


def _untested(category: str, text: str, path: str | None = None) -> Reason:
    return Reason(f"{category}-untested", f"{category} tests {text}", path, "jupyter vaibify test")
