"""``init`` on real git repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from vaibify_lab.core.errors import CannotCheck, NotARepository, UnsafePath, UsageError
from vaibify_lab.core.workflow_file import parse
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.init import Initialised, init_project
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.project_file import read_project_file

ALL = (
    "vaibify.yml",
    "container.conf",
    "workflow.json",
    "requirements.in",
    ".vaibify/.gitignore",
    ".gitattributes",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "my analysis"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    return folder


def begin(root: Path, name: str | None = None) -> Initialised:
    return init_project(Opened(root, cached=False), name=name)


def test_a_new_repository_becomes_a_project(root: Path) -> None:
    assert begin(root) == Initialised(ALL, (), {})
    assert (root / ".vaibify/.gitignore").read_bytes() == b"local/\n"
    assert (root / ".gitattributes").read_bytes() == b"* -text\n"
    workflow = parse((root / "workflow.json").read_bytes(), "workflow.json")
    assert (workflow.name, workflow.steps, workflow.warnings) == ("my-analysis", (), ())
    project = read_project_file(Tree(root))
    assert (project.name, project.network_isolation, project.warnings) == ("my-analysis", False, ())
    for path in ("container.conf", "requirements.in"):
        assert all(line.startswith("#") for line in (root / path).read_text().splitlines())


def test_git_ignores_the_local_files_and_nothing_else_of_the_project(root: Path) -> None:
    begin(root)
    (root / ".vaibify/local/runs").mkdir(parents=True)
    (root / ".vaibify/local/runs/log").write_text("x")
    command = ["git", "-C", root, "status", "--porcelain", "-uall", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert sorted(one[3:] for one in listed.split("\0") if one) == sorted(ALL)


def test_nothing_that_is_there_is_overwritten(root: Path) -> None:
    mine = {path: f"mine, {path}".encode() for path in ALL[1:4]}
    mine["vaibify.yml"] = b"projectName: other\npythonPackages: [numpy>=2]\n"
    for path, data in mine.items():
        (root / path).write_bytes(data)
    done = begin(root)
    assert done == Initialised((".vaibify/.gitignore", ".gitattributes"), ALL[:4], {})
    assert {path: (root / path).read_bytes() for path in mine} == mine


def test_files_that_git_holds_keep_their_conversion(root: Path) -> None:
    (root / "old.csv").write_bytes(b"a\r\n")
    subprocess.run(["git", "-C", root, "add", "old.csv"], check=True)
    begin(root)
    assert (root / ".gitattributes").read_bytes() == b"MANIFEST.sha256 -text\n"


def test_a_second_time_nothing_is_written(root: Path) -> None:
    begin(root)
    before = {path: (root / path).read_bytes() for path in ALL}
    assert begin(root) == Initialised((), ALL, {})
    assert {path: (root / path).read_bytes() for path in ALL} == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"*.png binary\n", b"*.png binary\nMANIFEST.sha256 -text\n"),
        (b"*.png binary", b"*.png binary\nMANIFEST.sha256 -text\n"),
        (b"*.png binary\r\n", b"*.png binary\r\nMANIFEST.sha256 -text\n"),
        (b"MANIFEST.sha256 -text\r\n* text\n", b"MANIFEST.sha256 -text\r\n* text\n"),
        (b"# MANIFEST.sha256 -text\n", b"# MANIFEST.sha256 -text\nMANIFEST.sha256 -text\n"),
    ],
)
def test_the_attribute_line_is_added_to_those_there(
    root: Path, before: bytes, after: bytes
) -> None:
    (root / ".gitattributes").write_bytes(before)
    done = begin(root)
    assert (root / ".gitattributes").read_bytes() == after
    assert (".gitattributes" in done.written) == (before != after)


def test_the_packages_of_vaibify_yml_are_read_into_requirements_in(root: Path) -> None:
    (root / "vaibify.yml").write_text("pythonPackages: [numpy>=2, scipy]\n")
    begin(root)
    lines = (root / "requirements.in").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["numpy>=2", "scipy"]


@pytest.mark.parametrize(
    ("text", "is_source"),
    [
        ("[project]\nname = 'x'\nversion = '1'\n", True),
        ("[tool.ruff]\n", False),
        ("not toml [", False),
    ],
)
def test_a_pyproject_with_packages_is_the_only_source(
    root: Path, text: str, is_source: bool
) -> None:
    (root / "pyproject.toml").write_text(text)
    done = begin(root)
    assert ("requirements.in" not in done.written) == is_source
    assert (root / "requirements.in").exists() != is_source


@pytest.mark.parametrize("path", [".vaibify/workflows/other.json", "analysis/workflow.json"])
def test_no_second_workflow_is_made(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True)
    (root / path).write_text('{"sFormat": "vaibify-lab/1", "listSteps": []}')
    subprocess.run(["git", "-C", root, "add", path], check=True)
    done = begin(root)
    assert "workflow.json" not in (*done.written, *done.left)
    assert Opened(root, cached=False).workflow_paths() == (path,)


@pytest.mark.parametrize("name", ["co2", "123", "null", "1.0", "true"])
def test_a_name_is_text_whatever_it_looks_like(root: Path, name: str) -> None:
    begin(root, name)
    assert yaml.safe_load((root / "vaibify.yml").read_text())["projectName"] == name
    assert read_project_file(Tree(root)).name == name
    assert parse((root / "workflow.json").read_bytes(), "workflow.json").name == name


@pytest.mark.parametrize("name", ["a b", "../x", "-x", "<img>", "x" * 101])
def test_a_name_that_cannot_be_is_refused_and_nothing_written(root: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        begin(root, name)
    assert str(caught.value) == (
        f"{name[:100]!r} cannot be a project's name; use letters, digits, '.', '_' and '-'"
    )
    assert [one.name for one in root.iterdir()] == [".git"]


def test_what_git_would_ignore_is_said_with_its_rule(root: Path) -> None:
    (root / ".gitignore").write_text("# mine\n*.conf\n")
    done = begin(root)
    assert done.ignored == {"container.conf": ".gitignore:2: *.conf"}


def test_no_link_is_written_through(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / ".vaibify").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath, match="symbolic link"):
        begin(root)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_where_the_folder_should_be_is_named(root: Path) -> None:
    (root / ".vaibify").write_text("")
    with pytest.raises((UnsafePath, CannotCheck), match=r"\.vaibify"):
        begin(root)


def test_outside_a_repository_git_init_is_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as caught:
        begin(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is not inside a git repository; git init"
