"""vaibify.yml: read within bounds, whatever somebody else put there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.project_file import ProjectFile, read_project_file


def read(root: Path, text: str | bytes) -> ProjectFile:
    """Read a vaibify.yml."""
    data = text if isinstance(text, bytes) else text.encode()
    (root / "vaibify.yml").write_bytes(data)
    return read_project_file(Tree(root))


@pytest.mark.parametrize(("folder", "name"), [("my project", "my-project"), ("ok.1", "ok.1")])
def test_without_a_file_the_folder_names_the_project(
    tmp_path: Path, folder: str, name: str
) -> None:
    (tmp_path / folder).mkdir()
    assert read_project_file(Tree(tmp_path / folder)) == ProjectFile(name)


def test_what_it_says(tmp_path: Path) -> None:
    text = "projectName: fits\nnetworkIsolation: true\npythonVersion: '3.11'\npythonPackages: [a]\n"
    found = read(tmp_path, text + "networkIsolatoin: false\n")
    assert (found.name, found.network_isolation, found.python_version, found.python_packages) == (
        "fits",
        True,
        "3.11",
        ("a",),
    )
    assert found.warnings == (
        "vaibify.yml: unknown key 'networkIsolatoin'; did you mean 'networkIsolation'?",
    )
    assert read(tmp_path, "").name == read(tmp_path, "# nothing\n").name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x [1]\nb: *x\n", "holds a YAML alias"),
        ("projectName: ok\nprojectName: other\n", "names the key 'projectName' twice"),
        ("- a\n", "expected keys and values"),
        ("1: a\n", "expected keys and values"),
        ("a: [", "is not YAML"),
        ("a: !!python/object/apply:os.system [true]\n", "is not YAML"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        ("projectName: ../x\n", "projectName"),
        ("networkIsolation: maybe\n", "networkIsolation"),
        ("a: b\x00\n", "is not YAML"),
        ("- " * 60_000, "is not YAML"),
        ("[" * 100_000, "is not YAML"),
        ("{a: " * 30_000, "is not YAML"),
        ("a: 1\n" * 60_000, "is larger than"),
    ],
    ids=range(14),
)
def test_what_is_refused_and_soon(tmp_path: Path, text: str | bytes, said: str) -> None:
    began = time.monotonic()
    with pytest.raises(InvalidFile, match=r"vaibify\.yml") as refused:
        read(tmp_path, text)
    assert said in str(refused.value)
    assert time.monotonic() - began < 30
