"""Every key of workflow.json: its kind, what its paths are for, whether it is fingerprinted.

The one table behind the reader, the JSON Schema, the manifest's coverage and the fingerprint; tests
hold each of them to it, so a key that is added here and forgotten there fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.spec import Anything, Either, Flag, Kind, Listed, Mapped, Number, Shape, Text

FORMAT = "vaibify-lab/1"

Role = Literal["output", "input", "code", "test"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    ``role``: what the paths it lists are (None: it lists none); the manifest covers every role.
    ``fingerprint``: whether what it says is in the run fingerprint; either directly or by what it
    expands to.
    """

    kind: Kind
    fingerprint: bool
    role: Role | None = None


PATH_PATTERN = r"^(?![/~])[^\\*?\[\]\x00-\x1f\x7f]+$"
_PATH = Text(4096, 1, PATH_PATTERN, "a path inside the repository, written with '/'")
_PATHS = Listed(_PATH)
_DIRECTORY = Text(4096, 0, r"^(?![/~])[^\\*?\[\]\x00-\x1f\x7f]*$", "a folder inside the repository")
_COMMAND = Text(100_000, 1, r"^[^\x00]*[^\x00\s][^\x00]*$", "a command")
_COMMANDS = Listed(_COMMAND, 1000)
_NAME = Text(200, 1, r"^[^\x00-\x1f\x7f]*[A-Za-z0-9][^\x00-\x1f\x7f]*$", "a name of letters")
_SLUG = Text(100, 1, r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "lower-case letters, digits and '-'")
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_VALUE = Either((Text(10_000, 0, r"^[^\x00]*$"), Number(-1e300, 1e300)))

TEST_KEYS: dict[str, Key] = {
    "saCommands": Key(_COMMANDS, False),
    "sFilePath": Key(_PATH, False, "test"),
    "sStandardsPath": Key(_PATH, False, "test"),
}
_SUITE = Shape({name: key.kind for name, key in TEST_KEYS.items()})

STEP_KEYS: dict[str, Key] = {
    "sName": Key(_NAME, False),
    "sStepId": Key(_SLUG, False),
    "sDirectory": Key(_DIRECTORY, True),
    "sDescription": Key(Text(100_000), False),
    "bEnabled": Key(Flag(), False),
    "bInteractive": Key(Flag(), False),
    "bPlotOnly": Key(Flag(), False),
    "saDataCommands": Key(_COMMANDS, True),
    "saPlotCommands": Key(_COMMANDS, True),
    "saTestCommands": Key(_COMMANDS, False),
    "saDataFiles": Key(_PATHS, True, "output"),
    "saPlotFiles": Key(_PATHS, True, "output"),
    "saOutputFiles": Key(_PATHS, True, "output"),
    "saInputDataFiles": Key(_PATHS, True, "input"),
    "bNoInputData": Key(Flag(), False),
    "saDependencies": Key(Listed(_NAME, 10_000), True),
    "saScripts": Key(_PATHS, True, "code"),
    "sNotebook": Key(_PATH, True, "code"),
    "dictCell": Key(Mapped(Anything()), False),
    "dictTests": Key(
        Shape({"dictIntegrity": _SUITE, "dictQualitative": _SUITE, "dictQuantitative": _SUITE}),
        False,
        "test",
    ),
    "bNoTests": Key(Flag(), False),
    "dictTolerances": Key(Mapped(Anything()), False),
    "dictEnvironment": Key(
        Mapped(Text(100_000, 0, r"^[^\x00]*$"), _VARIABLE, "a variable name"), True
    ),
    "bWriteAnywhere": Key(Flag(), False),
    "fTimeoutSeconds": Key(Number(0.001, 1e9), False),
    "dictResources": Key(
        Shape(
            {
                "fCpus": Number(0.01, 4096),
                "iMemoryMegabytes": Number(4, 1e9, whole=True),
                "iGpus": Number(0, 1024, whole=True),
                "iShmMegabytes": Number(1, 1e9, whole=True),
            }
        ),
        False,
    ),
}
STEP = Shape({name: key.kind for name, key in STEP_KEYS.items()}, frozenset({"sName"}))

TOP_KEYS: dict[str, Key] = {
    "sFormat": Key(Text(60, 1), True),
    "sWorkflowName": Key(Text(200), False),
    "sPlotDirectory": Key(_DIRECTORY, True),
    "sFigureType": Key(Text(20, 1, r"^[A-Za-z0-9]+$", "letters and digits"), True),
    "iNumberOfCores": Key(Number(-1, 100_000, whole=True), False),
    "iJobs": Key(Number(1, 10_000, whole=True), False),
    "fTolerance": Key(Number(0, 1e300), False),
    "iSeed": Key(Number(0, 2**32 - 1, whole=True), True),
    "bDeterministic": Key(Flag(), True),
    "saHostBinaries": Key(Listed(Text(4096, 1), 1000), False),
    "bNoHostBinaries": Key(Flag(), False),
    "bNoPythonPackages": Key(Flag(), False),
    "bKeepSignOffIfIdentical": Key(Flag(), False),
    "bSealed": Key(Flag(), False),
    "dictRemotes": Key(Mapped(Anything()), False),
    "fReverifyHours": Key(Number(0.01, 1e6), False),
    "dictVariables": Key(Mapped(_VALUE, _VARIABLE, "a variable name"), True),
    "listSteps": Key(Listed(STEP), True),
}
TOP = Shape({name: key.kind for name, key in TOP_KEYS.items()}, frozenset({"sFormat", "listSteps"}))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of workflow.json, for editors and docs."""
    schema = TOP.schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "vaibify_lab workflow"
    return schema
