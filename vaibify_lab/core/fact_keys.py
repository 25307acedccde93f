"""Every key of the fact files: the tables behind their reader and their JSON Schemas."""

from __future__ import annotations

from typing import Any

from vaibify_lab.core.facts import LARGEST_VERSION
from vaibify_lab.core.spec import (
    Anything,
    Either,
    Flag,
    Kind,
    Listed,
    Mapped,
    Number,
    OneOf,
    Shape,
    Text,
)

_HASH = Text(64, 64, r"^[0-9a-f]{64}$", "64 hexadecimal digits")
_NAMED_HASH = Text(100, 71, r"^sha256:[0-9a-f]{64}$", "sha256: and 64 digits")
_PATH = r"^(?!/)(?!([^\x00]*/)?\.\.(/|$))[^\x00]+$"
_HASHES = Mapped(_HASH, _PATH, "a path inside the repository")
_VERSIONS = Mapped(Number(2, LARGEST_VERSION, whole=True), _PATH, "a path inside the repository")
_RUN_ID = Text(100, 1, r"^[A-Za-z0-9][A-Za-z0-9._-]*$", "a run's name")
_SHORT = Text(10_000)
_WORDS = Listed(Text(1_000_000))
FORMATS = {kind: f"vaibify-lab/{kind}/1" for kind in ("record", "marker", "sign-off", "kept-run")}
_SEEN = Shape({"when": Text(40), "run_id": _RUN_ID}, frozenset({"when", "run_id"}))

_RECORD_KEYS: dict[str, Kind] = {
    "format": OneOf((FORMATS["record"],)),
    "workflow": _SHORT,
    "step": _SHORT,
    "name": _SHORT,
    "outcome": OneOf(("passed", "failed", "interrupted")),
    "run_id": _RUN_ID,
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
    "image": Either((_NAMED_HASH,), null=True),
    "lock": Either((_HASH,), null=True),
    "environment": Mapped(Text(100_000)),
    "deterministic": Flag(),
    "deterministic_by_flag": Flag(),
    "network_isolation": Flag(),
    "sealed": Flag(),
    "plot_only": Flag(),
    "done_by": Either((_SHORT,), null=True),
    "notebook": Either((_HASH,), null=True),
    "seed": Either((Number(0, 2**64, whole=True),), null=True),
    "seed_declared": Flag(),
    "source_date_epoch": Either((Number(0, 1e12, whole=True),), null=True),
    "host": Mapped(_SHORT),
    "env_hash": Either((_NAMED_HASH,), null=True),
    "components": Mapped(_SHORT),
    "variables": Mapped(Text(100_000)),
    "fingerprint": Either((_HASH,), null=True),
    "pins": Shape(
        {"inputs": _HASHES, "code": _HASHES, "outputs": _HASHES, "versions": _VERSIONS},
        frozenset({"inputs", "code", "outputs"}),
    ),
    "unchanged_outputs": _WORDS,
    "undeclared_writes": _WORDS,
    "own_code": _HASHES,
    "undeclared_reads": _HASHES,
    "undeclared_names": _HASHES,
    "seconds": Number(0, 1e12),
    "branch": Either((_SHORT,), null=True),
    "shallow": Flag(),
    "commit": Either((Text(64, 40, r"^[0-9a-f]+$", "a commit id"),), null=True),
    "dirty": _WORDS,
    "cached_from": Either((_RUN_ID,), null=True),
    "acknowledged": Either((_SEEN,), null=True),
    "digest": _HASH,
}
_REQUIRED = frozenset({"format", "workflow", "step", "outcome", "run_id", "pins", "commands"})
_ONE_RECORD = Shape(_RECORD_KEYS, _REQUIRED)
RECORD = Shape({**_RECORD_KEYS, "last_passed": Either((_ONE_RECORD,), null=True)}, _REQUIRED)

_SURROUNDINGS: dict[str, Kind] = {
    "sDirectory": _SHORT,
    "dictEnvironment": Mapped(Text(100_000)),
    "sImage": Either((_NAMED_HASH,), null=True),
    "sLock": Either((_HASH,), null=True),
    "bDeterministic": Flag(),
    "bNetworkIsolation": Flag(),
    "iSeed": Either((Number(0, 2**64, whole=True),), null=True),
    "bSeedDeclared": Flag(),
}
MARKER = Shape(
    {
        "sFormat": OneOf((FORMATS["marker"],)),
        "sWorkflow": _SHORT,
        "sStep": _SHORT,
        "sRunId": Text(100, 0, r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$", "a run's name"),
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
        "dictSurroundings": Shape(_SURROUNDINGS, frozenset(_SURROUNDINGS)),
        "sDigest": _HASH,
    },
    frozenset(
        {"sFormat", "sWorkflow", "sStep", "dictCategories"}
        | {"dictOutputHashes", "dictInputHashes", "dictTestHashes"}
    ),
)

SIGN_OFF = Shape(
    {
        "format": OneOf((FORMATS["sign-off"],)),
        "workflow": _SHORT,
        "step": _SHORT,
        "sign_offs": Listed(
            Shape(
                {
                    "verdict": OneOf(("passed", "failed")),
                    "by": Text(1000, 1),
                    "when": Text(40),
                    "run_id": _RUN_ID,
                    "hashes": _HASHES,
                    "note": Text(100_000),
                    "server_identity": Either((_SHORT,), null=True),
                    "signature": Either((Text(100_000),), null=True),
                    "key": Either((Text(10_000),), null=True),
                    "unsigned_reason": _SHORT,
                    "digest": _HASH,
                },
                frozenset({"verdict", "by", "when", "run_id", "hashes"}),
            )
        ),
    },
    frozenset({"format", "workflow", "step", "sign_offs"}),
)


_FILES = Shape({"sha256": _HASHES}, frozenset({"sha256"}))
_KEPT_KEYS: dict[str, Kind] = {
    "format": OneOf((FORMATS["kept-run"],)),
    "fingerprint_format": Number(0, 1e9, whole=True),
    "run_fingerprint": _HASH,
    "project": _SHORT,
    "workflow": _SHORT,
    "step": _SHORT,
    "name": _SHORT,
    "created_at_utc": Text(40),
    "configuration": Mapped(Anything()),
    "input_fingerprints": _FILES,
    "code_fingerprints": _FILES,
    "output_fingerprints": _FILES,
    "versions": Mapped(Anything()),
    "host": Mapped(Anything()),
    "git": Mapped(Anything()),
}
_REPLAY_KEYS: dict[str, Kind] = {  # runs that were kept before there was a replay have none
    "env_hash": Either((_NAMED_HASH,), null=True),
    "requirements_lock_path": Either((Text(1000, 1, _PATH),), null=True),
    "seed": Number(0, 2**64, whole=True),
}
KEPT_RUN = Shape({**_KEPT_KEYS, **_REPLAY_KEYS}, frozenset(_KEPT_KEYS))


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of the fact files, by kind."""
    shapes = {"record": RECORD, "marker": MARKER, "sign-off": SIGN_OFF, "kept-run": KEPT_RUN}
    heads = {
        kind: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"vaibify_lab {kind}",
        }
        for kind in shapes
    }
    return {kind: heads[kind] | shape.schema() for kind, shape in shapes.items()}
