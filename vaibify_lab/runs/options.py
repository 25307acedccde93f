"""What a run was asked to do, as it travels from a front door to the runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vaibify_lab.runs.plan import Mode, Selection

if TYPE_CHECKING:
    from vaibify_lab.engines.local.tiers import Wanted


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Everything a run can be told.

    ``workflow`` is the workflow file's repository path. ``jobs`` None: as the workflow says, else
    the engine's processors. ``engine`` is docker, local, auto (docker where an image is pinned) or
    any (the same, and local where no container can be had); ``tier`` is the local engine's.
    ``interactive``: a person is there for the steps that need one. ``tests`` False: steps only.
    ``tests_only``: the tests of the steps selected, alone; ``category`` narrows them.
    ``foretell`` False: notebooks are run as far as they come, whatever their text foretells.
    ``no_cache``: nothing is taken from the cache, and nothing put there.
    """

    workflow: str
    mode: Mode = "stale"
    steps: tuple[str, ...] = ()
    jobs: int | None = None
    engine: str = "auto"
    tier: Wanted = "auto"
    deterministic: bool = False
    plot_only: bool = False
    sealed: bool = False
    clean: bool = False
    twice: bool = False
    interactive: bool = False
    tests: bool = True
    tests_only: bool = False
    category: str | None = None
    foretell: bool = True
    no_cache: bool = False

    @property
    def selection(self) -> Selection:
        """The steps asked for; two runs to be compared are made of steps that are current too."""
        mode = "all" if self.twice and self.mode == "stale" else self.mode
        return Selection(mode, self.steps)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunOptions:
        """Read what ``to_json`` wrote."""
        known = {key: item for key, item in value.items() if key in cls.__dataclass_fields__}
        return cls(**{**known, "steps": tuple(known.get("steps", ()))})
