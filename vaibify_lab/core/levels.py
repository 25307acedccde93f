"""The ladder: five rungs, each with what is missing and the action that mends it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vaibify_lab.core.merging import after_merge
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.observed import TO_BE_COMMITTED, CloneProblem
from vaibify_lab.core.paths import as_word, shown
from vaibify_lab.core.report import Reason, Rung, StepReport

_ENVELOPE = "jupyter vaibify envelope"
_RUN = "jupyter vaibify run"
_BUILD = "jupyter vaibify build"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What was seen of the envelope and of git.

    ``manifest_missing`` paths should be listed and are not; ``manifest_gone`` are listed and not
    there, those in ``renamings`` only by the Unicode form of their names, with what mends that;
    ``manifest_differing`` are listed with other bytes, those in ``manifest_pointers``
    as git LFS pointers, with what gets the content. ``clone_problems`` is None when git
    could not be asked, with ``git_fault`` saying why; ``merging``: git holds files in conflict.
    ``lock_faults`` are sentences; ``image`` is the config digest pinned, ``registry`` the digest
    in a registry. The ``…_action`` of a file that cannot be read says what to do about that.
    """

    manifest_present: bool = False
    manifest_fault: str = ""
    manifest_action: str = ""
    manifest_missing: tuple[str, ...] = ()
    manifest_gone: tuple[str, ...] = ()
    renamings: Mapping[str, str] = field(default_factory=dict)
    manifest_differing: tuple[str, ...] = ()
    manifest_pointers: Mapping[str, str] = field(default_factory=dict)
    lock_present: bool = False
    lock_faults: tuple[str, ...] = ()
    lock_action: str = ""
    environment_present: bool = False
    environment_fault: str = ""
    environment_action: str = ""
    image: str | None = None
    registry: str | None = None
    platform: str | None = None
    lock: str | None = None
    image_lock: str | None = None
    clone_problems: tuple[CloneProblem, ...] | None = ()
    git_fault: str = ""
    merging: bool = False


def ladder(
    workflow: Workflow, reports: Sequence[StepReport], envelope: Envelope
) -> tuple[Rung, ...]:
    """Return the five rungs for a workflow."""
    consistent = _in_order(_self_consistent(workflow, reports, envelope), envelope)
    reproducible = _in_order(_reproducible(workflow, reports, envelope), envelope)
    return (
        _rung("L1", "Self-consistent", consistent, envelope),
        _later("L2", "Published"),
        _rung("L3", "Reproducible", reproducible, None),
        _later("L4", "Traceable"),
        _later("L5", "Attested"),
    )


def _in_order(reasons: Iterable[Reason], envelope: Envelope) -> list[Reason]:
    """Return the reasons; an envelope is due when a merge that goes on is finished."""
    if not envelope.merging:
        return list(reasons)
    return [replace(one, action=after_merge(one.action)) for one in reasons]


def _rung(level: str, title: str, missing: list[Reason], git: Envelope | None) -> Rung:
    if git is not None and git.clone_problems is None:
        unknown = Reason("git-unknown", f"git could not be asked: {git.git_fault}")
        return Rung(level, title, False if missing else "unknown", (*missing, unknown))
    return Rung(level, title, not missing, tuple(missing))


def _later(level: str, title: str) -> Rung:
    reason = Reason("not-available", "not available in this version")
    return Rung(level, title, "unknown", (reason,))


def _without_result(workflow: Workflow, reports: Sequence[StepReport]) -> Iterator[Reason]:
    """Yield why a rung would say nothing of any result."""
    if not reports:
        yield Reason("no-steps", "the workflow has no step")
    elif not any(step.outputs for step in workflow.steps):
        action = "declare what they make in saDataFiles, saPlotFiles or saOutputFiles"
        yield Reason("no-outputs", "no step declares an output", None, action)


def _self_consistent(
    workflow: Workflow, reports: Sequence[StepReport], envelope: Envelope
) -> Iterator[Reason]:
    yield from _without_result(workflow, reports)
    for report in reports:
        if not report.enabled:
            text = f"step {report.slug!r} is disabled"
            yield Reason("disabled", text, None, "set bEnabled, or remove the step")
        elif not report.green:
            first = report.reasons[0] if report.reasons else Reason("not-green", "is not green")
            yield Reason(
                "step-not-green", f"step {report.slug!r}: {first.text}", first.path, first.action
            )
    yield from _gone(envelope)
    unlike = frozenset(envelope.manifest_differing)
    for problem in envelope.clone_problems or ():
        text = f"{shown(problem.path)} {problem.text}"
        action = problem.action
        if action and problem.path in unlike and problem.code in TO_BE_COMMITTED:
            action = f"{_ENVELOPE}, then {action}"  # a clone would have what is not listed
        yield Reason("not-in-clone", text, problem.path, action or None)


def _gone(envelope: Envelope) -> Iterator[Reason]:
    """Yield what the manifest lists and is not there: who commits now takes it from everybody."""
    for path in envelope.manifest_gone:
        action = f"git checkout -- {as_word(path)}, or list what is there: {_ENVELOPE}"
        text = f"{shown(path)} is listed in MANIFEST.sha256, and is not there"
        if path in envelope.renamings:
            text, action = f"{text} in that Unicode form", envelope.renamings[path]
        yield Reason("listed-missing", text, path, action)


def _reproducible(
    workflow: Workflow, reports: Sequence[StepReport], envelope: Envelope
) -> Iterator[Reason]:
    yield from _of_manifest(envelope)
    yield from _of_lock(workflow, envelope)
    yield from _without_result(workflow, reports)
    outside = [
        report.slug
        for report in reports
        if report.isolation != "container" or not report.in_pinned_image
    ]
    if outside:
        text = f"no run in a container of the pinned image: {_some(outside)}"
        yield Reason("not-in-container", text, None, _BUILD if envelope.image is None else _RUN)
    by_hand = [report.slug for report in reports if report.kind == "interactive"]
    if by_hand:
        text = f"done by a person, so nobody can run it again: {_some(by_hand)}"
        action = "write it as commands, and set bInteractive to false"
        yield Reason("interactive", text, None, action)
    yield from _of_image(envelope)
    if not workflow.deterministic:
        text = "determinism is not declared"
        yield Reason("not-deterministic", text, None, "set bDeterministic in the workflow")
    if not workflow.host_binaries and not workflow.no_host_binaries:
        action = "list saHostBinaries, or declare bNoHostBinaries"
        yield Reason("host-binaries", "host binaries are not declared", None, action)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _of_manifest(envelope: Envelope) -> Iterator[Reason]:
    if not envelope.manifest_present:
        yield Reason("no-manifest", "there is no MANIFEST.sha256", "MANIFEST.sha256", _ENVELOPE)
        return
    if envelope.manifest_fault:
        action = envelope.manifest_action or _ENVELOPE
        yield Reason("manifest-fault", envelope.manifest_fault, "MANIFEST.sha256", action)
    for path in envelope.manifest_missing:
        yield Reason("not-in-manifest", f"{path} is not in the manifest", path, _ENVELOPE)
    yield from _gone(envelope)
    for path in envelope.manifest_differing:
        action = envelope.manifest_pointers.get(path, _ENVELOPE)
        yield Reason("manifest-differs", f"{path} differs from the manifest", path, action)


def _of_lock(workflow: Workflow, envelope: Envelope) -> Iterator[Reason]:
    if not envelope.lock_present and not workflow.no_python_packages:
        action = f"{_ENVELOPE} --only lock"
        yield Reason("no-lock", "there is no requirements.lock", "requirements.lock", action)
    if envelope.image is not None and envelope.image_lock != envelope.lock:
        text = "requirements.lock is not the one that the pinned image was built from"
        yield Reason("lock-not-in-image", text, "requirements.lock", "jupyter vaibify build")
    for fault in envelope.lock_faults:
        action = envelope.lock_action or f"{_ENVELOPE} --only lock"
        yield Reason("lock-fault", fault, "requirements.lock", action)


def _of_image(envelope: Envelope) -> Iterator[Reason]:
    path = ".vaibify/environment.json"
    if envelope.environment_fault:
        action = envelope.environment_action or f"git checkout -- {path}"
        yield Reason("environment-fault", envelope.environment_fault, path, action)
    elif not envelope.environment_present:
        yield Reason("no-environment", "there is no environment.json", path, _ENVELOPE)
    if envelope.image is None:
        yield Reason("no-image", "no image is pinned", path, _BUILD)
        return
    if envelope.registry is None:
        text = "the pinned image was never pushed: it has no registry digest"
        yield Reason("not-pushed", text, path, "jupyter vaibify build --push REF")
        return
    if is_loopback(envelope.registry):
        text = "registry is loopback: nobody else can pull the image"
        yield Reason("registry-loopback", text, path, "jupyter vaibify build --push REF")
    if envelope.platform is None:
        text = "the pinned image names no platform"
        yield Reason("no-platform", text, path, "jupyter vaibify build")


def is_loopback(reference: str) -> bool:
    """Tell whether an image's registry (``host[:port]/name@digest``) is on this machine."""
    host, slash, _ = reference.partition("/")
    if not slash:
        return False
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
