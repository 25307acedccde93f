"""Projects to build, and repositories for their container.conf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kit import Made, git, new_repository
from vaibify_lab.runs.image_inputs import BuildAsked
from vaibify_lab.runs.imaging import BuildReport, build_project
from vaibify_lab.runs.opened import Opened

INICONFIG = (
    "iniconfig==2.1.0 "
    "--hash=sha256:9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760\n"
)
STEP = {
    "sName": "Make",
    "saDataCommands": ["echo 1 > out/a.txt"],
    "saDataFiles": ["out/a.txt"],
    "bNoTests": True,
}


def project(root: Path, base: str, lock: str | None = None, **settings: Any) -> Made:
    """Make a project; without a lock it declares that it needs none."""
    lines = [f"{key}: {value}\n" for key, value in {"baseImage": base, **settings}.items()]
    files = {"vaibify.yml": "".join(["projectName: Trial.One\n", *lines])}
    if lock is not None:
        files["requirements.lock"] = lock
    return Made.new(root, [STEP], files, bNoPythonPackages=lock is None)


def build(made: Made, client: Any, said: list[str] | None = None, **asked: Any) -> BuildReport:
    """Build it."""
    lines = [] if said is None else said
    return build_project(
        Opened(made.root, cached=False),
        client,
        BuildAsked(**asked),
        lambda line: lines.append(line.text),
    )


def library(root: Path, name: str = "mylib", answer: str = "1") -> Path:
    """Make a repository that holds a small Python package; its build needs no index."""
    new_repository(root)
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "1.0"\n'
    )
    (root / "backend.py").write_text(BACKEND.format(name=name))
    (root / ".gitattributes").write_text("* text=auto\nhidden.txt export-ignore\n")
    (root / "hidden.txt").write_text("not hidden\n")
    (root / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (root / "tool.sh").chmod(0o755)
    change(root, name, answer)
    return root


def change(root: Path, name: str, answer: str) -> str:
    """Commit another answer and return the commit."""
    (root / f"{name}.py").write_text(f"ANSWER = {answer}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", f"answer {answer}")
    return git(root, "rev-parse", "HEAD").strip()


BACKEND = """\
import pathlib, zipfile

NAME = "{name}"
META = "Metadata-Version: 2.1\\nName: " + NAME + "\\nVersion: 1.0\\n"
WHEEL = "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"


def _wheel(folder, name, data):
    path = pathlib.Path(folder, NAME + "-1.0-py3-none-any.whl")
    info = NAME + "-1.0.dist-info/"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(name, data)
        wheel.writestr(info + "METADATA", META)
        wheel.writestr(info + "WHEEL", WHEEL)
        wheel.writestr(info + "RECORD", "")
    return path.name


def build_wheel(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, NAME + ".py", pathlib.Path(NAME + ".py").read_text())


def build_editable(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, NAME + ".pth", str(pathlib.Path.cwd()) + "\\n")
"""
