"""Helpers: a cache folder of each test's own, real git, another user, file systems of our own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    return folder


@pytest.fixture
def git() -> Callable[..., str]:
    """``git(folder, *args)``: the real thing, as a user would call it."""

    def call(folder: Path, *args: str, **environment: str) -> str:
        done = subprocess.run(
            ["git", *args],
            cwd=folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=True,
        )
        return done.stdout.removesuffix("\n")

    return call


@pytest.fixture
def new_repo(tmp_path: Path, git: Callable[..., str]) -> Callable[..., Path]:
    """``new_repo(name, *init_args)``: an empty repository with a name and an address set."""

    def make(name: str = "project", *args: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main", *args)
        git(folder, "config", "user.name", "Ana")
        git(folder, "config", "user.email", "ana@example.org")
        return folder

    return make


@pytest.fixture
def commit(git: Callable[..., str]) -> Callable[..., None]:
    """``commit(folder, {name: bytes})``: write files and commit all."""

    def make(folder: Path, files: dict[str, bytes] | None = None) -> None:
        for name, data in (files or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x")

    return make


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """From now on every start of git is written down; calling it returns and forgets them."""
    real = shutil.which("git")
    log = tmp_path / "starts"
    log.touch()
    folder = tmp_path / "bin"
    folder.mkdir()
    wrapper = folder / "git"
    wrapper.write_text(
        f'#!/bin/sh\necho "$*" >> {log}\nenv > {tmp_path}/environment\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def take() -> list[str]:
        lines = log.read_text().splitlines()
        log.write_text("")
        return lines

    return take


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that another user can reach (pytest's own are closed)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody() -> Callable[[], AbstractContextManager[None]]:
    """``with as_nobody():`` the calls inside are made without root's rights."""

    @contextmanager
    def switch() -> Iterator[None]:
        groups = os.getgroups()
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups(groups)

    return switch


@pytest.fixture
def on_mount(tmp_path: Path) -> Callable[..., str]:
    """``on_mount(script, *mount_args)``: run Python in a mount namespace, ``here`` mounted."""

    def run(script: str, *mount: str) -> str:
        here = tmp_path / "mounted"
        here.mkdir()
        program = tmp_path / "script.py"
        program.write_text(f"from pathlib import Path\nhere = Path({str(here)!r})\n{script}")
        command = 'mount "$@" || exit 9; exec "$PYTHON" "$PROGRAM"'
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", command, "sh", *mount, "none", str(here)],
            env=os.environ | {"PYTHON": sys.executable, "PROGRAM": str(program)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run
