"""What the cache of outputs holds on this machine, for people."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from vaibify_lab.files.packstore import PackStore, outputs_folder
from vaibify_lab.runs.cache import limit_here


@dataclass(frozen=True, slots=True)
class Kept:
    """So many results of runs, and their bytes."""

    entries: int
    bytes: int

    @property
    def text(self) -> str:
        """In words."""
        noun = "result" if self.entries == 1 else "results"
        return f"{self.entries} {noun} of runs, {self.bytes / 10**9:.2f} GB"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {"entries": self.entries, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class CacheState:
    """The cache: where, what it holds, and how many bytes it may hold (0: it is turned off)."""

    folder: str
    kept: Kept
    limit: int

    @property
    def text(self) -> str:
        """In words."""
        most = f"at most {self.limit / 10**9:g} GB" if self.limit else "turned off"
        return f"cache of outputs: {self.kept.text} ({most}) in {self.folder}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {"folder": self.folder, **self.kept.to_json(), "limit": self.limit}


def cache_state() -> CacheState:
    """Return what the cache holds.

    Raises
    ------
    UsageError, CannotCheck
        The limit is no number; or the folder is not to be used, and why.
    """
    folder, limit = outputs_folder(), limit_here()
    entries = PackStore(folder, limit).entries() if os.path.lexists(folder) else []
    kept = Kept(len(entries), sum(entry.size for entry in entries))
    return CacheState(str(folder), kept, limit)


def clear_cache() -> Kept:
    """Remove all that is kept; return what it was."""
    folder = outputs_folder()
    return Kept(*PackStore(folder, 0).clear()) if os.path.lexists(folder) else Kept(0, 0)
