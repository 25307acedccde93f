"""Whether what is listed is what the recorded runs read, ran and wrote.

The manifest says that a clone has the author's bytes, not that they came of the author's runs: who
edits a result, or an input, and writes the envelope anew has a manifest that holds. The records say
more, and are here to be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from vaibify_lab.core.facts import FactFault, RunRecord
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.runs.opened import Opened

_NOTEBOOK = ".ipynb"  # whose code may be the same when its bytes are not
_LIST = "list what is here: jupyter vaibify envelope"
CODE = "not-as-recorded"


def not_as_recorded(opened: Opened, workflows: Sequence[Workflow]) -> list[Finding]:
    """Name the listed files that are not those of the last passed runs, and runs that failed.

    Also steps of which no run is on record (unless they are disabled), or none that can be read.

    Raises
    ------
    UnsafePath, InvalidFile
        The manifest cannot be read.
    """
    runs = [
        (step, facts.records.get(step.slug))
        for workflow in workflows
        for facts in [opened.facts_of(workflow).load(step.slug for step in workflow.steps)]
        for step in workflow.steps
        if step.enabled or step.slug in facts.records
    ]
    manifest = opened.manifest() if any(record for _, record in runs) else None
    listed = manifest.hashes() if manifest is not None else {}

    def stands(path: str) -> str | None:
        return opened.cache.observe({path: None})[path].sha256

    return [found for step, record in runs for found in _of_step(step, record, listed, stands)]


def _of_step(
    step: Step,
    record: RunRecord | FactFault | None,
    listed: Mapping[str, str],
    stands: Callable[[str], str | None],
) -> Iterator[Finding]:
    action = step.how_to_run
    if not isinstance(record, RunRecord):
        text = "no run of it is on record" if record is None else record.text
        path = None if record is None else record.path
        yield Finding("error", CODE, text, step.slug, path, action)
        return
    if record.outcome != "passed":
        text = f"its last run {'failed' if record.outcome == 'failed' else 'was interrupted'}"
        yield Finding("error", CODE, text, step.slug, None, action)
    if record.passed is None:
        return
    pins = record.passed.pins
    # an output that was withdrawn since is nobody's, or another step's
    wrote = {path: pins.outputs[path] for path in step.made_among(pins.outputs)}
    for verb, files in (("read", pins.inputs), ("ran", pins.code), ("wrote", wrote)):
        for path, sha256 in files.items():
            is_saved_again = verb == "ran" and path.endswith(_NOTEBOOK)
            if listed.get(path, sha256) != sha256 and not is_saved_again:
                if stands(path) == sha256:
                    text = f"{shown(path)} is what its last passed run {verb}, and not as listed"
                    yield Finding("error", CODE, text, step.slug, path, _LIST)
                else:
                    text = f"{shown(path)} is not what its last passed run {verb}"
                    yield Finding("error", CODE, text, step.slug, path, action)
