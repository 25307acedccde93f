"""Facts: what happened to a step, as it is kept in one small JSON file each.

A *record* says how a step's last run ended and keeps the last run that passed; a *marker* what its
tests said, about which bytes; a *sign-off* who looked at which bytes. In a clone all of them are
claims of whoever committed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vaibify_lab.core import jsonio

Outcome = Literal["passed", "failed", "interrupted"]
LARGEST_VERSION = 10**9
SignatureState = Literal["valid", "invalid", "unsigned", "unchecked"]


@dataclass(frozen=True, slots=True)
class Pins:
    """Content hashes (64 hex digits) by repository path, as one run saw them.

    ``versions`` are the numbers of these contents, of those alone whose number is not 1; None in a
    record that was written without them.
    """

    inputs: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, int] | None = None

    def contents(self) -> Iterator[tuple[str, str]]:
        """Yield path and hash of each content."""
        for group in (self.inputs, self.code, self.outputs):
            yield from group.items()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """How one run of a step ended.

    ``reason_code`` and ``reason`` say why it did not pass. ``commands`` are as declared (root
    and cores symbolic), ``commands_run`` as the shell got them. ``image`` is the config digest
    of the image it ran in, ``lock`` the SHA-256 of requirements.lock its packages came from;
    None where there was none. ``deterministic`` is what was in force, declared or asked for;
    ``deterministic_by_flag``: the workflow did not declare it. ``seed_declared``: it is ``iSeed``,
    not drawn. ``components`` are what the run
    stood on (see `vaibify_lab.core.components`), ``env_hash`` their hash, ``variables`` what
    was put into the step's environment. ``notebook`` is a digest of what ran of the step's
    notebook: one that was merely saved again has the same. ``done_by`` names the person who
    said that a step done by hand was done. ``undeclared_writes`` are files of the repository
    that it wrote and no step declares, without what git ignores; ``own_code`` are those that it
    also runs, with their hashes: code that it makes itself, which a clone need not have.
    ``undeclared_reads`` are files that its code or its commands read and it does not declare, with
    the hashes they had before; ``undeclared_names`` those that it only names, or wrote itself.
    ``acknowledged`` is when somebody marked its bad end as seen; in the file it names the run, so
    that it is about no other when git merges two records. ``last_passed`` is the last record that
    passed, when this one did not.
    """

    workflow: str
    step: str
    name: str
    outcome: Outcome
    run_id: str
    started: str
    ended: str
    reason_code: str = ""
    reason: str = ""
    exit_code: int | None = None
    person: str = ""
    machine: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""
    commands: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()
    engine: Mapping[str, Any] = field(default_factory=dict)
    isolation: str = "none"
    image: str | None = None
    lock: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    deterministic: bool = False
    deterministic_by_flag: bool = False
    network_isolation: bool = False
    sealed: bool = False
    plot_only: bool = False
    done_by: str | None = None
    notebook: str | None = None
    seed: int | None = None
    seed_declared: bool = False
    source_date_epoch: int | None = None
    host: Mapping[str, str] = field(default_factory=dict)
    env_hash: str | None = None
    components: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str | None = None
    pins: Pins = Pins()
    unchanged_outputs: tuple[str, ...] = ()
    undeclared_writes: tuple[str, ...] = ()
    own_code: Mapping[str, str] = field(default_factory=dict)
    undeclared_reads: Mapping[str, str] = field(default_factory=dict)
    undeclared_names: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    commit: str | None = None
    branch: str | None = None
    shallow: bool = False
    dirty: tuple[str, ...] = ()
    cached_from: str | None = None
    acknowledged: str | None = None
    last_passed: RunRecord | None = None

    @property
    def passed(self) -> RunRecord | None:
        """The last run that passed: this one, or the one kept inside."""
        return self if self.outcome == "passed" else self.last_passed

    @property
    def declared_deterministic(self) -> bool:
        """What the workflow said of it then, whatever was asked for at the time."""
        return self.deterministic and not self.deterministic_by_flag


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test: its name and what the test code said of it."""

    name: str
    outcome: str
    detail: str = ""


RAN_NOTHING = "ran no test"
COLLECTED_NOTHING = "collected no test in one of their sessions"
BEGAN_NOTHING = "began no session of pytest"


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """One category's run: commands as declared, exit statuses, what was collected."""

    outcome: Literal["passed", "failed", "unknown"]
    commands: tuple[str, ...]
    exit_status: int | None
    collected: int
    tests: tuple[TestResult, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What tests ran in, beside files: what of it changes makes them speak of something else."""

    directory: str
    environment: Mapping[str, str]
    image: str | None
    lock: str | None
    declared_deterministic: bool
    network_isolation: bool
    seed: int | None
    seed_declared: bool


@dataclass(frozen=True, slots=True)
class TestMarker:
    """What the tests of a step said, about which outputs, inputs and test files, run in what.

    ``surroundings`` is None in a marker of an earlier version, which did not keep them.
    """

    workflow: str
    step: str
    run_id: str
    when: str
    categories: Mapping[str, CategoryResult]
    output_hashes: Mapping[str, str]
    input_hashes: Mapping[str, str]
    test_hashes: Mapping[str, str]
    surroundings: Surroundings | None = None


@dataclass(frozen=True, slots=True)
class SignOff:
    """One person's word on one run's bytes. ``signature`` is an armoured SSH signature.

    ``signature_state`` is not stored: the reader fills in what a check of it said.
    """

    verdict: Literal["passed", "failed"]
    by: str
    when: str
    run_id: str
    hashes: Mapping[str, str]
    note: str = ""
    server_identity: str | None = None
    signature: str | None = None
    key: str | None = None
    unsigned_reason: str = ""
    signature_state: SignatureState = "unsigned"

    def signed_content(self, workflow: str, step: str) -> bytes:
        """Return the exact bytes that a signature covers."""
        value = {name: getattr(self, name) for name in ("verdict", "by", "when", "run_id", "note")}
        value |= {"workflow": workflow, "step": step, "hashes": dict(self.hashes)}
        return jsonio.dumps(value)


@dataclass(frozen=True, slots=True)
class SignOffs:
    """Every sign-off of a step, oldest first; the last one counts."""

    workflow: str
    step: str
    entries: tuple[SignOff, ...]


@dataclass(frozen=True, slots=True)
class FactFault:
    """A fact file that is not believed, and what to do about it.

    ``anew`` is what to type for a new one; ``back`` how git gives one that reads ("" where it has
    none), ``after`` what is to follow a new one. Neither helps against the cause ``other``: then
    ``anew`` says what does.
    """

    path: str
    text: str
    anew: str
    cause: Literal["damaged", "pointer", "other"] = "other"
    back: str = ""
    after: str = ""

    @property
    def action(self) -> str:
        """What to do about it."""
        return self.action_by(self.anew)

    def action_by(self, anew: str) -> str:
        """Return what to do where ``anew`` is what makes a new one."""
        if self.cause != "damaged":
            return self.anew
        return f"{self.back}, or {anew}{self.after}" if self.back else f"{anew}{self.after}"


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of a workflow, by slug. ``orphans`` are fact files that no step owns."""

    records: Mapping[str, RunRecord | FactFault] = field(default_factory=dict)
    markers: Mapping[str, TestMarker | FactFault] = field(default_factory=dict)
    sign_offs: Mapping[str, SignOffs | FactFault] = field(default_factory=dict)
    orphans: tuple[str, ...] = ()

    def faults(self) -> Iterator[FactFault]:
        """Yield every fact file of a step that is not believed."""
        for kind in (self.records, self.markers, self.sign_offs):
            yield from (fact for fact in kind.values() if isinstance(fact, FactFault))
