"""What could make the host's git run something: compared around every step."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.errors import ToolFailed
from vaibify_lab.files import gitplaces
from vaibify_lab.files.git import Repository
from vaibify_lab.files.gitconfig import OWN_FILES, GitConfig, OwnFiles, Setting
from vaibify_lab.files.gitplaces import Marks
from vaibify_lab.files.stamps import Stamp, identity, stamp_at

# All other keys count as executing: git has dozens, and each version brings new ones.
_HARMLESS = re.compile(
    r"(?:branch|color|column|advice)\..*|user\.(?:name|email)\n.*"
    r"|remote\.[^\n]*\.(?:fetch|url|pushurl)\n(?![\w.+-]*::).*",
    re.IGNORECASE | re.DOTALL,
)
_INCLUDE = re.compile(r"include(?:if\..*)?\.path", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[^\s'\"`;|&()<>$=]+")


@dataclass(frozen=True, slots=True)
class GitGuard:
    """Hooks, the keys of the configuration that are not known to be harmless, where .git is.

    ``named`` are files of the work tree that the configuration makes git read or run: hooks by
    ``core.hooksPath``, included configuration, programs.
    """

    git: GitConfig
    own: Marks
    config: OwnFiles
    named: tuple[str, ...]
    marks: Marks

    @classmethod
    def take(cls, git: GitConfig) -> GitGuard:
        """Look at it now; no process is started while the configuration stays as it was."""
        named, root = tuple(dict.fromkeys(_named(git))), git.repository.root
        return cls(git, _own(git.repository), git.own_files(), named, _marks(root, named))

    def changed(self) -> list[str]:
        """Return what is different now: paths as a person knows them, with the key of a setting."""
        repository = self.git.repository
        own = gitplaces.changed(self.own, _own(repository))
        named = gitplaces.changed(self.marks, _marks(repository.root, self.named))
        return [*own, *self._changed_settings(), *named]

    def _changed_settings(self) -> Iterator[str]:
        for name, before, now in zip(OWN_FILES, self.config, self.git.own_files(), strict=True):
            if now == before:
                continue
            try:
                lines = self._executing(now) ^ self._executing(before)
            except ToolFailed:
                yield f".git/{name}"  # what git cannot read was written
                continue
            if lines:
                key = min(lines).partition("\n")[0]
                yield f".git/{name} ({key})"

    def _executing(self, data: bytes | None) -> set[str]:
        """Return the lines of a configuration that may make git run something."""
        asked = ("config", "--file", "-", "--no-includes", "--list", "-z")
        listed = self.git.repository.run(*asked, input=data or b"")
        lines = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return {line for line in lines if not _HARMLESS.fullmatch(line)}


def _own(repository: Repository) -> Marks:
    """Return the marks of git's own folder, but of its configuration, which is read."""
    found: Marks = {".git": identity(stamp_at(repository.root / ".git"))}
    common, here = str(repository.common_dir), str(repository.git_dir)
    for path, mark in gitplaces.marks(common, None).items():
        place = os.path.join(common, path)
        if path not in OWN_FILES and os.path.join(here, OWN_FILES[1]) != place:
            found[f".git/{path}".rstrip("/")] = mark
    return found


def _marks(root: Path, paths: tuple[str, ...]) -> Marks:
    found: Marks = {}
    for path in paths:
        found[path] = identity(stamp_at(root / path))
        found.update(_inside(root, path))
    return found


def _inside(root: Path, path: str) -> Iterator[tuple[str, Stamp | None]]:
    try:
        names = sorted(os.listdir(root / path))
    except OSError:  # no folder
        return
    for name in names:
        yield f"{path}/{name}", stamp_at(root / path / name)


def _named(git: GitConfig) -> Iterator[str]:
    """Yield the repository paths, outside .git, of what git's configuration names."""
    root, hooks = git.repository.root, git.repository.common_dir / "hooks"
    places = [str(hooks.resolve())] if hooks.is_symlink() else []
    for setting in git.settings():
        places += _places(root, setting)
    for place in places:
        path = os.path.relpath(place, root)
        if path.split("/", 1)[0] not in ("..", ".git", "."):
            yield path


def _places(root: Path, setting: Setting) -> Iterator[str]:
    """Yield the absolute paths that one setting names, and that of a file it stands in."""
    if setting.origin.startswith("file:"):
        file = root / setting.origin.removeprefix("file:")
        yield os.path.normpath(file)
        if _INCLUDE.fullmatch(setting.key):
            yield os.path.normpath(file.parent / os.path.expanduser(setting.value))
            return
    if setting.key == "core.hookspath":
        yield os.path.normpath(root / os.path.expanduser(setting.value))
    elif not _HARMLESS.fullmatch(f"{setting.key}\n{setting.value}"):
        words = _WORD.findall(setting.value) if len(setting.value) < 10_000 else ()
        yield from (place for one in words if os.path.isfile(place := os.path.normpath(root / one)))
