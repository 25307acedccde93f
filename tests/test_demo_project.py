"""The demo project as it is shipped and written; ``make demo`` runs it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.workflow_file import parse
from vaibify_lab.demo import write_demo

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "vaibify_lab" / "demo" / "project"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    target = tmp_path / "new" / "co2"
    write_demo(target)
    return target


@pytest.fixture
def workflow(project: Path) -> Workflow:
    return parse((project / "workflow.json").read_bytes(), "workflow.json")


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_every_shipped_file_is_written_byte_for_byte(project: Path) -> None:
    assert files_below(project) == files_below(SOURCE)
    assert {".gitattributes", ".gitignore", "workflow.json"} < set(files_below(project))


def test_byte_code_of_an_installed_package_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    (installed / "project" / "scripts" / "__pycache__").mkdir(parents=True)
    (installed / "project" / "scripts" / "__pycache__" / "a.pyc").write_bytes(b"x")
    (installed / "project" / "scripts" / "a.py").write_bytes(b"1\n")
    monkeypatch.setattr("vaibify_lab.demo.files", lambda package: installed)
    write_demo(tmp_path / "target")
    assert list((tmp_path / "target").rglob("*")) == [
        tmp_path / "target" / "scripts",
        tmp_path / "target" / "scripts" / "a.py",
    ]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    write_demo(tmp_path)
    assert files_below(tmp_path) == files_below(SOURCE)


@pytest.mark.parametrize("occupied", ["folder", "file"])
def test_what_is_not_empty_is_refused_and_left_alone(tmp_path: Path, occupied: str) -> None:
    target = tmp_path / "co2"
    kept = target / ".hidden" if occupied == "folder" else target
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("mine")
    with pytest.raises(UsageError) as caught:
        write_demo(target)
    assert str(caught.value) == (
        f"{target}: the demo needs a new or empty folder; name another one"
    )
    assert caught.value.exit_code == 2
    assert files_below(tmp_path) == {kept.relative_to(tmp_path).as_posix(): b"mine"}


def test_the_workflow_is_a_diamond_with_known_keys_only(workflow: Workflow) -> None:
    assert workflow.warnings == ()
    assert {step.slug: step.parents for step in workflow.steps} == {
        "clean": (),
        "trend": ("clean",),
        "season": ("clean",),
        "figure": ("clean", "trend", "season"),
    }


def test_every_step_declares_inputs_outputs_and_three_kinds_of_tests(workflow: Workflow) -> None:
    for step in workflow.steps:
        assert step.declared_inputs == step.inputs
        assert len(step.outputs) >= 1
        assert [suite.category for suite in step.suites] == [
            "integrity",
            "qualitative",
            "quantitative",
        ]
    assert workflow.steps[3].plot_files == ("plots/co2.png",)
    assert workflow.deterministic
    assert workflow.no_host_binaries


def test_every_file_that_a_command_names_is_shipped_or_made(
    project: Path, workflow: Workflow
) -> None:
    made = {path for step in workflow.steps for path in step.outputs}
    named = {
        word.removeprefix("{sRepoRoot}/")
        for step in workflow.steps
        for command in (*step.commands, *(c for suite in step.suites for c in suite.commands))
        for word in command.split()
        if "/" in word
    }
    shipped = {path for path in named if (project / path).is_file()}
    assert named - shipped == made
    assert shipped == {
        "data/maunaloa_c.dat",
        *(f"scripts/{name}.py" for name in ("clean", "trend", "season", "summary", "figure")),
        *(f"tests/test_{name}.py" for name in ("clean", "trend", "season", "figure")),
    }


def test_each_test_category_selects_some_but_not_all_tests(
    project: Path, workflow: Workflow
) -> None:
    for step in workflow.steps:
        text = (project / "tests" / f"test_{step.slug}.py").read_text()
        found = re.findall(r"^def test_(integrity|qualitative|quantitative)_", text, re.MULTILINE)
        assert set(found) == {"integrity", "qualitative", "quantitative"}
        assert len(found) == len(re.findall(r"^def test_", text, re.MULTILINE))


def test_the_data_are_the_bytes_whose_origin_is_described(project: Path) -> None:
    digest = hashlib.sha256((project / "data" / "maunaloa_c.dat").read_bytes()).hexdigest()
    described = (project / "data" / "README.md").read_text()
    assert re.findall(r"`([0-9a-f]{64})`", described) == [digest]
    assert "public domain" in described


def test_git_keeps_every_file_and_output_and_alters_none(project: Path, workflow: Workflow) -> None:
    outputs = [path for step in workflow.steps for path in step.outputs]
    every = [*files_below(project), *outputs, "MANIFEST.sha256", "requirements.lock"]
    subprocess.run(["git", "init", "-q", project], check=True)
    ignored = subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", "-C", project, "check-ignore", *every],
        capture_output=True,
        text=True,
    )
    assert (ignored.returncode, ignored.stdout) == (1, "")
    asked = ["git", "-C", project, "check-attr", "text", *every]
    attributes = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert attributes.splitlines() == [f"{path}: text: unset" for path in every]


def test_the_wheel_holds_the_demo(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        env=os.environ | {"HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"},
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    prefix = "vaibify_lab/demo/project/"
    with zipfile.ZipFile(wheel) as archive:
        held = {
            name.removeprefix(prefix): archive.read(name)
            for name in archive.namelist()
            if name.startswith(prefix)
        }
    assert held == files_below(SOURCE)
