"""What a build installs beside the lock: system packages, and repositories in each of the ways."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.engines.image.projects import build, change, library, project
from tests.kit import git
from vaibify_lab.core.errors import BuildFailed
from vaibify_lab.envelope.environment import NAME, parse_environment

MAKEFILE = "libanswer.so: answer.c\n\tcc -shared -fPIC -o $@ $<\n"
C = "int answer(void) { return 42; }\n"
PYTHON = (
    "import ctypes, pathlib\n"
    "ANSWER = ctypes.CDLL(pathlib.Path(__file__).with_name('libanswer.so')).answer()\n"
)
SETUPTOOLS = """\
[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"
[project]
name = "mylib"
version = "1.0"
[tool.setuptools]
py-modules = ["mylib"]
"""
ASK = "import mylib; print(mylib.ANSWER)"
FETCHES = "Installing build dependencies"


def as_its_user(image: str, *words: str) -> str:
    """Run a command in an image as a person or a step would: not as root."""
    command = ["docker", "run", "--rm", "--network", "none", image, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_system_packages_and_a_repository_that_make_builds(
    tmp_path: Path, client: Any, base: str
) -> None:
    source = library(tmp_path / "lib")
    for name, content in (("Makefile", MAKEFILE), ("answer.c", C), ("mylib.py", PYTHON)):
        (source / name).write_text(content)
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "in C")
    made = project(tmp_path / "p", base, systemPackages="[gcc, make, libc6-dev]")
    made.write("container.conf", f"mylib|{source}|main|c_and_pip|src/mylib\n")

    report = build(made, client)

    image = report.config_digest
    assert as_its_user(image, "python", "-c", ASK) == "42\n"
    assert as_its_user(image, "tool.sh") == "tool\n"
    assert as_its_user(image, "whoami") == "vaibify\n"
    assert as_its_user(image, "sh", "-c", "ls /var/lib/apt/lists") == ""
    tools = parse_environment((made.root / NAME).read_bytes()).system_tools
    assert tools.gcc is not None
    assert tools.gcc.startswith("gcc (Debian")
    assert [one for one in report.warnings if "without a hash" in one] == []


def test_a_system_package_that_nobody_has_fails_the_build_by_name(
    tmp_path: Path, client: Any, base: str
) -> None:
    made = project(tmp_path / "p", base, systemPackages="[no-such-package-here]")

    with pytest.raises(BuildFailed, match="Unable to locate package no-such-package-here"):
        build(made, client)


def test_build_tools_come_from_the_lock_where_it_has_them(
    tmp_path: Path, client: Any, base: str
) -> None:
    source = library(tmp_path / "lib")
    (source / "pyproject.toml").write_text(SETUPTOOLS)
    change(source, "mylib", "7")
    made = project(tmp_path / "p", base, "")
    (made.root / "requirements.lock").unlink()
    conf = f"mylib|{source}|main|pip_no_deps\n"
    made.write("container.conf", conf)
    made.write("requirements.in", "iniconfig==2.1.0\n")
    said: dict[str, list[str]] = {"fetched": [], "locked": []}

    fetched = build(made, client, said["fetched"])
    made.write("requirements.in", "iniconfig==2.1.0\nsetuptools==80.9.0\n")
    locked = build(made, client, said["locked"])

    unhashed = "container.conf, line 1: to build mylib, pip fetches setuptools>=70.1 without a hash"
    assert [one.partition(";")[0] for one in fetched.warnings if "a hash" in one] == [unhashed]
    assert [one for one in said["fetched"] if FETCHES in one]
    assert [one for one in locked.warnings if "a hash" in one] == []
    assert [one for one in said["locked"] if FETCHES in one] == []
    for report in (fetched, locked):
        assert as_its_user(report.config_digest, "python", "-c", ASK) == "7\n"
