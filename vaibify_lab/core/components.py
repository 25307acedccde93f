"""What a run stood on beside its own files: named components, their one hash, and how two differ.

The hash (``env_hash``) is that of the canonical JSON of all components, so their order is of no
influence, and whoever has them can hash them again. They are kept beside it: a later difference is
told by its name and both values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vaibify_lab.core import jsonio

Layer = Literal["lock", "image", "system", "machine"]
NONE, UNKNOWN = "none", "unknown"  # there is none; nobody could be asked
LAYERS: Mapping[str, Layer] = {
    "lock": "lock",
    "image": "image",
    "packages": "system",
    "python": "system",
    "libc": "system",
    "locale": "system",
    "tzdata": "system",
    "cuda": "system",
    "ld_preload": "system",
    "kernel": "machine",
    "architecture": "machine",
    "cpu": "machine",
    "cpu_features": "machine",
    "driver": "machine",
}
_ENGINES_LANG = {"LANG": "C.UTF-8"}  # what both engines give a step


@dataclass(frozen=True, slots=True)
class Drift:
    """One component that is not what it was; None where a side does not speak of it."""

    component: str
    layer: Layer
    then: str | None
    now: str | None

    def to_json(self) -> dict[str, str | None]:
        """Return the JSON answer's form."""
        return {
            "component": self.component,
            "layer": self.layer,
            "then": self.then,
            "now": self.now,
        }


def env_hash(components: Mapping[str, str]) -> str:
    """Return the hash of all components, ``sha256:`` and 64 hex digits."""
    return f"sha256:{jsonio.digest(dict(components))}"


def drifted(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[Drift, ...]:
    """Return the components that differ, those nearest to the researcher first.

    What was unknown and still is does not differ; whoever answers for it says that it is unknown.
    """
    order = {name: number for number, name in enumerate(LAYERS)}
    names = sorted({*then, *now}, key=lambda name: (order.get(name, len(order)), name))
    return tuple(
        Drift(name, LAYERS.get(name, "system"), then.get(name), now.get(name))
        for name in names
        if then.get(name) != now.get(name)
    )


def locale_of(image: str | None = None) -> str:
    """Return the locale that steps find; ``image`` is what an image says of its own."""
    own = dict(part.split("=", 1) for part in (image or "").split() if "=" in part)
    return _locale({**_ENGINES_LANG, "LC_ALL": own.get("LC_ALL", "")})


def of_step(around: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the components of one step's run: those around it, and what its variables change."""
    found = dict(around)
    before = dict(part.split("=", 1) for part in found.get("locale", "").split() if "=" in part)
    own = {name: text for name, text in variables.items() if name == "LANG" or name[:3] == "LC_"}
    found["locale"] = _locale({**_ENGINES_LANG, **before, **own})
    if "LD_PRELOAD" in variables:
        found["ld_preload"] = variables["LD_PRELOAD"] or NONE
    return found


def _locale(variables: Mapping[str, str]) -> str:
    if variables.get("LC_ALL"):
        return f"LC_ALL={variables['LC_ALL']}"
    return " ".join(f"{name}={text}" for name, text in sorted(variables.items()) if text)
