"""Every key of workflow.json: its kind, what its paths are for, whether it is fingerprinted.

The one table behind the reader, the JSON Schema, the docs, the manifest's coverage and the
fingerprint; tests hold each of them to it, so a key that is added here and forgotten there fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.errors import InvalidFile, LaterFormat
from vaibify_lab.core.naming import NOT_IN_NAMES
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

FORMAT = "vaibify-lab/1"

Role = Literal["output", "input", "code", "test"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    ``fingerprint``: whether what it says is in the run fingerprint, either directly or by what it
    expands to. ``doc``: one sentence for editors and docs. ``role``: what the paths it lists are
    (None: it lists none); the manifest covers every role.
    """

    kind: Kind
    fingerprint: bool
    doc: str
    role: Role | None = None


def _shape(keys: Mapping[str, Key], required: Iterable[str] = ()) -> Shape:
    return Shape(
        {name: key.kind for name, key in keys.items()},
        frozenset(required),
        {name: key.doc for name, key in keys.items()},
    )


PATH_PATTERN = r"^(?![/~])[^\\*?\[\]\x00-\x1f\x7f]+$"
_PATH = Text(4096, 1, PATH_PATTERN, "a path inside the repository, written with '/'")
_PATHS = Listed(_PATH)
_DIRECTORY = Text(4096, 0, r"^(?![/~])[^\\*?\[\]\x00-\x1f\x7f]*$", "a folder inside the repository")
_COMMAND = Text(100_000, 1, r"^(?=[\x01-\x20]*[^\x00-\x20])[^\x00]+$", "a command")
_COMMANDS = Listed(_COMMAND, 1000)
_NAME = Text(
    200,
    1,
    rf"^(?= *[^ ])[^{NOT_IN_NAMES}]+$",
    "a name, without control characters",
)
_SLUG = Text(100, 1, r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "lower-case letters, digits and '-'")
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_VALUE = Either((Text(10_000, 0, r"^[^\x00]*$"), Number(-1e300, 1e300)))
_VARIABLES = Mapped(Text(100_000, 0, r"^[^\x00]*$"), _VARIABLE, "a variable name")

TEST_KEYS: dict[str, Key] = {
    "saCommands": Key(
        _COMMANDS, False, "Commands that pass with exit status 0; pytest's report each test."
    ),
    "sFilePath": Key(
        _PATH, False, "The test file; run with pytest when there are no saCommands.", "test"
    ),
    "sStandardsPath": Key(_PATH, False, "Values that quantitative tests compare with.", "test"),
}
SUITE_KEYS: dict[str, Key] = {
    "dictIntegrity": Key(_shape(TEST_KEYS), False, "Are the files whole and of the right form?"),
    "dictQualitative": Key(_shape(TEST_KEYS), False, "Do the results look as they should?"),
    "dictQuantitative": Key(_shape(TEST_KEYS), False, "Do the numbers agree with known ones?"),
}
RESOURCE_KEYS: dict[str, Key] = {
    "fCpus": Key(Number(0.01, 4096), False, "CPUs, fractions allowed."),
    "iMemoryMegabytes": Key(Number(4, 1e9, whole=True), False, "Memory limit, MiB."),
    "iGpus": Key(Number(0, 1024, whole=True), False, "GPUs."),
    "iShmMegabytes": Key(Number(1, 1e9, whole=True), False, "Size of /dev/shm, MiB."),
}

STEP_KEYS: dict[str, Key] = {
    "sName": Key(_NAME, False, "What people call the step; unique in the workflow."),
    "sStepId": Key(
        _SLUG, False, "Names the step's facts and references; default: the name in kebab-case."
    ),
    "sDirectory": Key(
        _DIRECTORY, True, "Working directory; default: the notebook's folder, else the root."
    ),
    "sDescription": Key(Text(100_000), False, "Free text."),
    "bEnabled": Key(Flag(), False, "false: the step is not run and is not green. Default true."),
    "bInteractive": Key(
        Flag(),
        False,
        "The step is done by a person, at a terminal inside it; its commands are suggestions.",
    ),
    "bPlotOnly": Key(Flag(), False, "The step makes plots from data that is there."),
    "saDataCommands": Key(_COMMANDS, True, "Commands, run in bash with pipefail."),
    "saPlotCommands": Key(_COMMANDS, True, "Commands that make the plots, run after the data's."),
    "saTestCommands": Key(_COMMANDS, False, "Test commands; they count as integrity tests."),
    "saDataFiles": Key(
        _PATHS, True, "Data files it writes; a final slash declares a folder.", "output"
    ),
    "saPlotFiles": Key(_PATHS, True, "Plots it writes.", "output"),
    "saOutputFiles": Key(_PATHS, True, "Other files it writes.", "output"),
    "saInputDataFiles": Key(
        _PATHS, True, "Files it reads: raw data, or outputs of other steps.", "input"
    ),
    "bNoInputData": Key(Flag(), False, "Declares that it reads no data."),
    "saDependencies": Key(
        Listed(_NAME, 10_000), True, "Steps, by name or id, whose outputs it reads."
    ),
    "saScripts": Key(
        _PATHS,
        True,
        "Code of it beside the files that its commands name; a folder/ is all code in it.",
        "code",
    ),
    "sNotebook": Key(
        _PATH,
        True,
        "A notebook that is run, before the commands; its executed copy is the output *.ipynb.",
        "code",
    ),
    "dictTests": Key(_shape(SUITE_KEYS), False, "Its tests, by category.", "test"),
    "bNoTests": Key(Flag(), False, "Declares that it needs no tests."),
    "dictTolerances": Key(Mapped(Anything()), False, "Tolerances of quantitative tests."),
    "dictEnvironment": Key(_VARIABLES, True, "Environment variables of its commands."),
    "bWriteAnywhere": Key(Flag(), False, "Lets it write outside its own folders."),
    "fTimeoutSeconds": Key(Number(0.001, 1e9), False, "It is stopped, and fails, after this."),
    "dictResources": Key(_shape(RESOURCE_KEYS), False, "What it asks of the machine."),
}
STEP = _shape(STEP_KEYS, ("sName",))

TOP_KEYS: dict[str, Key] = {
    "sFormat": Key(OneOf((FORMAT,)), True, "The format of this file."),
    "sWorkflowName": Key(Text(200), False, "What people call the workflow."),
    "sPlotDirectory": Key(_DIRECTORY, True, "What {sPlotDirectory} stands for."),
    "sFigureType": Key(
        Text(20, 1, r"^[A-Za-z0-9]+$", "letters and digits"),
        True,
        "What {sFigureType} stands for; default 'pdf'.",
    ),
    "iNumberOfCores": Key(
        Number(-1, 100_000, whole=True),
        False,
        "What {iNumberOfCores} stands for; -1, the default: all but one.",
    ),
    "iJobs": Key(
        Number(1, 10_000, whole=True), False, "Steps at once; default: the engine's CPUs."
    ),
    "fTolerance": Key(Number(0, 1e300), False, "Tolerance of comparisons; default 1e-6."),
    "iSeed": Key(
        Number(0, 2**32 - 1, whole=True), True, "Seed of every step; default: drawn from the step."
    ),
    "bDeterministic": Key(Flag(), True, "Seeds, hash order, threads and dates are held fixed."),
    "saHostBinaries": Key(
        Listed(Text(4096, 1), 1000), False, "Programs of the host that results rest on."
    ),
    "bNoHostBinaries": Key(Flag(), False, "Declares that there are none."),
    "bNoPythonPackages": Key(Flag(), False, "Declares that there is nothing to lock."),
    "bKeepSignOffIfIdentical": Key(
        Flag(), False, "A re-run that gives the same bytes keeps the sign-off."
    ),
    "bSealed": Key(Flag(), False, "Every run holds only what a step declares."),
    "dictRemotes": Key(Mapped(Anything()), False, "Mirrors."),
    "fReverifyHours": Key(Number(0.01, 1e6), False, "How old a check of a mirror may be."),
    "dictVariables": Key(
        Mapped(_VALUE, _VARIABLE, "a variable name"),
        True,
        "Own variables: {name} in commands and paths.",
    ),
    "listSteps": Key(Listed(STEP), True, "The steps, in the order that {Step01...} counts."),
}
TOP = _shape(TOP_KEYS, ("sFormat", "listSteps"))
_IN_STEP = re.compile(r"\.listSteps\[([0-9]+)\]\.(.+)", re.DOTALL)


def check_format(value: Any, path: str) -> None:
    """Refuse what is no workflow of this format, before anything else is asked of it.

    Raises
    ------
    InvalidFile, LaterFormat
    """
    if not isinstance(value, dict):
        raise InvalidFile("expected an object with sFormat and listSteps", where=path)
    said = value.get("sFormat")
    if said == FORMAT:
        return
    if said is None and "iWorkflowSchemaVersion" in value:
        text = "is a project of the original Vaibify, which this version cannot read yet"
        raise InvalidFile(text, where=path, action="it was left as it is")
    if said is None:
        raise InvalidFile("sFormat: is required and missing", where=path, action=f"add {FORMAT!r}")
    match = re.fullmatch(r"vaibify-lab/([0-9]{1,6})", said) if isinstance(said, str) else None
    if match and int(match[1]) > 1:
        text = f"has the format {said!r}, later than this version knows ({FORMAT!r})"
        raise LaterFormat(text, where=path, action="update vaibify_lab; the file was not changed")
    raise InvalidFile(f"sFormat: expected {FORMAT!r}, found {said!r:.60}", where=path)


def check_keys(value: Mapping[str, Any], path: str) -> None:
    """Refuse the first key that does not hold what is expected, naming its step.

    Raises
    ------
    InvalidFile
    """
    found = TOP.fault(value)
    if found is None:
        return
    place, expected = found
    within = _IN_STEP.fullmatch(place)
    name = value["listSteps"][int(within[1])].get("sName") if within else None
    if within and STEP.keys["sName"].fault(name) is None:
        place = f"step {name!r}: {within[2]}"
    raise InvalidFile(f"{place.lstrip('.')}: {expected}", where=path)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of workflow.json, for editors and docs."""
    schema = TOP.schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "vaibify_lab workflow"
    return schema
