"""How a kept run is cited, and what a reviewer does with the citation: text and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaibify_lab.core.paths import as_word, shown
from vaibify_lab.envelope.manifest import format_manifest
from vaibify_lab.provenance.kept import CONFIGURATION, KeptRun

ADDRESS = "https://pypi.org/project/vaibify-lab/"
_WITH_PASSWORD = re.compile(r"(?<=://)[^/@]*@")
_NAMED = 10  # inputs that a citation names; the others are in the manifest of the run


@dataclass(frozen=True, slots=True)
class Task:
    """One point of a check-list: what it shows, and the command that shows it by its exit code."""

    what: str
    command: str

    def to_json(self) -> dict[str, str]:
        """Return the JSON answer's form."""
        return {"what": self.what, "command": self.command}


def citation(run: KeptRun) -> str:
    """Return the sentence for a publication: package version, fingerprint, input hashes."""
    version = shown(str(run.versions.get("vaibify_lab", "?")))
    inputs = [f"{sha256} ({shown(path)})" for path, sha256 in sorted(run.inputs.items())]
    more = f" and {len(inputs) - _NAMED} more" if len(inputs) > _NAMED else ""
    said = f"inputs sha256:{', '.join(inputs[:_NAMED])}{more}" if inputs else "no input files"
    return (
        f"Results of step {shown(run.name)!r} of {shown(run.project)} produced by vaibify_lab "
        f"v{version} ({ADDRESS}), run_fingerprint={run.fingerprint}, {said}."
    )


def checklist(run: KeptRun, remote: str | None) -> tuple[Task, ...]:
    """Return what a reviewer does, in order; every command fails where the claim does not hold.

    They are pasted into a shell, in one folder after the other; ``remote`` is where the project can
    be cloned from, None where nobody knows.
    """
    return tuple(_tasks(run, remote))


def _tasks(run: KeptRun, remote: str | None) -> Iterator[Task]:
    if remote is not None:
        place = _WITH_PASSWORD.sub("", remote)
        command = f"git clone -- {as_word(place)} reviewed && cd reviewed"
        yield Task("get the project", command)
    package = as_word(f"vaibify_lab=={run.versions.get('vaibify_lab', '')}")
    yield Task("install the same version", f"python -m pip install {package}")
    name = {f"{run.folder}/{CONFIGURATION}": run.fingerprint}
    yield Task("the name is the hash of what decided the run", _sums(name))
    if run.inputs:
        yield Task("the inputs are those of the run", _sums(run.inputs))
    if run.code:
        yield Task("so is the code", _sums(run.code))
    step = as_word(run.step)
    where = f" --workflow {as_word(run.workflow)}"
    mode = " --deterministic" if run.configuration.get("deterministic") else ""
    again = f"jupyter vaibify run {step} --only --no-tests{mode}{where}"
    yield Task("run the step again", again)
    if run.outputs:
        yield Task("it wrote the same bytes", _sums(run.outputs))
    asked = f"jupyter vaibify cite {step}{where} --expect {run.fingerprint}"
    yield Task("and the run has the same name", asked)


def _sums(hashes: Mapping[str, str]) -> str:
    lines = format_manifest(hashes).decode("utf-8", "surrogateescape")
    return f"sha256sum -c - <<'END'\n{lines}END"
