"""Facts to and from their JSON files: formats, checks, and nothing believed that does not fit."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from sys import intern
from typing import Any, TypeVar

from vaibify_lab.core import jsonio, spec
from vaibify_lab.core.errors import InvalidFile, LaterFormat
from vaibify_lab.core.fact_keys import FORMATS, MARKER, RECORD, SIGN_OFF
from vaibify_lab.core.facts import (
    CategoryResult,
    Pins,
    RunRecord,
    SignOff,
    SignOffs,
    Surroundings,
    TestMarker,
    TestResult,
)
from vaibify_lab.core.spec import Shape

_Fact = TypeVar("_Fact")
_DIGESTS = {"record": "digest", "marker": "sDigest"}
_SURROUNDINGS = {
    "sDirectory": "directory",
    "dictEnvironment": "environment",
    "sImage": "image",
    "sLock": "lock",
    "bDeterministic": "declared_deterministic",
    "bNetworkIsolation": "network_isolation",
    "iSeed": "seed",
    "bSeedDeclared": "seed_declared",
}


def parse_record(data: bytes, path: str, workflow: str, step: str) -> RunRecord:
    """Read a run record; refuse one of a later format, or of another step.

    Raises
    ------
    InvalidFile, LaterFormat
    """
    value = _load(data, path, RECORD, "record", ("format", "workflow", "step"), (workflow, step))
    inner = value.pop("last_passed", None)
    last = None if inner is None else _record(inner)
    if last is not None and (last.workflow, last.step, last.outcome) != (workflow, step, "passed"):
        raise InvalidFile("last_passed: is no passed run of this step", where=path)
    record = _record(value, last_passed=last)
    for one in (record, last):
        if one and one.outcome == "passed" and one.exit_code and one.done_by is None:
            text = f"contradicts itself: a run with exit status {one.exit_code} has not passed"
            raise InvalidFile(text, where=path)
    return record


def dump_record(record: RunRecord) -> bytes:
    """Write a run record."""
    return jsonio.dumps(_sealed(_plain_record(record), "digest"))


def parse_marker(data: bytes, path: str, workflow: str, step: str) -> TestMarker:
    """Read a test marker; refuse one of a later format, or of another step."""
    keys = ("sFormat", "sWorkflow", "sStep")
    value = _load(data, path, MARKER, "marker", keys, (workflow, step))
    categories = {name: _category(item) for name, item in value["dictCategories"].items()}
    return TestMarker(
        workflow,
        step,
        value.get("sRunId", ""),
        value.get("sWhen", ""),
        categories,
        _hashes(value["dictOutputHashes"]),
        _hashes(value["dictInputHashes"]),
        _hashes(value["dictTestHashes"]),
        _surroundings(value.get("dictSurroundings")),
    )


def dump_marker(marker: TestMarker) -> bytes:
    """Write a test marker."""
    return jsonio.dumps(_sealed(plain_marker(marker), "sDigest"))


def plain_marker(marker: TestMarker) -> dict[str, Any]:
    """Return a test marker with the key names of the requirement documents."""
    value: dict[str, Any] = {
        "sFormat": FORMATS["marker"],
        "sWorkflow": marker.workflow,
        "sStep": marker.step,
        "sRunId": marker.run_id,
        "sWhen": marker.when,
        "dictCategories": {
            name: {
                "sOutcome": result.outcome,
                "saCommands": list(result.commands),
                "iExitStatus": result.exit_status,
                "iCollected": result.collected,
                "sDetail": result.detail,
                "listTests": [
                    {"sName": one.name, "sOutcome": one.outcome, "sDetail": one.detail}
                    for one in result.tests
                ],
            }
            for name, result in marker.categories.items()
        },
        "dictOutputHashes": dict(marker.output_hashes),
        "dictInputHashes": dict(marker.input_hashes),
        "dictTestHashes": dict(marker.test_hashes),
    }
    if marker.surroundings is not None:
        value["dictSurroundings"] = {
            key: getattr(marker.surroundings, name) for key, name in _SURROUNDINGS.items()
        }
    return value


def parse_sign_offs(data: bytes, path: str, workflow: str, step: str) -> SignOffs:
    """Read a step's sign-offs; refuse those of a later format, or of another step."""
    keys = ("format", "workflow", "step")
    value = _load(data, path, SIGN_OFF, "sign-off", keys, (workflow, step))
    if not value["sign_offs"]:
        raise InvalidFile("sign_offs: holds no entry", where=path)
    for entry in value["sign_offs"]:
        _check_digest(entry, "digest", path)
    return SignOffs(workflow, step, tuple(map(_sign_off, value["sign_offs"])))


def dump_sign_offs(sign_offs: SignOffs) -> bytes:
    """Write a step's sign-offs."""
    entries = []
    for entry in sign_offs.entries:
        plain = _plain(entry)
        plain.pop("signature_state")
        entries.append(_sealed(plain, "digest"))
    head = {"format": FORMATS["sign-off"], "workflow": sign_offs.workflow}
    return jsonio.dumps({**head, "step": sign_offs.step, "sign_offs": entries})


def _load(
    data: bytes,
    path: str,
    shape: Shape,
    kind: str,
    keys: tuple[str, str, str],
    names: tuple[str, str],
) -> dict[str, Any]:
    value: dict[str, Any] = jsonio.loads(data, path)
    said = value.get(keys[0]) if isinstance(value, dict) else None
    prefix = FORMATS[kind].rsplit("/", 1)[0] + "/"
    if isinstance(said, str) and said.startswith(prefix) and said != FORMATS[kind]:
        raise LaterFormat(f"has the format {said[:60]!r}, unknown to this version", where=path)
    if said != FORMATS[kind]:
        raise InvalidFile(f"{keys[0]}: expected {FORMATS[kind]!r}", where=path)
    spec.read(shape, value, path)
    if (value[keys[1]], value[keys[2]]) != names:
        text = (
            f"belongs to step {value[keys[2]][:80]!r} of {value[keys[1]][:80]!r}, not to this one"
        )
        raise InvalidFile(text, where=path)
    _check_digest(value, _DIGESTS.get(kind, ""), path)
    return value


def _sealed(value: dict[str, Any], key: str) -> dict[str, Any]:
    """Add a digest of the rest, as it will be read: no mixture of two facts has it."""
    return {**value, key: _digest_of(json.loads(jsonio.dumps(value)))}


def _check_digest(value: dict[str, Any], key: str, path: str) -> None:
    """Refuse what is not as it was written: git merges two facts line by line.

    Facts of earlier versions have no digest.
    """
    said = value.pop(key, None)
    if said is not None and said != _digest_of(value):
        text = "is not as it was written: two were merged into one, or somebody edited it"
        raise InvalidFile(text, where=path)


def _digest_of(value: Mapping[str, Any]) -> str:
    """Hash all but an acknowledgement, which says for itself what it is about.

    Not in the canonical form of fingerprints, which costs a first look an eighth of its calls: the
    file is our own writing, and holds no text in two forms.
    """
    rest = {key: item for key, item in value.items() if key != "acknowledged"}
    return hashlib.sha256(jsonio.line(rest)).hexdigest()


def _surroundings(value: Mapping[str, Any] | None) -> Surroundings | None:
    if value is None:
        return None
    given = {name: value[key] for key, name in _SURROUNDINGS.items()}
    return Surroundings(**{**given, "seed": _whole(given["seed"])})


def _record(value: dict[str, Any], **more: Any) -> RunRecord:
    for name in ("exit_code", "seed", "source_date_epoch"):
        value[name] = _whole(value.get(name))
    seen = value.get("acknowledged") or {}  # of another run: git merged two records into one
    value["acknowledged"] = seen["when"] if seen.get("run_id") == value["run_id"] else None
    pins = _pins(value["pins"])
    for name in ("own_code", "undeclared_reads", "undeclared_names"):
        value[name] = _hashes(value.get(name) or {})
    missing = {"name": value["step"], "started": "", "ended": "", "last_passed": None}
    return _build(RunRecord, {**missing, **value, **more, "pins": pins})


def _pins(value: Mapping[str, Any]) -> Pins:
    given = value.get("versions")
    versions = None if given is None else {intern(path): int(given[path]) for path in given}
    inputs, code, outputs = (_hashes(value[name]) for name in ("inputs", "code", "outputs"))
    return Pins(inputs, code, outputs, versions)


def _sign_off(value: Mapping[str, Any]) -> SignOff:
    state = "unchecked" if value.get("signature") else "unsigned"
    hashes = _hashes(value["hashes"])
    return _build(SignOff, {**value, "hashes": hashes, "signature_state": state})


_NOTHING: Mapping[str, str] = {}  # shared, as every fact: nobody may change it


def _hashes(value: Mapping[str, str]) -> Mapping[str, str]:
    """Return hashes by path; a text that many facts hold, and nothing, are kept once."""
    if not value:
        return _NOTHING
    return {intern(path): intern(sha256) for path, sha256 in value.items()}


def _category(value: Mapping[str, Any]) -> CategoryResult:
    tests = tuple(
        TestResult(one["sName"], one["sOutcome"], one.get("sDetail", ""))
        for one in value.get("listTests", ())
    )
    return CategoryResult(
        value["sOutcome"],
        tuple(value["saCommands"]),
        _whole(value.get("iExitStatus")),
        int(value["iCollected"]),
        tests,
        value.get("sDetail", ""),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _build(kind: type[_Fact], value: Mapping[str, Any]) -> _Fact:
    """Make a record from checked JSON; lists become tuples, unknown keys are left out."""
    known = kind.__dataclass_fields__  # type: ignore[attr-defined]  # a dataclass
    return kind(
        **{
            key: tuple(item) if isinstance(item, list) else item
            for key, item in value.items()
            if key in known
        }
    )


def _plain_record(record: RunRecord) -> dict[str, Any]:
    value = _plain(record)
    value["format"] = FORMATS["record"]
    if record.acknowledged is not None:
        value["acknowledged"] = {"when": record.acknowledged, "run_id": record.run_id}
    groups = {name: getattr(record.pins, name) for name in Pins.__dataclass_fields__}
    value["pins"] = {name: dict(group) for name, group in groups.items() if group is not None}
    if record.last_passed is None or record.outcome == "passed":
        del value["last_passed"]
    else:
        value["last_passed"] = _plain_record(
            dataclasses.replace(record.last_passed, last_passed=None)
        )
    return value


def _plain(fact: Any) -> dict[str, Any]:
    value = {one.name: getattr(fact, one.name) for one in dataclasses.fields(fact)}
    return {
        key: list(item)
        if isinstance(item, tuple)
        else dict(item)
        if isinstance(item, Mapping)
        else item
        for key, item in value.items()
    }
