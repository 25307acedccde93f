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

_LONGEST = 2**24  # bytes of a configuration; git's own are a few hundred
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
    config: tuple[bytes | None, ...]

    @classmethod
    def take(cls, repository: Repository) -> GitGuard:
        """Look at it now; no process is started for that."""
        return cls(repository, _top(repository), _hooks(repository), _config(repository))

    def changed(self) -> bool:
        """Tell whether any of it is different now."""
        if (_top(self.repository), _hooks(self.repository)) != (self.top, self.hooks):
            return True
        now = _config(self.repository)
        if now == self.config:
            return False
        try:
            return self._executing(now) != self._executing(self.config)
        except ToolFailed:
            return True  # a configuration that git cannot read was written

    def _executing(self, config: tuple[bytes | None, ...]) -> list[list[str]]:
        """Return the lines of each file that may make git run something."""
        found = []
        for data in config:
            asked = ("config", "--file", "-", "--no-includes", "--list", "-z")
            listed = self.repository.run(*asked, input=data or b"")
            lines = listed.decode("utf-8", "surrogateescape").split("\0")
            found.append(sorted(line for line in lines if not _HARMLESS.fullmatch(line)))
        return found


def _top(repository: Repository) -> tuple[int, ...] | None:
    """Return what tells the repository's own ``.git``, a folder or a file, from another."""
    seen = stamp(repository.root / ".git")
    if seen is None or not stat.S_ISDIR(seen[4]):
        return seen
    return seen[3], stat.S_IFMT(seen[4])


def _hooks(repository: Repository) -> tuple[tuple[str, Stamp | None], ...]:
    folder = repository.common_dir / "hooks"
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return tuple((name, stamp(folder / name)) for name in names)


def _config(repository: Repository) -> tuple[bytes | None, ...]:
    places = (repository.common_dir / "config", repository.git_dir / "config.worktree")
    return tuple(map(_content, places))


def _content(path: Path) -> bytes | None:
    """Return a file's bytes; None where there is none, or something that is no file."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read(_LONGEST)
    except OSError:
        return None
    finally:
        os.close(opened)
