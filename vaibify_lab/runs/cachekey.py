"""By what a run's outputs are kept and found again, and how two such descriptions differ: pure.

The description is the run fingerprint's configuration with what the fingerprint leaves out and a
step can see all the same: where the project lies in the container, its own slug, its commands as
the shell gets them, requirements.lock as it is here (the image may come from an older one), what
this version of ours puts into its run, and whether that was sealed. A change of any of it misses.
What is in neither is listed in docs/cache.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import Circumstances, configuration
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.core.references import as_run

CACHE_FORMAT = 1
_GROUP = 16
_ALIKE = ("workflow", "step", "root")
_WORDS = {
    "format": "the format of fingerprints is another",
    "cache_format": "the format of the cache is another",
    "commands": "its commands differ",
    "directory": "its directory differs",
    "notebook": "its notebook is another",
    "code": "the code {path} {how}",
    "inputs": "the input {path} {how}",
    "outputs": "its list of outputs differs",
    "environment": "the variable {path} of dictEnvironment {how}",
    "image": "the pinned image differs",
    "lock": "the lock that the image was made from differs",
    "lock_here": "requirements.lock differs",
    "deterministic": "bDeterministic, or --deterministic, differs",
    "network": "networkIsolation differs",
    "seed": "the seed differs",
    "source_date_epoch": "SOURCE_DATE_EPOCH differs",
    "commands_run": "the number of cores that its commands name differs",
    "given": "what another version of vaibify_lab gave to it differs",
    "sealed": "it was not sealed",
}
# What differs by our own version alone; a seed that nobody set is drawn with the format's number.
_OURS = {"format", "cache_format", "given", "seed"}
_HOW = ("was not part of it", "is not part of it any more", "differs")


def described(
    workflow: Workflow,
    step: Step,
    around: Circumstances,
    *,
    root: str,
    cores: int,
    lock_here: str | None,
    given: str,
    sealed: bool,
) -> dict[str, Any]:
    """Return what a run of a step is kept by.

    ``root`` is where it sees the project, ``given`` stands for what we put into its run.
    """
    return {
        **configuration(workflow, step, around),
        "cache_format": CACHE_FORMAT,
        "workflow": workflow.stem,
        "step": step.slug,
        "root": root,
        "commands_run": list(as_run(step.commands, root, cores)),
        "lock_here": lock_here,
        "given": given,
        "sealed": sealed,
    }


def name_of(description: Mapping[str, Any]) -> str:
    """Return the entry's name: hex digits, the first of them shared by all runs of the step."""
    return group_of(description) + jsonio.digest(description)


def group_of(description: Mapping[str, Any]) -> str:
    """Return the beginning that the names of all entries of a step share."""
    return jsonio.digest([description[key] for key in _ALIKE])[:_GROUP]


def why_not_kept(step: Step, record: RunRecord, hidden: int) -> str | None:
    """Return why a run's outputs are not kept; None when they are.

    ``hidden`` is how many undeclared files it wrote that its record does not name.
    """
    if record.outcome != "passed" or record.fingerprint is None:
        return "it has not passed"
    if record.isolation != "container" or record.image is None:
        return "it did not run in a container of the pinned image"
    if step.interactive or record.done_by is not None:
        return "a person does it"
    if record.plot_only:
        return "it made plots only"
    if record.undeclared_writes:
        return f"it also wrote {shown(record.undeclared_writes[0])}, which no step declares"
    if record.own_code:  # left by an earlier run, and in no name by which outputs are kept
        return f"it ran {shown(next(iter(record.own_code)))}, which it had written itself"
    if record.undeclared_reads:
        path = next(iter(record.undeclared_reads))
        return f"it read {shown(path)}, which it does not declare"
    if hidden:
        return f"it also wrote {hidden} files that no step declares and git ignores"
    return "none of its files is an output" if not record.pins.outputs else None


def differences(now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """Yield how two descriptions differ, what a person would look at first coming first.

    An entry that was sealed serves a run that need not be.
    """
    order = [*_WORDS, *sorted({*now, *kept} - {*_WORDS, *_ALIKE})]
    for key in order:
        one, two = now.get(key), kept.get(key)
        if one == two or (key == "sealed" and two):
            continue
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            yield from _of_parts(key, one, two)
        else:
            yield _WORDS.get(key, f"its {key} differs").format(path="", how="differ")


def differs_by_us(now: Mapping[str, Any], kept: Mapping[str, Any]) -> str | None:
    """Return how the two differ, if nothing but our own version does; else None."""
    unlike = {key for key in now.keys() | kept.keys() if now.get(key) != kept.get(key)}
    unlike -= {"sealed"} if kept.get("sealed") else set()
    if not unlike & (_OURS - {"seed"}) or unlike - _OURS:
        return None
    return next(differences(now, kept))


def _of_parts(key: str, now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    for part in sorted({*now, *kept}):
        if now.get(part) == kept.get(part) and (part in now) == (part in kept):
            continue
        how = _HOW[0] if part not in kept else _HOW[1] if part not in now else _HOW[2]
        words = _WORDS.get(key, f"{key}: {{path}} {{how}}")
        yield words.format(path=shown(part), how=how)
