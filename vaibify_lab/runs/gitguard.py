"""What of git's own folder could make the host run something: compared around every step."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.errors import ToolFailed
from vaibify_lab.files.git import Repository
from vaibify_lab.runs.writes import Stamp, stamp

# All other keys count as executing: git has dozens, and each version brings new ones.
_HARMLESS = re.compile(
    r"(?:branch|color|column|advice)\..*|user\.(?:name|email)\n.*"
    r"|remote\.[^\n]*\.(?:fetch|url|pushurl)\n(?![\w.+-]*::).*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class GitGuard:
    """Hooks, the keys of the configuration that are not known to be harmless, where .git is."""

    repository: Repository
    top: tuple[int, ...] | None
    hooks: tuple[tuple[str, Stamp | None], ...]
    config: tuple[Stamp | None, ...]
    lines: tuple[str, ...]

    @classmethod
    def take(cls, repository: Repository) -> GitGuard:
        """Look at it now."""
        files = _config_files(repository)
        return cls(
            repository,
            _top(repository),
            _hooks(repository),
            tuple(map(stamp, files)),
            tuple(line for file in files for line in _lines(repository, file)),
        )

    def changed(self) -> bool:
        """Tell whether any of it is different now."""
        if (_top(self.repository), _hooks(self.repository)) != (self.top, self.hooks):
            return True
        files = _config_files(self.repository)
        if tuple(map(stamp, files)) == self.config:
            return False
        try:
            now = tuple(line for file in files for line in _lines(self.repository, file))
        except ToolFailed:
            return True  # a configuration that git cannot read was written
        return now != self.lines


def _top(repository: Repository) -> tuple[int, ...] | None:
    """Return what tells the repository's own ``.git``, a folder or a file, from another."""
    place = repository.root / ".git"
    seen = stamp(place)
    if seen is None or not stat.S_ISDIR(seen[4]):
        return seen
    return seen[3], stat.S_IFMT(seen[4])


def _hooks(repository: Repository) -> tuple[tuple[str, Stamp | None], ...]:
    folder = repository.common_dir / "hooks"
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return tuple((name, stamp(folder / name)) for name in names)


def _config_files(repository: Repository) -> list[Path]:
    files = [repository.common_dir / "config", repository.git_dir / "config.worktree"]
    return [file for file in files if file.is_file()]


def _lines(repository: Repository, file: Path) -> list[str]:
    listed = repository.run("config", "--file", str(file), "--no-includes", "--list", "-z")
    lines = listed.decode("utf-8", "surrogateescape").split("\0")
    return sorted(line for line in lines if not _HARMLESS.fullmatch(line))
