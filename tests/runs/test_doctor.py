"""``doctor`` in processes of its own, each on a machine that lacks one thing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.containers import client, engine_room  # noqa: F401  fixtures
from vaibify_lab import __version__

BIN = Path(sys.prefix, "bin")
PROGRAM = """
import json, sys
from pathlib import Path
for name in {blocked}:
    sys.modules[name] = None
from vaibify_lab.runs.doctor import doctor
found = doctor(Path({root!r}), path={path!r})
print(json.dumps([[one.to_json(), str(one)] for one in found]))
"""
Look = Callable[..., Mapping[str, tuple[str, str]]]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    for key, value in (("user.name", "Ana"), ("user.email", "ana@example.org")):
        subprocess.run(["git", "-C", folder, "config", key, value], check=True)
    return folder


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that is all of PATH: links to the programs that doctor asks for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "bash", "bwrap", "ssh-keygen", "sha256sum", "true"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    for name in ("jupyter", "jupyter-vaibify", "uv"):
        (folder / name).symlink_to(BIN / name)
    return folder


@pytest.fixture
def look(tmp_path: Path, repository: Path, machine: Path) -> Look:
    """``look(blocked=(), root=None, path=None, **environment)``: code -> (level, line)."""

    def ask(
        blocked: tuple[str, ...] = (),
        root: Path | None = None,
        path: str | None = None,
        **environment: str,
    ) -> Mapping[str, tuple[str, str]]:
        program = PROGRAM.format(blocked=blocked, root=str(root or repository), path=path)
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        known = {"PATH": str(machine), "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=known | environment,
            cwd=root or repository,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert all("\n" not in line for _, line in found)
        return {one["code"]: (one["level"], line) for one, line in found}

    return ask


def without(machine: Path, *names: str) -> None:
    for name in names:
        (machine / name).unlink()


def test_a_good_machine(
    look: Look,
    tmp_path: Path,
    repository: Path,
    machine: Path,
    client: Any,  # noqa: F811
) -> None:
    found = look()
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    assert list(found) == [
        *("version", "python", "git", "repository", "identity", "signing", "bash", "uv", "tier"),
        *("container", "ssh-keygen", "sha256sum", "disk", "cache", "outputs", "jupyter"),
    ]
    assert {code: level for code, (level, _) in found.items() if level != "ok"} == {
        "signing": "warning"
    }
    assert found["version"][1] == f"vaibify_lab {__version__}"
    assert found["git"][1] == f"git {git.split()[2]}"
    assert found["repository"][1] == f"git repository {repository}"
    assert found["identity"][1] == "sign-offs are by Ana <ana@example.org>"
    assert found["tier"][1] == "steps are held by bubblewrap"
    assert found["ssh-keygen"][1] == f"ssh-keygen ({machine}/ssh-keygen)"
    assert found["cache"][1] == f"cache folder {tmp_path}/home/.cache/vaibify_lab"
    assert list((tmp_path / "home/.cache/vaibify_lab").iterdir()) == []
    assert found["container"][1] == f"container engine {client.version()['Version']}"


def test_no_container_engine(look: Look) -> None:
    assert look(DOCKER_HOST="tcp://127.0.0.1:9")["container"] == (
        "warning",
        "no container engine answers at tcp://127.0.0.1:9 (named by "
        "DOCKER_HOST): Connection refused; steps run outside a container; unset DOCKER_HOST, or "
        "start the engine that it names, or let steps run without a container",
    )


def test_no_git(look: Look, machine: Path) -> None:
    without(machine, "git")
    found = look()
    assert found["git"] == ("error", "git is not installed; install git")
    assert not {"repository", "identity", "signing"} & found.keys()


def test_an_old_git(look: Look, machine: Path) -> None:
    without(machine, "git")
    (machine / "git").write_text("#!/usr/bin/bash\necho git version 2.17.1\n")
    (machine / "git").chmod(0o755)
    assert look()["git"] == (
        "error",
        "git 2.17.1 is too old; 2.30 or later is needed; install a newer git",
    )


def test_a_git_that_does_not_run(look: Look, machine: Path) -> None:
    without(machine, "git")
    (machine / "git").write_text("#!/usr/bin/bash\nexit 127\n")
    (machine / "git").chmod(0o755)
    assert look()["git"] == ("error", "git does not say its version: ''; install git anew")


def test_no_repository_here(look: Look, tmp_path: Path) -> None:
    found = look(root=tmp_path)
    assert found["repository"] == (
        "warning",
        f"{tmp_path} is not inside a git repository; git init",
    )
    assert "identity" not in found


def test_a_repository_of_somebody_else(look: Look, repository: Path) -> None:
    for path in [repository, *repository.rglob("*")]:
        os.chown(path, 65534, 65534)
    level, line = look()["repository"]
    assert level == "error"
    assert line == (
        f"{repository}: git does not trust this repository, because another user owns it; "
        f"if you do: git config --global --add safe.directory {repository}"
    )


def test_no_identity(look: Look, repository: Path) -> None:
    subprocess.run(["git", "-C", repository, "config", "--unset", "user.email"], check=True)
    assert look()["identity"] == (
        "warning",
        "git knows no name and address of yours, which a sign-off needs; "
        'git config user.name "Your Name" && git config user.email you@example.org',
    )


def sign_with(repository: Path, key: Path, passphrase: str = "") -> None:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", key]
    subprocess.run(command, check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(key))):
        subprocess.run(["git", "-C", repository, "config", name, value], check=True)


def test_no_signing_key(look: Look) -> None:
    assert look()["signing"] == (
        "warning",
        "git has no SSH signing key, so sign-offs will not be signed; "
        "git config gpg.format ssh && git config user.signingkey ~/.ssh/id_ed25519.pub",
    )


def test_a_signing_key_that_works_is_tried(look: Look, repository: Path, tmp_path: Path) -> None:
    sign_with(repository, tmp_path / "id")
    line = (tmp_path / "id.pub").read_text()
    assert look()["signing"] == ("ok", f"sign-offs are signed with {line[:60]}")


def test_a_signing_key_that_asks(look: Look, repository: Path, tmp_path: Path) -> None:
    sign_with(repository, tmp_path / "id", "secret")
    assert look()["signing"] == (
        "warning",
        f"sign-offs will not be signed: {tmp_path}/id: the signing key has a passphrase, and no "
        f"ssh-agent holds it; ssh-add {tmp_path}/id",
    )


def test_no_bash(look: Look, machine: Path) -> None:
    without(machine, "bash")
    assert look(path=str(machine))["bash"] == (
        "error",
        f"bash is not installed where steps look for it ({machine}); install bash; steps run in it",
    )


def test_no_uv(look: Look, machine: Path) -> None:
    without(machine, "uv")
    assert look()["uv"][0] == "ok"  # the package brings its own
    assert look(blocked=("uv",))["uv"] == (
        "error",
        "uv is not installed, and only uv makes a step's Python from requirements.lock; "
        "python -m pip install uv",
    )


def test_no_bubblewrap(look: Look, machine: Path) -> None:
    without(machine, "bwrap")
    level, line = look()["tier"]
    assert level == "warning"
    assert line.endswith("; install bubblewrap")
    assert line.startswith(
        (
            "steps are held by Landlock only (bubblewrap (bwrap) is not installed): ",
            "steps are not held at all (bubblewrap (bwrap) is not installed): ",
        )
    )


def test_a_bubblewrap_that_does_not_work(look: Look, machine: Path) -> None:
    without(machine, "bwrap")
    (machine / "bwrap").write_text("#!/usr/bin/bash\necho 'No permissions to create' >&2; exit 1\n")
    (machine / "bwrap").chmod(0o755)
    level, line = look()["tier"]
    assert level == "warning"
    assert "(bubblewrap does not work here: No permissions to create)" in line


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "ssh-keygen",
            "ssh-keygen is not installed: signatures are neither made nor checked; "
            "install OpenSSH's client",
        ),
        (
            "sha256sum",
            "sha256sum is not installed: the manifest cannot be verified by hand; "
            "install GNU coreutils",
        ),
    ],
)
def test_no_program_for_verifying_by_hand(look: Look, machine: Path, name: str, line: str) -> None:
    without(machine, name)
    assert look()[name] == ("warning", line)


def test_a_cache_folder_that_cannot_be_written(look: Look) -> None:
    assert look(XDG_CACHE_HOME="/dev/null/cache")["cache"] == (
        "error",
        "the cache folder /dev/null/cache/vaibify_lab cannot be written (Not a directory): no "
        "Python can be made for requirements.lock, and every file is hashed at every look; "
        "make it writable, or set XDG_CACHE_HOME",
    )


def test_no_jupyter(look: Look, machine: Path) -> None:
    without(machine, "jupyter")
    assert look()["jupyter"] == (
        "warning",
        f"the jupyter command is not on PATH; put {BIN} first on PATH (activate its environment)",
    )


def test_a_jupyter_that_does_not_find_us(look: Look, machine: Path) -> None:
    without(machine, "jupyter", "jupyter-vaibify")
    (machine / "jupyter").write_text("#!/usr/bin/bash\n")
    (machine / "jupyter").chmod(0o755)
    assert look()["jupyter"] == (
        "warning",
        f"{machine}/jupyter does not find jupyter-vaibify; "
        f"put {BIN} first on PATH (activate its environment)",
    )


def test_a_jupyter_that_finds_another_installation(look: Look, machine: Path) -> None:
    without(machine, "jupyter", "jupyter-vaibify")
    for name in ("jupyter", "jupyter-vaibify"):
        (machine / name).write_text("#!/usr/bin/bash\n")
        (machine / name).chmod(0o755)
    assert look()["jupyter"] == (
        "warning",
        f"jupyter vaibify runs another installation ({machine}/jupyter-vaibify); "
        f"put {BIN} first on PATH (activate its environment)",
    )


@pytest.mark.parametrize(("size", "level"), [("100m", "error"), ("1g", "warning"), ("3g", "ok")])
def test_little_disk(tmp_path: Path, size: str, level: str) -> None:
    here = tmp_path / "mounted"
    here.mkdir()
    program = PROGRAM.format(blocked=(), root=str(here), path=None)
    command = f'mount -t tmpfs -o size={size} none "$0" && exec "$1" -c "$2"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", command, here, sys.executable, program],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {one["code"]: (one["level"], line) for one, line in json.loads(done.stdout)}
    free = {"100m": "0.1", "1g": "1.1", "3g": "3.2"}[size]
    remedy = "" if level == "ok" else "; free some space"
    assert found["disk"] == (level, f"{free} GB free at {here}{remedy}")
