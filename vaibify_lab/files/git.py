"""Git, asked so that nothing of the repository's own is run and nobody's lock is taken.

Every call: no fsmonitor, no hooks, submodules ignored, replacement objects ignored (a clone has
none), no transport (so that no missing object is fetched), no prompt, no optional lock, messages in
English, none of the variables by which an outer git would point elsewhere, and no bare repository
that a folder of the work tree happens to be (git from 2.38 on).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Self

from vaibify_lab.core.errors import (
    NotARepository,
    RepositoryNotTrusted,
    ToolFailed,
    ToolMissing,
    VaibifyError,
)
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.files.gitstate import RawState, SnapshotStore, state_key

_FLAGS = (
    "--no-replace-objects",
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "diff.ignoreSubmodules=all"),
    *("-c", "safe.bareRepository=explicit"),
)
_SETTINGS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
_TRUST_LINE = re.compile(r"^\s*(git config --global --add safe\.directory .+)$", re.MULTILINE)
_ATTEMPTS = 3


class Repository:
    """A git work tree.

    Attributes
    ----------
    root : Path
        Top of the work tree.
    git_dir, common_dir : Path
        Where git keeps this work tree's state, and what all work trees of it share.
    """

    def __init__(self, root: Path, git_dir: Path, common_dir: Path) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir
        self._store = SnapshotStore(root)
        self._kept: tuple[str, GitSnapshot] | None = None

    @classmethod
    def find(cls, start: Path) -> Self:
        """Return the repository whose work tree encloses ``start``, as git itself finds it.

        Raises
        ------
        NotARepository
            Also for a bare repository and inside ``.git``.
        RepositoryNotTrusted
            With the one line that makes git trust it; no parent directory is tried instead.
        ToolMissing
        """
        place = Path(start).resolve()
        if not place.is_dir():
            raise NotARepository("is not a folder", where=str(start))
        root = Path(_asked_path(place, "--show-toplevel"))
        if not place.is_relative_to(root):
            raise NotARepository(f"has its work tree elsewhere ({root})", where=str(start))
        # At the root, where every later call is: ``core.worktree`` may name any folder.
        git_dir = Path(_asked_path(root, "--absolute-git-dir"))
        common_dir = root / _asked_path(root, "--git-common-dir")
        return cls(root, git_dir, common_dir.resolve())

    @classmethod
    def make(cls, root: Path) -> Self:
        """Make an existing folder a repository (``git init``) and return it."""
        args = ("init", "--quiet", "--initial-branch=main", "--template=")
        done = _git(root, args)
        if done.returncode:
            raise _failure(root, args, done)
        return cls.find(root)

    def run(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002  the name subprocess has
        check: bool = True,
        timeout: float = 60,
        accept: Collection[int] = (0,),
        transport: bool = False,
    ) -> bytes:
        """Run git at the root and return its standard output.

        Parameters
        ----------
        *args : str
            What follows ``git``.
        input : bytes, optional
            Its standard input, else nothing.
        check : bool
            Raise `ToolFailed`, with git's own first line, unless the exit status is in ``accept``.
        timeout : float
            Seconds, after which git is killed.
        accept : collection of int
            Exit statuses that are no failure.
        transport : bool
            Allow what reaches another repository (clone, fetch, ls-remote).
        """
        done = _git(self.root, args, input=input, timeout=timeout, transport=transport)
        if check and done.returncode not in accept:
            raise _failure(self.root, args, done)
        return done.stdout

    def files(self, *patterns: str) -> list[str]:
        """Return the files that git tracks or would add, sorted; only those that patterns match."""
        listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
        said = self.run(*listed, *patterns, timeout=120)
        return sorted(set(os.fsdecode(said).split("\0")[:-1]))

    def config(self, key: str) -> str | None:
        """Return a value of git's configuration; None when it is not set."""
        value = self.run("config", "-z", "--get", key, accept=(0, 1))
        return os.fsdecode(value.removesuffix(b"\0")) if value else None

    def identity(self) -> str | None:
        """Return ``Name <email>`` as configured; None unless both are."""
        name, email = self.config("user.name"), self.config("user.email")
        return f"{name} <{email}>" if name and email else None

    def signing_key(self) -> str | None:
        """Return the SSH signing key that is configured, as git's configuration names it."""
        if self.config("gpg.format") != "ssh":
            return None
        return self.config("user.signingkey")

    def snapshot(self) -> GitSnapshot:
        """Return what HEAD and the index hold.

        As long as HEAD, its branch, the index and git's few other files hold the same content, the
        last answer stands and no process is started, also not by the next process of ours.
        """
        for _ in range(_ATTEMPTS):
            key = state_key(self.git_dir, self.common_dir)
            if self._kept is None or self._kept[0] != key:
                raw = self._store.load(key) or self._read_state()
                if state_key(self.git_dir, self.common_dir) != key:
                    continue
                self._store.save(key, raw)
                self._kept = (key, raw.snapshot())
            return self._kept[1]
        text = "the repository kept changing while it was looked at"
        raise ToolFailed(text, where=str(self.root), action="try again")

    def _read_state(self) -> RawState:
        head = self.run("rev-parse", "-q", "--verify", "HEAD", accept=(0, 1)).decode().strip()
        branch = self.run("symbolic-ref", "-q", "--short", "HEAD", accept=(0, 1))
        facts = self.run("rev-parse", "--is-shallow-repository", "--show-object-format")
        shallow, object_format = facts.decode("ascii").split()
        time = tree = b""
        if head:
            time = self.run("rev-list", "--max-count=1", "--timestamp", head).split()[0]
            tree = self.run("ls-tree", "-r", "-z", "--full-tree", head)
        return RawState(
            commit=head or None,
            branch=os.fsdecode(branch).strip() or None,
            shallow=shallow == "true",
            commit_time=int(time) if time else None,
            object_format=object_format,
            tree=tree,
            index=self.run("ls-files", "--stage", "-z"),
        )


@cache
def _local_variables() -> frozenset[str]:
    """Return the variables that tie git to one repository, as git lists them.

    Asked without any variable of git's: one of those may be what it would stumble over.
    """
    plain = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    listed = _start(("rev-parse", "--local-env-vars"), plain, Path("/"), None, 60)
    return frozenset(os.fsdecode(listed.stdout).split())


def _git(
    place: Path,
    args: Collection[str],
    *,
    input: bytes | None = None,  # noqa: A002
    timeout: float = 60,
    transport: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    inherited = {k: v for k, v in os.environ.items() if k not in _local_variables()}
    environment = inherited | _SETTINGS | ({} if transport else _NO_TRANSPORT)
    return _start((*_FLAGS, *args), environment, place, input, timeout)


def _start(
    args: Collection[str],
    environment: dict[str, str],
    place: Path,
    data: bytes | None,
    timeout: float,
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *args],
            cwd=place,
            env=environment,
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        text = f"git took longer than {timeout:g} seconds"
        raise ToolFailed(text, where=str(place)) from None
    except OSError as error:
        if shutil.which("git") is None:
            raise ToolMissing("git is not installed", action="install git") from None
        text = f"git cannot be started here: {error.strerror}"
        raise ToolFailed(text, where=str(place)) from None


def _asked_path(place: Path, question: str) -> str:
    args = ("rev-parse", question)
    done = _git(place, args)
    if done.returncode:
        raise _failure(place, args, done)
    return os.fsdecode(done.stdout.removesuffix(b"\n"))


def _failure(
    place: Path, args: Collection[str], done: subprocess.CompletedProcess[bytes]
) -> VaibifyError:
    """Return the error for what git said, which is in English by ``LC_ALL``."""
    said = done.stderr.decode("utf-8", "backslashreplace")
    lines = [line for line in said.splitlines() if line.startswith(("fatal: ", "error: "))]
    first = (lines or said.splitlines() or [f"exit status {done.returncode}"])[0]
    where = str(place)
    if "dubious ownership" in said:
        found = _TRUST_LINE.search(said)
        line = f"git config --global --add safe.directory {shlex.quote(where)}"
        text = "git does not trust this repository, because another user owns it"
        action = f"if you do: {found[1] if found else line}"
        return RepositoryNotTrusted(text, where=where, action=action)
    if "not a git repository (or any" in said:
        return NotARepository("is not inside a git repository", where=where, action="git init")
    if "not a git repository" in said:
        text = f"is not a usable git repository: {first.removeprefix('fatal: ')}"
        return NotARepository(text, where=where)
    if "must be run in a work tree" in said or "cannot use bare repository" in said:
        text = "is a bare repository or lies inside .git: there is no work tree here"
        action = "go to the folder that holds your files"
        return NotARepository(text, where=where, action=action)
    return ToolFailed(f"git {next(iter(args))} failed: {first}", where=where)
