"""What a replay came to: a verdict for each step, and the layer that drifted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vaibify_lab.ceremony.drift import NONE_FOUND, Difference, as_json, first_layer
from vaibify_lab.provenance.outputs import Compared

FORMAT = "vaibify-lab/replay/1"


@dataclass(frozen=True, slots=True)
class StepReplay:
    """One step.

    Attributes
    ----------
    run_id, env_hash : str or None
        Of the recorded run.
    drift : tuple of Difference
        What kept it from being run again: not as it was, and not accepted.
    accepted : tuple of Difference
        What differs and was accepted.
    found : tuple of Difference
        What else was seen to differ once it had run.
    outputs : tuple of Compared
    problems : tuple of str
        Why it cannot be run again, or what failed.
    env_hash_now : str or None
        Of the replay, where it ran.
    """

    slug: str
    run_id: str | None = None
    env_hash: str | None = None
    drift: tuple[Difference, ...] = ()
    accepted: tuple[Difference, ...] = ()
    found: tuple[Difference, ...] = ()
    outputs: tuple[Compared, ...] = ()
    problems: tuple[str, ...] = ()
    env_hash_now: str | None = None
    deterministic: bool = True

    @property
    def may_help(self) -> str:
        """What may make the step deterministic, where it alone is left to blame; "" elsewhere."""
        if self.layer != NONE_FOUND or self.deterministic:
            return ""
        return "bDeterministic in the workflow fixes seeds, dates, hash order and threads"

    @property
    def is_refused(self) -> bool:
        """Tell whether it must not be run."""
        return bool(self.drift or self.problems)

    @property
    def is_identical(self) -> bool:
        """Tell whether every output came out bit by bit."""
        same = all(one.verdict == "identical" for one in self.outputs)
        return bool(self.outputs) and same and not self.is_refused

    @property
    def state(self) -> str:
        """What came of it, in a word."""
        if self.is_identical:
            return "identical"
        if self.outputs and not self.problems:
            return "equal" if all(one.passes for one in self.outputs) else "differs"
        if self.drift:
            return "drifted"
        return "failed" if self.env_hash_now or not self.problems else "impossible"

    @property
    def layer(self) -> str | None:
        """The layer that drifted; None where nothing speaks of any."""
        if self.is_identical or (self.problems and not self.found and not self.accepted):
            return None
        if self.drift:
            return first_layer(self.drift)
        if not self.outputs and not self.problems:
            return None  # another step kept it from being run
        return first_layer((*self.accepted, *self.found)) or NONE_FOUND

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "step": self.slug,
            "state": self.state,
            "layer": self.layer,
            "run_id": self.run_id,
            "env_hash": self.env_hash,
            "env_hash_now": self.env_hash_now,
            "drift": as_json(self.drift),
            "accepted": as_json(self.accepted),
            "found": as_json(self.found),
            "outputs": [one.as_json() for one in self.outputs],
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Replay:
    """All steps of a replay; ``kept`` is where it is kept, None where it is not."""

    steps: tuple[StepReplay, ...]
    kept: str | None = None

    @property
    def is_identical(self) -> bool:
        """Tell whether all came out bit by bit."""
        return bool(self.steps) and all(one.is_identical for one in self.steps)

    @property
    def has_run(self) -> bool:
        """Tell whether anything was run."""
        return any(one.outputs or one.env_hash_now for one in self.steps)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "format": FORMAT,
            "identical": self.is_identical,
            "kept": self.kept,
            "steps": [one.to_json() for one in self.steps],
        }
