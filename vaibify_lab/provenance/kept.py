"""Runs kept for citing: ``.vaibify/runs/<run fingerprint>/``, to be committed with the project.

``configuration.json`` is the canonical text of everything that decided the run's bytes, and its
SHA-256 is the fingerprint: whoever has ``sha256sum`` can tell that a citation and this folder speak
of the same run. ``manifest.json`` says the same in readable form, with the outputs, and what is for
the record only: when, where, from which commit. ``report.json`` is what was true of the step when
the run was kept, ``packages.txt`` lists the packages of its Python; its SHA-256 is one of the
components in the manifest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile, LaterFormat, UsageError, VaibifyError
from vaibify_lab.core.fact_files import parse_record
from vaibify_lab.core.fact_keys import FORMATS, KEPT_RUN
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import FINGERPRINT_FORMAT
from vaibify_lab.files.tree import Tree

RUNS = ".vaibify/runs"
FORMAT = FORMATS["kept-run"]
CONFIGURATION, MANIFEST, REPORT = "configuration.json", "manifest.json", "report.json"
PACKAGES = "packages.txt"
_LOCK = "requirements.lock"
_DIGITS = frozenset("0123456789abcdef")
_SHORTEST = 6  # digits by which a kept run may be called


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One run, as it is cited.

    Attributes
    ----------
    configuration : mapping
        What its fingerprint is the hash of.
    inputs, code, outputs : mapping of str to str
        Repository paths and SHA-256.
    versions, host, git : mapping
        What made it, where, from which commit; in no fingerprint but for lock and image.
    """

    fingerprint: str
    project: str
    workflow: str
    step: str
    name: str
    created: str
    configuration: Mapping[str, Any]
    inputs: Mapping[str, str]
    code: Mapping[str, str]
    outputs: Mapping[str, str]
    versions: Mapping[str, Any]
    host: Mapping[str, Any]
    git: Mapping[str, Any]
    fingerprint_format: int = FINGERPRINT_FORMAT

    @property
    def folder(self) -> str:
        """Where it is kept, a repository path."""
        return f"{RUNS}/{self.fingerprint}"

    @property
    def is_of_this_format(self) -> bool:
        """Tell whether a run made today could have this name."""
        return self.fingerprint_format == FINGERPRINT_FORMAT

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``manifest.json``."""
        return {
            "format": FORMAT,
            "fingerprint_format": self.fingerprint_format,
            "run_fingerprint": self.fingerprint,
            "project": self.project,
            "workflow": self.workflow,
            "step": self.step,
            "name": self.name,
            "created_at_utc": self.created,
            "env_hash": self.versions.get("env_hash"),
            "requirements_lock_path": _LOCK if self.configuration.get("lock") else None,
            "seed": self.configuration["seed"],
            "configuration": dict(self.configuration),
            "input_fingerprints": {"sha256": dict(self.inputs)},
            "code_fingerprints": {"sha256": dict(self.code)},
            "output_fingerprints": {"sha256": dict(self.outputs)},
            "versions": dict(self.versions),
            "host": dict(self.host),
            "git": dict(self.git),
        }


def as_record(run: KeptRun) -> RunRecord:
    """Return a kept run as the record that it was made from, as far as a replay needs it.

    Raises
    ------
    InvalidFile
        Something in it is not of its kind: whoever committed it may have written anything.
    """
    said, versions = run.configuration, run.versions
    stem = run.workflow.rpartition("/")[2].removesuffix(".json")
    same = ("directory", "commands", "image", "lock", "environment", "deterministic", "seed")
    value = {
        "format": FORMATS["record"],
        "workflow": stem,
        "step": run.step,
        "name": run.name,
        "outcome": "passed",
        "run_id": run.fingerprint,
        "started": run.created,
        "ended": run.created,
        **{key: said.get(key) for key in (*same, "source_date_epoch")},
        "network_isolation": said.get("network") is False,
        **{key: versions.get(key, {}) for key in ("engine", "components", "variables")},
        "env_hash": versions.get("env_hash"),
        "host": {name: text for name, text in run.host.items() if name != "machine"},
        "fingerprint": run.fingerprint,
        "pins": {"inputs": run.inputs, "code": run.code, "outputs": run.outputs},
    }
    return parse_record(jsonio.dumps(value), f"{run.folder}/{MANIFEST}", stem, run.step)


def keep(
    tree: Tree, run: KeptRun, report: Mapping[str, Any], packages: bytes | None = None
) -> None:
    """Write a run's folder; the manifest comes last, and makes it one that is kept."""
    if packages is not None:
        tree.write(f"{run.folder}/{PACKAGES}", packages)
    tree.write(f"{run.folder}/{CONFIGURATION}", jsonio.canonical(run.configuration))
    tree.write(f"{run.folder}/{REPORT}", jsonio.dumps(dict(report)))
    tree.write(f"{run.folder}/{MANIFEST}", jsonio.dumps(run.to_json()))


def kept_run(tree: Tree, fingerprint: str) -> KeptRun | None:
    """Return the run that is kept under a fingerprint; None where there is none.

    Raises
    ------
    InvalidFile
        What is there is not that run: a file was changed.
    LaterFormat
        A later version wrote it.
    """
    folder = f"{RUNS}/{fingerprint}"
    if tree.lstat(f"{folder}/{MANIFEST}") is None:
        return None
    where = f"{folder}/{MANIFEST}"
    value = _manifest(tree.read(where, jsonio.MAX_BYTES), where)
    data = tree.read(f"{folder}/{CONFIGURATION}", jsonio.MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != fingerprint:
        text = "is not what this run's name is the hash of"
        raise InvalidFile(text, where=f"{folder}/{CONFIGURATION}", action=_restore(folder))
    if value["run_fingerprint"] != fingerprint or jsonio.canonical(value["configuration"]) != data:
        text = f"does not speak of the run that {CONFIGURATION} names"
        raise InvalidFile(text, where=where, action=_restore(folder))
    return KeptRun(
        fingerprint,
        value["project"],
        value["workflow"],
        value["step"],
        value["name"],
        value["created_at_utc"],
        value["configuration"],
        value["input_fingerprints"]["sha256"],
        value["code_fingerprints"]["sha256"],
        value["output_fingerprints"]["sha256"],
        value["versions"],
        value["host"],
        value["git"],
        int(value["fingerprint_format"]),
    )


def find_kept(tree: Tree, beginning: str) -> KeptRun | None:
    """Return the kept run whose fingerprint begins so; None where that names none.

    Raises
    ------
    UsageError
        Several begin so.
    InvalidFile, LaterFormat
        See `kept_run`.
    """
    if len(beginning) < _SHORTEST or not _DIGITS.issuperset(beginning):
        return None
    found = [one for one in kept_fingerprints(tree) if one.startswith(beginning)]
    if len(found) > 1:
        text = f"{len(found)} kept runs begin with {beginning!r}"
        raise UsageError(text, action="give more digits of one")
    return kept_run(tree, found[0]) if found else None


def kept_fingerprints(tree: Tree) -> list[str]:
    """Return the names of the runs that are kept, sorted."""
    try:
        with tree.inside(RUNS) as here:
            names = here.names() if here is not None else []
    except VaibifyError:
        return []
    return sorted(name for name in names if len(name) == 64 and _DIGITS.issuperset(name))


def _manifest(data: bytes, where: str) -> dict[str, Any]:
    value = jsonio.loads(data, where)
    said = value.get("format") if isinstance(value, dict) else None
    if isinstance(said, str) and said != FORMAT and said.startswith("vaibify-lab/kept-run/"):
        text = f"has the format {said[:60]!r}, unknown to this version"
        raise LaterFormat(text, where=where, action="update vaibify_lab")
    if (fault := KEPT_RUN.fault(value)) is not None:
        raise InvalidFile(f"{fault[0] or 'the whole'}: {fault[1]}", where=where)
    return dict(value)


def _restore(folder: str) -> str:
    return f"git checkout -- {folder}"
