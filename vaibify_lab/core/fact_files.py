"""Facts to and from their JSON files: formats, checks, and nothing believed that does not fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from vaibify_lab.core import jsonio, spec
from vaibify_lab.core.errors import InvalidFile, LaterFormat
from vaibify_lab.core.facts import (
    CategoryResult,
    Pins,
    RunRecord,
    SignOff,
    SignOffs,
    TestMarker,
    TestResult,
)
from vaibify_lab.core.spec import Anything, Either, Flag, Listed, Mapped, Number, OneOf, Shape, Text

_Fact = TypeVar("_Fact")

_HASH = Text(64, 64, r"^[0-9a-f]{64}$", "64 hexadecimal digits")
_HASHES = Mapped(_HASH)
_SHORT = Text(10_000)
_WORDS = Listed(Text(100_000))
_FORMATS = {kind: f"vaibify-lab/{kind}/1" for kind in ("record", "marker", "sign-off")}

_RECORD_KEYS: dict[str, spec.Kind] = {
    "format": _SHORT,
    "workflow": _SHORT,
    "step": _SHORT,
    "name": _SHORT,
    "outcome": OneOf(("passed", "failed", "interrupted")),
    "run_id": Text(100, 1, r"^[A-Za-z0-9._-]+$"),
    "started": Text(40),
    "ended": Text(40),
    "reason_code": _SHORT,
    "reason": Text(100_000),
    "exit_code": Either((Number(-1000, 1000, whole=True),), null=True),
    "person": _SHORT,
    "machine": Mapped(_SHORT),
    "directory": _SHORT,
    "commands": _WORDS,
    "commands_run": _WORDS,
    "engine": Mapped(Anything()),
    "isolation": OneOf(("container", "sandbox", "none")),
    "image": Either((Text(100, 71, r"^sha256:[0-9a-f]{64}$", "sha256: and 64 digits"),), null=True),
    "lock": Either((_HASH,), null=True),
    "environment": Mapped(Text(100_000)),
    "deterministic": Flag(),
    "network_isolation": Flag(),
    "sealed": Flag(),
    "plot_only": Flag(),
    "seed": Either((Number(0, 2**64, whole=True),), null=True),
    "source_date_epoch": Either((Number(0, 1e12, whole=True),), null=True),
    "host": Mapped(_SHORT),
    "fingerprint": Either((_HASH,), null=True),
    "pins": Shape(
        {"inputs": _HASHES, "code": _HASHES, "outputs": _HASHES},
        frozenset({"inputs", "code", "outputs"}),
    ),
    "unchanged_outputs": _WORDS,
    "undeclared_writes": _WORDS,
    "seconds": Number(0, 1e12),
    "commit": Either((Text(64, 40, r"^[0-9a-f]+$", "a commit id"),), null=True),
    "dirty": _WORDS,
    "cached_from": Either((_SHORT,), null=True),
    "acknowledged": Either((Text(40),), null=True),
}
_REQUIRED = frozenset({"format", "workflow", "step", "outcome", "run_id", "pins", "commands"})
_ONE_RECORD = Shape(_RECORD_KEYS, _REQUIRED)
RECORD = Shape({**_RECORD_KEYS, "last_passed": Either((_ONE_RECORD,), null=True)}, _REQUIRED)

MARKER = Shape(
    {
        "sFormat": _SHORT,
        "sWorkflow": _SHORT,
        "sStep": _SHORT,
        "sRunId": Text(100),
        "sWhen": Text(40),
        "dictCategories": Mapped(
            Shape(
                {
                    "sOutcome": OneOf(("passed", "failed", "unknown")),
                    "saCommands": _WORDS,
                    "iExitStatus": Either((Number(-1000, 1000, whole=True),), null=True),
                    "iCollected": Number(0, 1e9, whole=True),
                    "listTests": Listed(
                        Shape(
                            {"sName": _SHORT, "sOutcome": Text(40), "sDetail": Text(100_000)},
                            frozenset({"sName", "sOutcome"}),
                        )
                    ),
                    "sDetail": Text(100_000),
                },
                frozenset({"sOutcome", "saCommands", "iCollected"}),
            ),
            r"^(integrity|qualitative|quantitative)$",
            "a category of tests",
        ),
        "dictOutputHashes": _HASHES,
        "dictInputHashes": _HASHES,
        "dictTestHashes": _HASHES,
    },
    frozenset(
        {"sFormat", "sWorkflow", "sStep", "dictCategories"}
        | {"dictOutputHashes", "dictInputHashes", "dictTestHashes"}
    ),
)

SIGN_OFF = Shape(
    {
        "format": _SHORT,
        "workflow": _SHORT,
        "step": _SHORT,
        "sign_offs": Listed(
            Shape(
                {
                    "verdict": OneOf(("passed", "failed")),
                    "by": Text(1000, 1),
                    "when": Text(40),
                    "run_id": Text(100, 1),
                    "hashes": _HASHES,
                    "note": Text(100_000),
                    "server_identity": Either((_SHORT,), null=True),
                    "signature": Either((Text(100_000),), null=True),
                    "key": Either((Text(10_000),), null=True),
                    "unsigned_reason": _SHORT,
                },
                frozenset({"verdict", "by", "when", "run_id", "hashes"}),
            )
        ),
    },
    frozenset({"format", "workflow", "step", "sign_offs"}),
)


def parse_record(data: bytes, path: str, workflow: str, step: str) -> RunRecord:
    """Read a run record; refuse one of a later format, or of another step.

    Raises
    ------
    InvalidFile, LaterFormat
    """
    value = _load(data, path, RECORD, "record", ("format", "workflow", "step"), (workflow, step))
    inner = value.get("last_passed")
    record = _record(value)
    if inner is None:
        return record
    last = _record(inner)
    if (last.workflow, last.step, last.outcome) != (workflow, step, "passed"):
        raise InvalidFile("last_passed: is no passed run of this step", where=path)
    return dataclasses.replace(record, last_passed=last)


def dump_record(record: RunRecord) -> bytes:
    """Write a run record."""
    return jsonio.dumps(_plain_record(record))


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
        value["dictOutputHashes"],
        value["dictInputHashes"],
        value["dictTestHashes"],
    )


def dump_marker(marker: TestMarker) -> bytes:
    """Write a test marker, with the key names of the requirement documents."""
    return jsonio.dumps(
        {
            "sFormat": _FORMATS["marker"],
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
    )


def parse_sign_offs(data: bytes, path: str, workflow: str, step: str) -> SignOffs:
    """Read a step's sign-offs; refuse those of a later format, or of another step."""
    keys = ("format", "workflow", "step")
    value = _load(data, path, SIGN_OFF, "sign-off", keys, (workflow, step))
    if not value["sign_offs"]:
        raise InvalidFile("sign_offs: holds no entry", where=path)
    entries = tuple(
        dataclasses.replace(
            _build(SignOff, item),
            signature_state="unchecked" if item.get("signature") else "unsigned",
        )
        for item in value["sign_offs"]
    )
    return SignOffs(workflow, step, entries)


def dump_sign_offs(sign_offs: SignOffs) -> bytes:
    """Write a step's sign-offs."""
    entries = []
    for entry in sign_offs.entries:
        plain = _plain(entry)
        plain.pop("signature_state")
        entries.append(plain)
    head = {"format": _FORMATS["sign-off"], "workflow": sign_offs.workflow}
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
    prefix = _FORMATS[kind].rsplit("/", 1)[0] + "/"
    if isinstance(said, str) and said.startswith(prefix) and said != _FORMATS[kind]:
        raise LaterFormat(f"has the format {said[:60]!r}, unknown to this version", where=path)
    if said != _FORMATS[kind]:
        raise InvalidFile(f"{keys[0]}: expected {_FORMATS[kind]!r}", where=path)
    spec.read(shape, value, path)
    if (value[keys[1]], value[keys[2]]) != names:
        text = (
            f"belongs to step {value[keys[2]][:80]!r} of {value[keys[1]][:80]!r}, not to this one"
        )
        raise InvalidFile(text, where=path)
    return value


def _record(value: Mapping[str, Any]) -> RunRecord:
    plain = {key: item for key, item in value.items() if key not in ("last_passed", "pins")}
    plain.setdefault("name", value["step"])
    plain.setdefault("started", "")
    plain.setdefault("ended", "")
    return dataclasses.replace(_build(RunRecord, plain), pins=_build(Pins, value["pins"]))


def _category(value: Mapping[str, Any]) -> CategoryResult:
    tests = tuple(
        TestResult(one["sName"], one["sOutcome"], one.get("sDetail", ""))
        for one in value.get("listTests", ())
    )
    return CategoryResult(
        value["sOutcome"],
        tuple(value["saCommands"]),
        value.get("iExitStatus"),
        value["iCollected"],
        tests,
        value.get("sDetail", ""),
    )


def _build(kind: type[_Fact], value: Mapping[str, Any]) -> _Fact:
    """Make a record from checked JSON; lists become tuples, unknown keys are left out."""
    known = {one.name for one in dataclasses.fields(kind)}  # type: ignore[arg-type]  # a dataclass
    return kind(
        **{
            key: tuple(item) if isinstance(item, list) else item
            for key, item in value.items()
            if key in known
        }
    )


def _plain_record(record: RunRecord) -> dict[str, Any]:
    value = _plain(record)
    value["format"] = _FORMATS["record"]
    value["pins"] = {name: dict(getattr(record.pins, name)) for name in Pins.__dataclass_fields__}
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
