"""What must hold of a project after a death, and what after the next run."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import docker

from tests.kills.truth import Told, Truth, files_below
from vaibify_lab.core.facts import FactFault, RunRecord
from vaibify_lab.core.report import StepReport
from vaibify_lab.envelope.manifest import parse_manifest
from vaibify_lab.files.factstore import LOCAL, FactStore
from vaibify_lab.files.tree import Tree

ENVELOPE = ("MANIFEST.sha256", "requirements.lock", ".vaibify/environment.json")
ALONE = (  # what only a run in progress, or one that nobody has cleared up after, may leave
    ".vaibify/local/aside/*",
    ".vaibify/local/probe",
    ".vaibify/local/runs/*/steps/*/tree",
    ".vaibify/local/runs/*/steps/*/*.scratch",
    ".vaibify/local/runs/*/steps/*/*.temporary",
    ".vaibify/local/runs/*/steps/*/*.probe",
)


def after_death(truth: Truth) -> None:
    """Check what must hold at any moment at all."""
    everything_parses(truth)
    nothing_strange(truth)
    nothing_lost(truth)
    no_wrong_green(truth, truth.made.steps())
    no_wrong_list(truth)


def after_the_next(truth: Truth) -> None:
    """Check what must hold once a run has cleared up, whatever that run was to make."""
    after_death(truth)
    for step, record in records(truth):
        if record is not None and record.passed is not None:
            there, recorded = truth.hashes(step.outputs), dict(record.passed.pins.outputs)
            if truth.cleaned:  # as asked for: kept elsewhere, as `nothing_lost` has seen
                recorded |= {path: "" for path in there if not there[path]}
            assert there == recorded, (step.slug, "is not what it recorded")
    for pattern in ALONE:
        left = list(truth.made.root.glob(pattern))
        assert not left, left
    wait_until_idle(truth, b"vaibify_lab.runs.child")  # it has said its last word, and goes
    assert not processes_of(truth), processes_of(truth)


def after_the_last(truth: Truth) -> None:
    """Check what must hold once a run has made everything anew that had to be."""
    after_death(truth)
    reports = truth.made.steps()
    for step in truth.steps:
        assert truth.is_true(step), step.slug
        report = reports[step.slug]
        seen = (report.run, report.unit_test, report.upstream_modified)
        assert seen == ("current", "passed" if step.tested else "none", False), (step, report)


def everything_parses(truth: Truth) -> None:
    """Every JSON document is whole; a journal may end in half a line, if its run did not end."""
    for path in files_below(truth.made.root):
        text = truth.text(path)
        if text is not None and path.endswith(".json"):  # an empty one is half of one
            json.loads(text)
        if text is not None and path.endswith(".jsonl"):
            lines = text.encode().splitlines(keepends=True)
            for line in lines if text.endswith("\n") else lines[:-1]:
                json.loads(line)


def nothing_strange(truth: Truth) -> None:
    """No file lies where git would take it along but what belongs there."""
    known = {"workflow.json", "work.sh", "check.sh", "requirements.in", ".gitattributes"}
    known |= {"vaibify.yml", "container.conf", "data/in.txt", "data/side.txt"}
    known |= {".vaibify/.gitignore", *ENVELOPE}
    for step in truth.steps:
        kinds = ("records", "test_markers", "sign_offs")
        known |= {f".vaibify/{kind}/workflow/{step.slug}.json" for kind in kinds}
        known |= set(step.outputs)
    found = {one for one in files_below(truth.made.root) if not one.startswith(f"{LOCAL}/")}
    assert found <= known, found - known


def nothing_lost(truth: Truth) -> None:
    """The outputs of each last passed run exist, in their places or aside."""
    contents = truth.kept()
    for step, record in records(truth):
        if record is None or record.passed is None:
            continue
        for path, pin in record.passed.pins.outputs.items():
            assert pin in contents, (step.slug, path, "is lost")


def no_wrong_green(truth: Truth, reports: dict[str, StepReport]) -> None:
    """What is said to be current, tested or signed really is."""
    for step in truth.steps:
        report = reports[step.slug]
        if report.run == "current":
            assert truth.is_true(step), (step.slug, "is no such thing as current")
        if report.unit_test == "passed":
            assert _passes(truth, step), (step.slug, "would not pass its tests")
        if report.user == "passed":
            now = truth.hashes(step.outputs)
            assert now in truth.signed.get(step.slug, []), (step.slug, "was signed by nobody")
        assert not report.green or (report.run, report.user) == ("current", "passed")


def no_wrong_list(truth: Truth) -> None:
    """A manifest lists nothing that a killed run left half written."""
    path = truth.made.root / "MANIFEST.sha256"
    if not path.exists():
        return
    manifest = parse_manifest(path.read_bytes())
    assert not manifest.problems
    contents = truth.kept()
    outputs = {one for step in truth.steps for one in step.outputs}
    for entry in manifest.entries:
        for place in contents.get(entry.sha256, ()) if entry.path in outputs else ():
            text = (truth.made.root / place).read_text()
            assert text.endswith(f"end {entry.path}\n"), (entry.path, "is listed half written")


def envelope_fits(truth: Truth) -> None:
    """The manifest lists every file as it is, and the rest of the envelope."""
    found = listed(truth)
    assert found == truth.hashes(tuple(found))
    assert ".vaibify/environment.json" in found
    assert all(path in found for step in truth.steps for path in step.outputs)


def listed(truth: Truth) -> dict[str, str]:
    """Return what the manifest lists."""
    manifest = parse_manifest((truth.made.root / "MANIFEST.sha256").read_bytes())
    return {entry.path: entry.sha256 for entry in manifest.entries}


def wait_until_idle(truth: Truth, which: bytes = b"", seconds: float = 150.0) -> None:
    """Wait until a run that was started goes on no more, nor a step that outlived its runner."""
    until = time.monotonic() + seconds
    while found := processes_of(truth, which):
        assert time.monotonic() < until, found
        time.sleep(0.02)


def records(truth: Truth) -> Iterator[tuple[Told, RunRecord | None]]:
    """Yield each step with its record; every record can be read."""
    store = FactStore(Tree(truth.made.root), "workflow")
    found = store.load([step.slug for step in truth.steps]).records
    for step in truth.steps:
        record = found.get(step.slug)
        assert not isinstance(record, FactFault), record
        yield step, record


def processes_of(truth: Truth, which: bytes = b"") -> list[str]:
    """Return the living processes that have to do with the project, by what the kernel knows."""
    return living(truth.made.root.name.encode(), which)


def living(token: bytes, which: bytes = b"") -> list[str]:
    """Return the living processes, but us, that a word is about, by what the kernel knows."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            about = _about(entry)
            if token in about and which in about and not _is_the_engines_orphan(about):
                found.append(f"{entry.name}: {about[:300]!r}")
    return found


def _is_the_engines_orphan(about: bytes) -> bool:
    """Tell whether a process is of a container that an engine killed at its start knows no more.

    Docker leaves one so, whoever asked for the container: it waits to run its first instruction and
    no call reaches it.
    """
    found = re.match(rb"runc\0init\0.*?_LIBCONTAINER_STATEDIR=[^\0]*/([0-9a-f]{64})\0", about, re.S)
    if found is None or "DOCKER_HOST" not in os.environ:
        return False
    try:
        docker.from_env().containers.get(found[1].decode())
    except docker.errors.NotFound:
        return True
    return False


def _about(entry: Path) -> bytes:
    """Return command line, environment and folder of a process; nothing of one that is gone."""
    found = b""
    with suppress(OSError):
        if (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] in b"ZX":
            return b""
        found += (entry / "cmdline").read_bytes()
        found += os.fsencode(os.readlink(entry / "cwd"))
        found += (entry / "environ").read_bytes()
    return found


def _passes(truth: Truth, step: Told) -> bool:
    if not step.tested:
        return False
    ends = all(
        (truth.made.root / one).read_text().splitlines()[-1:] == [f"end {one}"]
        for one in step.outputs
    )
    return ends and "bad" not in truth.made.read("data/in.txt")
