"""The lab extension is one with the package, is in what is published, and needs no Node there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

from vaibify_lab import __version__

REPOSITORY = Path(__file__).resolve().parent.parent
LISTED = ["vaibify-lab", f"v{__version__}", "enabled", "OK"]


def listed(**environment: str) -> list[str]:
    """Return what Jupyter says of the extension, the latest found first."""
    command = [sys.executable, "-m", "jupyter", "labextension", "list"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    plain = re.sub(r"\x1b\[\d+m", "", done.stderr)
    return next(one.split()[:4] for one in plain.splitlines() if one.split()[:1] == LISTED[:1])


def build(source: Path, kind: str, to: Path, **environment: str) -> Path:
    """Build a distribution with what is installed here."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to)]
    done = subprocess.run(
        command, cwd=source, capture_output=True, text=True, env=os.environ | environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = to.iterdir()
    return built


def test_package_and_lab_extension_have_one_version():
    package = json.loads((REPOSITORY / "labextension" / "package.json").read_text())
    assert package["version"] == __version__


def test_jupyter_lists_the_installed_lab_extension_as_enabled_and_well():
    assert listed() == LISTED


def test_a_source_distribution_becomes_a_wheel_and_is_installed_where_there_is_no_node(tmp_path):
    source = build(REPOSITORY, "sdist", tmp_path / "sdist", HATCH_JUPYTER_BUILDER_SKIP_NPM="1")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (unpacked,) = (tmp_path / "source").iterdir()
    tools = tmp_path / "tools"  # what pip's build environment brings, and no node
    tools.mkdir()
    (tools / "jlpm").symlink_to(Path(sys.executable).with_name("jlpm"))
    wheel = build(unpacked, "wheel", tmp_path / "wheel", PATH=str(tools))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-warn-script-location",
    ]
    subprocess.run(
        [*pip, "--ignore-installed", "--prefix", str(tmp_path / "prefix"), str(wheel)], check=True
    )
    assert listed(JUPYTER_PATH=str(tmp_path / "prefix" / "share" / "jupyter")) == LISTED
