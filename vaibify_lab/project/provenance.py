"""Pins and lineage of a project's steps, at one look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vaibify_lab.provenance.lineage import Lineage, lineage
from vaibify_lab.provenance.pins import Chain, PinCheck, StepPins
from vaibify_lab.provenance.versions import Versions
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.opened import Look, Opened


@dataclass(frozen=True, slots=True)
class CheckedPins:
    """What a step's last passed run pinned, and whether it is still so, the whole way back."""

    workflow: str
    own: StepPins
    chain: Chain
    checked_at: str

    @property
    def reproducible(self) -> bool | None:
        """Whether everything is as it was pinned; None where nothing is pinned."""
        return None if self.chain.status == "no-pins" else self.chain.status == "verified"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form, with the requirement document's names."""
        return {
            "analysis_id": self.own.slug,
            "workflow": self.workflow,
            "run_id": self.own.run_id,
            "pinned_artifacts": [one.to_json() for one in self.own.of("input", "code")],
            "outputs": [one.to_json() for one in self.own.of("output")],
            "reproducible": self.reproducible,
            "checks": [one.check() for one in self.own.contents],
            "added": [one.to_json() for one in self.own.added],
            "upstream": [
                {"analysis_id": one.slug, "status": one.status}
                for one in self.chain.steps
                if one.slug != self.own.slug
            ],
            **self.chain.to_json(),
            "checked_at": self.checked_at,
        }


def pins_of(opened: Opened, look: Look, slug: str) -> CheckedPins:
    """Return a step's pins, checked."""
    check = _check(opened, look)
    return CheckedPins(look.workflow.path, check.of(slug), check.chain(slug), now())


def lineage_of(opened: Opened, look: Look, slug: str | None) -> Lineage:
    """Return the graph of a step, or of the workflow."""
    return lineage(_check(opened, look), slug, now())


def _check(opened: Opened, look: Look) -> PinCheck:
    return PinCheck(look.workflow, look.facts, look.world, Versions(opened.records))
