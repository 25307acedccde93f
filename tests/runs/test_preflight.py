"""Preflight on real repositories: each fault named in one line, and a good project in none."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from vaibify_lab.core.errors import ToolFailed
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.workflow_file import parse
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.engines.local.environment import search_path
from vaibify_lab.envelope.lock import source_digest
from vaibify_lab.envelope.lock_compile import this_platform
from vaibify_lab.files.git import Repository
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.look import Observer
from vaibify_lab.runs.preflight import (
    EngineFacts,
    Inspection,
    facts_of_local,
    fails_check,
    preflight,
)
from vaibify_lab.runs.preflight.commands import programs_of
from vaibify_lab.runs.project_file import read_project_file

PATH = search_path(Path(sys.prefix))
ENGINE = EngineFacts(
    "local", "sandbox", path=PATH, python="3.11.2", can_import={"numpy"}.__contains__
)
IN_LOCK = dataclasses.replace(ENGINE, can_import=None)
MAKE_LOCK = "jupyter vaibify envelope --only lock"
FIT: dict[str, Any] = {
    "sName": "Fit",
    "saDataCommands": ["python scripts/fit.py data/x.csv"],
    "saInputDataFiles": ["data/x.csv"],
    "saDataFiles": ["results/fit.json"],
}
FILES = {"scripts/fit.py": "import json\n", "data/x.csv": "x\n1\n"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def git(root: Path, *args: str) -> None:
    subprocess.run(["git", "-C", root, *args], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ana")
    git(folder, "config", "user.email", "ana@example.org")
    write(folder, FILES)
    return folder


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data if isinstance(data, bytes) else data.encode())


def inspection_of(
    root: Path,
    steps: Sequence[Mapping[str, Any]],
    engine: EngineFacts = ENGINE,
    *,
    lock: bytes | None = None,
    requirements: bytes | None = None,
    asked: Sequence[str] = (),
    **top: Any,
) -> Inspection:
    value = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True} | top
    data = json.dumps(value | {"listSteps": list(steps)}).encode()
    tree, repository = Tree(root), Repository.find(root)
    observer = Observer(tree, repository, StatCache(tree, None))
    workflow = parse(data, "workflow.json")
    return Inspection(
        tree=tree,
        repository=repository,
        workflow=workflow,
        project=read_project_file(tree),
        code={step.slug: observer.scout.code_of(step) for step in workflow.steps},
        engine=engine,
        lock=lock,
        requirements=requirements,
        asked=frozenset(asked),
    )


def look(
    root: Path,
    steps: Sequence[Mapping[str, Any]] = (FIT,),
    engine: EngineFacts = ENGINE,
    *,
    planned: Sequence[str] | None = None,
    **more: Any,
) -> list[Finding]:
    inspection = inspection_of(root, steps, engine, **more)
    every = [step.slug for step in inspection.workflow.steps]
    found = preflight(inspection, every if planned is None else planned)
    assert all("\n" not in str(one) for one in found)
    return found


def lines(found: Sequence[Finding]) -> list[tuple[str, str, str]]:
    return [(one.level, one.code, str(one)) for one in found]


def fit(**changes: Any) -> dict[str, Any]:
    return FIT | changes


def test_a_good_project_has_no_finding(root: Path) -> None:
    assert look(root) == []


def test_nothing_is_said_of_steps_that_are_not_planned_or_disabled(root: Path) -> None:
    broken = fit(saDataCommands=["python gone.py"])
    assert look(root, [broken], planned=[]) == []
    assert look(root, [broken | {"bEnabled": False}]) == []


# --- folders and scripts


def test_a_missing_script(root: Path) -> None:
    assert lines(look(root, [fit(saDataCommands=["python scripts/gone.py data/x.csv"])])) == [
        (
            "error",
            "script-missing",
            "step 'fit': script 'scripts/gone.py' does not exist; write it, or correct the command",
        )
    ]


def test_a_script_seen_from_the_wrong_directory(root: Path) -> None:
    write(root, {"analysis/fit.py": "", "analysis/inner/x": ""})
    within = fit(sDirectory="analysis", saDataCommands=["python scripts/fit.py"])
    assert lines(look(root, [within])) == [
        (
            "error",
            "script-missing",
            "step 'fit': script 'analysis/scripts/fit.py' does not exist, but 'scripts/fit.py' "
            "does: wrong directory, commands run in 'analysis', not in the repository's root; "
            "write ../scripts/fit.py in the command, or set sDirectory to ''",
        )
    ]
    (root / "scripts/fit.py").unlink()
    above = fit(saDataCommands=["python fit.py"])
    assert lines(look(root, [above])) == [
        (
            "error",
            "script-missing",
            "step 'fit': script 'fit.py' does not exist, but 'analysis/fit.py' does: wrong "
            "directory, commands run in the repository's root, not in 'analysis'; "
            "write analysis/fit.py in the command, or set sDirectory to 'analysis'",
        )
    ]


def test_a_script_that_a_command_or_another_step_makes(root: Path) -> None:
    write(root, {"sim.c": "int main(void) { return 0; }\n"})
    compiled = fit(
        saDataCommands=["gcc sim.c -o sim", "./sim data/x.csv"],
        saInputDataFiles=["data/x.csv", "sim.c"],
    )
    assert [one.code for one in look(root, [compiled]) if one.level == "error"] == []
    build = {"sName": "Build", "saDataCommands": ["cp sim.c bin/sim"], "saDataFiles": ["bin/sim"]}
    use = fit(saDataCommands=["{Step02.sim} data/x.csv"])
    assert [one.code for one in look(root, [use, build]) if one.level == "error"] == []


def test_declared_scripts_and_notebooks_are_looked_for(root: Path) -> None:
    found = look(root, [fit(saScripts=["scripts/fit.py", "gone.R"], sNotebook="gone.ipynb")])
    assert [(one.code, one.path) for one in found if one.level == "error"] == [
        ("script-missing", "gone.R"),
        ("script-missing", "gone.ipynb"),
    ]


def test_a_declared_folder_of_scripts_is_looked_into(root: Path) -> None:
    write(
        root,
        {"lib/a.py": "", "lib/in/b.R": "", "lib/bare/x.csv": "", "bare/notes.txt": "", "file": ""},
    )
    (root / "lib/link.sh").symlink_to("a.py")

    def said(*scripts: str) -> list[tuple[str, str | None]]:
        found = look(root, [fit(saScripts=list(scripts))])
        return [(one.code, one.path) for one in found if one.level == "error"]

    assert said("lib/") == [("script-unusable", "lib/link.sh")]
    (root / "lib/link.sh").unlink()
    assert said("lib/", "lib/in/", "lib/bare/") == []
    (folder,) = [one for one in look(root, [fit(saScripts=["lib"])]) if one.level == "error"]
    assert str(folder) == "step 'fit': script 'lib' is a folder; declare it as 'lib/'"
    found = look(root, [fit(saScripts=["bare/"])])
    assert [str(one) for one in found] == [
        "step 'fit': folder 'bare/' in saScripts holds no code; correct saScripts, or leave it out"
    ]
    assert said("gone/", "file/") == [("script-missing", "gone/"), ("script-unusable", "file/")]
    made = fit(sName="Gen", saDataCommands=["cp lib/a.py gen/a.py"], saDataFiles=["gen/a.py"])
    (root / "gen").mkdir()
    found = look(root, [made, fit(saScripts=["gen/"])], planned=["gen", "fit"])
    assert [one.code for one in found if one.level == "error"] == []


def test_a_script_that_is_a_link_or_a_folder(root: Path) -> None:
    (root / "scripts/link.py").symlink_to("fit.py")
    (root / "scripts/folder.py").mkdir()
    steps = [
        fit(saDataCommands=["python scripts/link.py", "python scripts/folder.py"]),
    ]
    found = [one for one in look(root, steps) if one.code == "script-unusable"]
    assert [str(one) for one in found] == [
        "step 'fit': script 'scripts/link.py' is a symbolic link; put a regular file in its place",
        "step 'fit': script 'scripts/folder.py' is a folder; put a regular file in its place",
    ]


def test_a_step_directory_that_does_not_exist(root: Path) -> None:
    assert lines(look(root, [fit(sDirectory="run 1", saDataCommands=["true"])])) == [
        (
            "error",
            "directory-missing",
            "step 'fit': sDirectory 'run 1' does not exist; mkdir -p 'run 1', or correct "
            "sDirectory",
        )
    ]


def test_a_step_directory_that_its_outputs_make(root: Path) -> None:
    step = fit(sDirectory="run", saDataFiles=["run/out/r.csv"], saDataCommands=["true"])
    assert look(root, [step]) == []


def test_a_step_directory_that_is_a_link_or_a_file(root: Path, tmp_path: Path) -> None:
    (root / "away").symlink_to(tmp_path)
    for folder, words in (
        ("away", "is a symbolic link"),
        ("away/in", "goes through the symbolic link away"),
        ("data/x.csv", "is a file"),
    ):
        assert lines(look(root, [fit(sDirectory=folder, saDataCommands=["true"])])) == [
            (
                "error",
                "directory-unusable",
                f"step 'fit': sDirectory {folder!r} {words}; "
                "put a real folder in its place, or correct sDirectory",
            )
        ]


# --- inputs


def test_a_missing_input(root: Path) -> None:
    (root / "data/x.csv").unlink()
    assert lines(look(root)) == [
        (
            "error",
            "input-missing",
            "step 'fit': input 'data/x.csv' does not exist; "
            "put it there, or correct saInputDataFiles",
        )
    ]


def test_a_missing_input_that_lies_elsewhere(root: Path) -> None:
    write(root, {"analysis/y.csv": "1\n", "analysis/fit.py": ""})
    step = fit(
        sDirectory="analysis", saDataCommands=["python fit.py"], saInputDataFiles=["y.csv", "x.csv"]
    )
    assert [str(one) for one in look(root, [step])] == [
        "step 'fit': input 'y.csv' does not exist, but 'analysis/y.csv' does: paths are declared "
        "from the repository's root; declare 'analysis/y.csv'",
        "step 'fit': input 'x.csv' does not exist, but 'data/x.csv' does; "
        "declare 'data/x.csv', if that is the one",
    ]


def test_an_input_that_another_step_makes(root: Path) -> None:
    use = {"sName": "Use", "saDataCommands": ["cat {Step01.fit}"], "saDataFiles": ["u.txt"]}
    assert look(root, [FIT, use]) == []
    assert lines(look(root, [FIT, use], planned=["use"])) == [
        (
            "error",
            "input-missing",
            "step 'use': input 'results/fit.json' does not exist: step 'fit' makes it; "
            "jupyter vaibify run fit",
        )
    ]
    write(root, {"results/fit.json": "{}"})
    assert look(root, [FIT, use], planned=["use"]) == []


def test_an_input_that_is_a_folder_or_a_folder_that_is_a_file(root: Path) -> None:
    step = fit(saInputDataFiles=["data", "scripts/fit.py/"])
    found = [(one.code, str(one)) for one in look(root, [step]) if one.level == "error"]
    assert found == [
        ("input-is-folder", "step 'fit': input 'data' is a folder; declare it as 'data/'"),
        (
            "input-is-file",
            "step 'fit': input 'scripts/fit.py/' is a file; declare it as 'scripts/fit.py'",
        ),
    ]


def test_an_input_that_is_an_lfs_pointer(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 8\n"
    write(root, {"data/x.csv": pointer})
    assert lines(look(root)) == [
        (
            "error",
            "input-lfs",
            "step 'fit': input 'data/x.csv' holds a git LFS pointer, not the content; git lfs pull",
        )
    ]


def test_an_input_folder_that_holds_lfs_pointers(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 8\n"
    write(root, {"data/a.h5": pointer})
    step = fit(saInputDataFiles=["data/"])
    text = "step 'fit': input 'data/' holds data/a.h5{}, which holds a git LFS pointer, "
    text += "not the content; git lfs pull"
    assert lines(look(root, [step])) == [("error", "input-lfs", text.format(""))]
    write(root, {"data/more/b.h5": pointer, "data/c.h5": pointer})
    assert [str(one) for one in look(root, [step])] == [text.format(" and 2 more like it")]


def test_code_that_is_an_lfs_pointer(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 8\n"
    write(root, {"scripts/fit.py": "import lib\n", "scripts/lib.py": pointer})
    found = [one for one in lines(look(root)) if one[0] == "error"]
    text = "step 'fit': code 'scripts/lib.py' holds a git LFS pointer, not the content"
    assert found == [("error", "code-lfs", f"{text}; git lfs pull")]


def test_a_pointer_that_a_planned_step_makes_anew_keeps_nothing_from_running(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 8\n"
    write(root, {"results/fit.json": pointer})
    use = fit(sName="Use", saInputDataFiles=["results/fit.json"], saDataFiles=["use.txt"])
    use["saDataCommands"] = ["cat results/fit.json > use.txt"]
    words = "holds a git LFS pointer, not the content; git lfs pull"
    warned = ("warning", "output-lfs", f"step 'fit': output 'results/fit.json' {words}")
    assert lines(look(root, [FIT, use])) == [warned]
    refused = ("error", "input-lfs", f"step 'use': input 'results/fit.json' {words}")
    assert lines(look(root, [FIT, use], planned=["use"])) == [refused]


def test_an_input_that_is_a_link_or_no_file(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (root / "data/link").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "data/pipe")
    step = fit(saInputDataFiles=["data/x.csv", "data/link", "data/pipe"])
    assert [(one.code, str(one)) for one in look(root, [step])] == [
        (
            "input-unusable",
            "step 'fit': input 'data/link' is a symbolic link; put the file itself in its place",
        ),
        (
            "input-unusable",
            "step 'fit': input 'data/pipe' is not a regular file; put the file itself in its place",
        ),
    ]


def test_a_declared_folder_that_holds_a_link(root: Path) -> None:
    (root / "data/more").mkdir()
    (root / "data/more/link").symlink_to("../x.csv")
    assert [str(one) for one in look(root, [fit(saInputDataFiles=["data/"])])] == [
        "step 'fit': input 'data/' holds data/more/link, which is a symbolic link; "
        "put the file itself in its place"
    ]


# --- outputs


def test_an_output_folder_that_is_a_link(root: Path, tmp_path: Path) -> None:
    (root / "results").symlink_to(tmp_path)
    assert lines(look(root)) == [
        (
            "error",
            "output-unusable",
            "step 'fit': output 'results/fit.json' goes through the symbolic link results; "
            "move it out of the way",
        )
    ]


def test_outputs_that_something_else_stands_in_the_way_of(root: Path) -> None:
    write(root, {"file": "", "folder/inner": "", "link.d/x": ""})
    (root / "link").symlink_to("file")
    outputs = ["folder", "file/", "link", "data/x.csv/deep/r.csv"]
    found = look(root, [fit(saInputDataFiles=[], saDataCommands=["true"], saDataFiles=outputs)])
    assert [(one.code, str(one)) for one in found] == [
        (
            "output-is-folder",
            "step 'fit': output 'folder' is a folder; declare it as 'folder/', or move it out of "
            "the way",
        ),
        (
            "output-is-file",
            "step 'fit': output 'file/' is a file; declare it as 'file', or move it out of the way",
        ),
        (
            "output-unusable",
            "step 'fit': output 'link' is a symbolic link; move it out of the way",
        ),
        (
            "output-unusable",
            "step 'fit': output 'data/x.csv/deep/r.csv' lies below 'data/x.csv', which is a file; "
            "move that file, or correct the path",
        ),
    ]


def test_an_output_that_git_ignores(root: Path) -> None:
    write(root, {".gitignore": "*.log\nresults/\n!keep\n"})
    found = look(root, [fit(saDataFiles=["results/fit.json", "plots/", "keep"])])
    assert lines(found) == [
        (
            "warning",
            "output-ignored",
            "step 'fit': output 'results/fit.json' is ignored by git (.gitignore:2: results/): a "
            "clone will not have it; git add -f -- results/fit.json when it is there, or change "
            "that rule",
        )
    ]
    write(root, {"results/fit.json": "{}"})
    git(root, "add", "-f", "results/fit.json")
    assert look(root) == []


def test_git_is_not_asked_of_outputs_that_it_refuses_to_speak_of(root: Path) -> None:
    write(root, {".gitignore": "results/\n", "inner/x": ""})
    git(root / "inner", "init", "-q")
    git(root / "inner", "config", "user.name", "Ana")
    git(root / "inner", "config", "user.email", "ana@example.org")
    git(root / "inner", "add", "x")
    git(root / "inner", "commit", "-q", "-m", "x")
    git(root, "add", "inner")
    (root / "link").symlink_to("data")
    outputs = ["inner/r.csv", "link/r.csv", "results/fit.json"]
    found = look(root, [fit(saDataFiles=outputs)])
    assert [(one.code, one.path) for one in found] == [
        ("output-unusable", "link/r.csv"),
        ("output-ignored", "results/fit.json"),
    ]


# --- modules


def test_a_module_that_the_lock_lacks(root: Path) -> None:
    write(root, {"scripts/fit.py": "import os\nimport sklearn.svm\nfrom numpy import pi\n"})
    assert lines(look(root, engine=IN_LOCK, lock=lock_of("numpy"))) == [
        (
            "error",
            "module-missing",
            "step 'fit': scripts/fit.py:2 imports 'sklearn' (scikit-learn), which "
            "requirements.lock does not have; add scikit-learn to requirements.in, then: "
            f"{MAKE_LOCK}",
        )
    ]
    assert look(root, engine=IN_LOCK, lock=lock_of("numpy", "scikit-learn")) == []


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("PIL", "Pillow"),
        ("yaml", "PyYAML"),
        ("cv2", "opencv-python-headless"),
        ("dateutil", "python_dateutil"),
        ("my_module", "my.module"),
        ("nowhere_else_known", "nowhere-else-known"),
    ],
)
def test_a_module_whose_distribution_has_another_name(
    root: Path, module: str, distribution: str
) -> None:
    write(root, {"scripts/fit.py": f"import {module}\n"})
    assert look(root, engine=IN_LOCK, lock=lock_of(distribution)) == []


def test_what_this_machine_knows_of_distributions_helps(root: Path) -> None:
    write(root, {"scripts/fit.py": "import odd\n"})
    engine = dataclasses.replace(IN_LOCK, distributions=lambda: {"odd": ["strange-name"]})
    assert look(root, engine=engine, lock=lock_of("strange-name")) == []
    assert lines(look(root, engine=engine, lock=lock_of("numpy"))) == [
        (
            "error",
            "module-missing",
            "step 'fit': scripts/fit.py:1 imports 'odd' (strange-name), which requirements.lock "
            f"does not have; add strange-name to requirements.in, then: {MAKE_LOCK}",
        )
    ]


def test_a_module_that_nobody_knows_is_only_a_warning(root: Path) -> None:
    write(root, {"scripts/fit.py": "import frobnicate\n"})
    assert lines(look(root, engine=IN_LOCK, lock=lock_of("numpy"))) == [
        (
            "warning",
            "module-missing",
            "step 'fit': scripts/fit.py:1 imports 'frobnicate', which nothing in "
            "requirements.lock is known to bring; add frobnicate to requirements.in, then: "
            f"{MAKE_LOCK}; a module of your own goes beside what imports it",
        )
    ]


def test_a_module_that_the_starters_python_lacks(root: Path) -> None:
    write(root, {"scripts/fit.py": "import numpy\nimport frobnicate\nimport yaml\n"})
    assert lines(look(root)) == [
        (
            "error",
            "module-missing",
            f"step 'fit': scripts/fit.py:2 imports 'frobnicate', which this Python does not have; "
            f"add frobnicate to requirements.in, then: {MAKE_LOCK}; "
            "a module of your own goes beside what imports it",
        ),
        (
            "error",
            "module-missing",
            "step 'fit': scripts/fit.py:3 imports 'yaml' (pyyaml), which this Python does not "
            f"have; add pyyaml to requirements.in, then: {MAKE_LOCK}",
        ),
    ]


@pytest.mark.parametrize(
    ("outputs", "module", "level"),
    [
        (["made/params.py"], "made.params", None),
        (["made/"], "made", None),
        (["scripts/params.py"], "params", None),
        (["made/"], "params", "warning"),
        (["made/"], "yaml", "error"),
        (["made/remade.py"], "params", "error"),
    ],
)
def test_a_module_that_another_step_makes(
    root: Path, outputs: list[str], module: str, level: str | None
) -> None:
    write(root, {"scripts/fit.py": f"import {module}\n"})
    make = {"sName": "Make", "saDataCommands": ["true"], "saDataFiles": outputs, "bNoTests": True}
    make["bNoInputData"] = True
    found = look(root, [make, fit(saDependencies=["make"])])
    said = [one.level for one in found if one.code == "module-missing"]
    assert said == ([level] if level else [])


@pytest.mark.parametrize(
    ("source", "is_there"),
    [
        (b"numpy\nPyYAML >= 6  # for reading\n", True),
        (b'[project]\ndependencies = ["numpy", "pyyaml>=6"]\n', True),
        (b"numpy\n# pyyaml\nruamel.yaml\n", False),
    ],
)
def test_a_package_that_is_asked_for_and_only_not_locked(
    root: Path, source: bytes, is_there: bool
) -> None:
    write(root, {"scripts/fit.py": "import yaml\n"})
    (found,) = look(root, requirements=source)
    assert found.action == (
        f"it is in requirements.in: {MAKE_LOCK}"
        if is_there
        else f"add pyyaml to requirements.in, then: {MAKE_LOCK}"
    )


def test_a_module_of_the_repository_is_not_missing(root: Path) -> None:
    write(root, {"scripts/fit.py": "import helper\n", "scripts/helper.py": "import numpy\n"})
    assert look(root) == []


def test_a_module_of_the_repository_that_python_does_not_reach(root: Path) -> None:
    write(root, {"scripts/fit.py": "import helper\n", "lib/deep/helper.py": ""})
    assert lines(look(root)) == [
        (
            "warning",
            "module-missing",
            "step 'fit': scripts/fit.py:1 imports 'helper', which is 'lib/deep/helper.py', but not "
            "where Python looks for it; put its folder on PYTHONPATH in dictEnvironment, and its "
            "files into saScripts",
        )
    ]


def test_an_import_that_may_fail_is_not_missed(root: Path) -> None:
    code = "try:\n    import frobnicate\nexcept ImportError:\n    frobnicate = None\n"
    write(root, {"scripts/fit.py": code})
    assert look(root) == []


def test_a_module_that_a_command_runs(root: Path) -> None:
    found = look(root, [fit(saDataCommands=["python -m frobnicate.main data/x.csv"])])
    assert [str(one) for one in found if one.level == "error"] == [
        "step 'fit': a command runs 'frobnicate', which this Python does not have; "
        f"add frobnicate to requirements.in, then: {MAKE_LOCK}"
    ]


def test_what_runs_the_tests_is_missed_before_they_run(root: Path) -> None:
    write(root, {"tests/test_fit.py": ""})
    suites = {"dictIntegrity": {"sFilePath": "tests/test_fit.py"}}
    found = look(root, [fit(dictTests=suites)], IN_LOCK, lock=lock_of("numpy"))
    assert lines(found) == [
        (
            "warning",
            "module-missing",
            "step 'fit': a test command runs 'pytest', which requirements.lock does not have; "
            f"add pytest to requirements.in, then: {MAKE_LOCK}",
        )
    ]
    unittest = {"dictIntegrity": {"saCommands": ["python -m unittest tests/test_fit.py"]}}
    assert look(root, [fit(dictTests=unittest)], IN_LOCK, lock=lock_of("numpy")) == []


def test_a_missing_test_file(root: Path) -> None:
    suites = {"dictIntegrity": {"saCommands": ["true"], "sFilePath": "tests/gone.py"}}
    assert lines(look(root, [fit(dictTests=suites)])) == [
        (
            "warning",
            "test-missing",
            "step 'fit': test file 'tests/gone.py' does not exist; write it, or correct its name",
        )
    ]


def test_files_that_test_commands_name_and_that_are_not_there(root: Path) -> None:
    commands = ["python -m pytest tests/gone.py::test_it", "python tests/gone_too.py"]
    suites = {"dictIntegrity": {"saCommands": commands}}
    found = [one for one in lines(look(root, [fit(dictTests=suites)])) if one[1] == "test-missing"]
    assert found == [
        (
            "warning",
            "test-missing",
            f"step 'fit': test file 'tests/{name}' does not exist; write it, or correct its name",
        )
        for name in ("gone.py", "gone_too.py")
    ]


def test_tests_that_a_step_runs_and_that_are_not_there(root: Path) -> None:
    lacking = [fit(saDataCommands=["python -m pytest tests/gone.py"])]
    (found,) = [one for one in lines(look(root, lacking)) if one[1] == "script-missing"]
    assert found == (
        "error",
        "script-missing",
        "step 'fit': script 'tests/gone.py' does not exist; write it, or correct the command",
    )


def test_code_that_does_not_parse(root: Path) -> None:
    write(root, {"scripts/fit.py": "x = 1\ndef f(:\n"})
    (found,) = look(root)
    assert (found.level, found.code) == ("warning", "code-unread")
    assert str(found).startswith("step 'fit': scripts/fit.py: does not parse as Python, line 2")


# --- the lock


def lock_of(*packages: str, source: bytes = b"", python: str = "3.11", where: str = "") -> bytes:
    head = f"# vaibify: python {python} {where or this_platform()}\n"
    head += f"# source-sha256: {source_digest(source)}\n"
    return (head + "".join(f"{one}==1.0 --hash=sha256:{'0' * 64}\n" for one in packages)).encode()


def test_no_lock(root: Path) -> None:
    assert lines(look(root, bNoPythonPackages=False)) == [
        (
            "warning",
            "no-lock",
            "there is no requirements.lock: steps run in the Python that runs this (3.11.2); "
            f"{MAKE_LOCK}",
        )
    ]


def test_a_lock_that_is_of_this_source(root: Path) -> None:
    source = b"numpy\n"
    lock = lock_of("numpy", source=source)
    assert look(root, lock=lock, requirements=source) == []
    assert lines(look(root, lock=lock, requirements=b"numpy\nscipy\n")) == [
        (
            "error",
            "lock-out-of-date",
            "requirements.lock is out of date: it was made from another requirements.in; "
            f"{MAKE_LOCK}",
        )
    ]


def test_a_lock_without_our_header_cannot_be_out_of_date(root: Path) -> None:
    lock = f"numpy==1.0 --hash=sha256:{'0' * 64}\n".encode()
    assert look(root, lock=lock, requirements=b"scipy\n") == []


def test_a_lock_that_pip_would_refuse(root: Path) -> None:
    lock = lock_of("numpy") + b"scipy==1.0\n" + b"pandas\n" * 6
    found = [one for one in look(root, lock=lock) if one.code == "lock-unusable"]
    assert {one.level for one in found} == {"error"}
    assert str(found[0]).startswith("requirements.lock:4: scipy ")
    assert str(found[0]).endswith(f"; {MAKE_LOCK}")
    assert len(found) == 6
    assert "more lines are wrong" in found[-1].text


def test_a_lock_that_cannot_be_read_says_nothing_of_modules(root: Path) -> None:
    write(root, {"scripts/fit.py": "import sklearn\n"})
    found = look(root, engine=IN_LOCK, lock=b"numpy==1.0\n")
    assert [one.code for one in found] == ["lock-unusable"]


def test_a_lock_without_packages(root: Path) -> None:
    found = look(root, lock=b"# nothing\n", bNoPythonPackages=False)
    assert [(one.code, str(one)) for one in found] == [
        (
            "lock-unusable",
            "requirements.lock: lists no package, and the workflow does not declare that by "
            "bNoPythonPackages; set bNoPythonPackages, or name packages in requirements.in and "
            "make the lock anew",
        )
    ]
    assert look(root, lock=b"# nothing\n", bNoPythonPackages=True) == []


def test_a_lock_for_another_python_or_platform(root: Path) -> None:
    assert lines(look(root, lock=lock_of("numpy", python="3.13"))) == [
        (
            "error",
            "lock-python",
            f"requirements.lock is for Python 3.13, steps here run in 3.11.2; {MAKE_LOCK}",
        )
    ]
    assert lines(look(root, lock=lock_of("numpy", where="win32-AMD64"))) == [
        (
            "warning",
            "lock-platform",
            f"requirements.lock was made for win32-AMD64, this is {this_platform()}; "
            f"if packages cannot be installed: {MAKE_LOCK}",
        )
    ]


def test_a_lock_whose_python_is_not_here(root: Path) -> None:
    fault = ToolFailed("asks for Python 3.13, which is not installed here", action="install it")
    engine = dataclasses.replace(ENGINE, python=None, python_fault=fault)
    assert lines(look(root, engine=engine, lock=lock_of("numpy", python="3.13"))) == [
        (
            "error",
            "lock-python",
            "requirements.lock asks for Python 3.13, which is not installed here; install it",
        )
    ]


def test_a_lock_for_another_python_than_vaibify_yml_says(root: Path) -> None:
    write(root, {"vaibify.yml": "pythonVersion: '3.12'\n"})
    assert lines(look(root, lock=lock_of("numpy"))) == [
        (
            "warning",
            "lock-python",
            "requirements.lock is for Python 3.11, vaibify.yml says 3.12; "
            f"correct pythonVersion, or: {MAKE_LOCK}",
        )
    ]


# --- commands


def test_a_program_that_is_not_there(root: Path) -> None:
    step = fit(saDataCommands=["frobnicate data/x.csv > results/fit.json"])
    assert lines(look(root, [step])) == [
        (
            "warning",
            "program-missing",
            f"step 'fit': the program 'frobnicate' is not on the PATH of a step ({PATH}); "
            "install it",
        )
    ]
    own = step | {"dictEnvironment": {"PATH": "/somewhere"}}
    assert look(root, [own]) == []
    assert look(root, [step], dataclasses.replace(ENGINE, is_ready=False)) == []
    assert look(root, [step], dataclasses.replace(ENGINE, path=None)) == []


@pytest.mark.parametrize(("directory", "word"), [("", "./bin/frob"), ("study", "../bin/frob")])
def test_a_program_of_the_repository_is_named_by_its_path(
    root: Path, directory: str, word: str
) -> None:
    for place in ("bin", "study"):
        (root / place).mkdir(exist_ok=True)
    (root / "bin/frob").write_text("#!/bin/sh\n")
    step = fit(sDirectory=directory, saDataCommands=["frob {sRepoRoot}/data/x.csv"])
    [(level, code, text)] = lines(look(root, [step]))
    assert (level, code) == ("warning", "program-missing")
    assert text.endswith(f"; name it as {word}")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("$PWD/bin", "$PWD"),
        ("bin:${PATH}", "${PATH}"),
        ("$(pwd)", "$("),
        ("{sRepoRoot}/bin", "{sRepoRoot}"),
        ("~/bin", "~/"),
        ("`pwd`", "`"),
    ],
)
def test_values_of_variables_stand_as_they_are(root: Path, value: str, said: str) -> None:
    [found] = look(root, [fit(dictEnvironment={"A": value, "B": "5$, a{b}, x~/y"})])
    assert (found.level, found.code) == ("warning", "value-literal")
    assert found.text == f"dictEnvironment: A is {value!r} as it stands: nothing puts {said!r} in"
    assert found.action == "set it in the command: export A=..."


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("python x.py | sort > y", ["python", "sort"]),
        ("A=1 B=2 gnuplot x", ["gnuplot"]),
        ("if grep -q x y; then cut -f1 y; else exit 1; fi", ["grep", "cut"]),
        ("for i in 1 2; do wc $i; done", ["wc"]),
        ("while read l; do tr a b; done < x", ["tr"]),
        ("cd x && make; echo done", ["make"]),
        ("time ! mpirun -n 4 ./a.out", ["mpirun"]),
        ("./own.sh; $PROGRAM x; {iNumberOfCores}", []),
        ("f() { nothing; }; f", []),
        ("cat <<EOF\nsecond line\nEOF\nwc x", ["cat", "wc"]),
        ("echo 'a; b' # c", []),
        ("(cd x; tar cf - .) 2>err", ["tar"]),
        ("[ -f x ] || touch x", ["touch"]),
    ],
)
def test_the_programs_that_commands_start(command: str, programs: list[str]) -> None:
    assert programs_of((command,)) == programs


def test_paths_that_only_this_machine_has(root: Path, tmp_path: Path) -> None:
    here = tmp_path / "mine.csv"
    here.write_text("")
    commands = [
        f"cat {here} /home/ana/x.csv ~/y --in=$HOME/z /not/there /dev/null /usr/bin/env",
        "sed -e /a/d {sRepoRoot}/data/x.csv",
    ]
    found = look(root, [fit(saDataCommands=commands)])
    named = [str(here), "/home/ana/x.csv", "~/y", "$HOME/z"]
    if str(here).startswith("/tmp/"):  # a step has a /tmp of its own
        named.remove(str(here))
    assert lines(found) == [
        (
            "warning",
            "absolute-path",
            f"step 'fit': a command names {path!r}, which other people do not have; "
            "put the file into the repository and declare it as an input",
        )
        for path in named
    ]


def test_files_that_commands_name_and_the_step_does_not_declare(root: Path) -> None:
    write(root, {"data/more.csv": "", "data/extra.csv": "", "table.txt": ""})
    step = fit(
        saDataCommands=["python scripts/fit.py data/x.csv --more=data/more.csv table.txt"],
        saOutputFiles=["table.txt"],
    )
    assert lines(look(root, [step])) == [
        (
            "warning",
            "undeclared-input",
            "step 'fit': a command names 'data/more.csv', which is not declared; "
            "add it to saInputDataFiles, or to the outputs if the step makes it",
        )
    ]
    assert look(root, [step | {"saInputDataFiles": ["data/"]}]) == []


def test_an_output_of_another_step_that_is_named_and_not_declared(root: Path) -> None:
    use = {"sName": "Use", "saDataCommands": ["cat results/fit.json"], "saDataFiles": ["u.txt"]}
    assert lines(look(root, [FIT, use])) == [
        (
            "warning",
            "undeclared-input",
            "step 'use': a command names 'results/fit.json', which step 'fit' makes: it is not "
            "declared; add it to saInputDataFiles",
        )
    ]


# --- what is around


def test_no_bash(root: Path, tmp_path: Path) -> None:
    engine = dataclasses.replace(ENGINE, path=str(tmp_path), is_ready=False)
    assert lines(look(root, engine=engine)) == [
        (
            "error",
            "bash-missing",
            f"bash is not installed where steps look for it ({tmp_path}); "
            "install bash; steps run in it",
        )
    ]


def test_notebooks_as_steps(root: Path) -> None:
    kept = {"saOutputFiles": ["out/a.ipynb"], "bNoTests": True}
    write(root, {"a.ipynb": '{"nbformat": 4, "cells": []}', "bad.ipynb": "{}", "b.ipynb": ""})
    steps = [
        {"sName": "Look", "bInteractive": True, "sNotebook": "bad.ipynb"},
        {"sName": "Book", "sNotebook": "a.ipynb"},
        {"sName": "Kept", "sNotebook": "a.ipynb", **kept},
        {"sName": "Bad", "sNotebook": "bad.ipynb", **kept, "saOutputFiles": ["out/bad.ipynb"]},
        {"sName": "Empty", "sNotebook": "b.ipynb", **kept, "saOutputFiles": ["out/b.ipynb"]},
    ]
    able = dataclasses.replace(ENGINE, can_import=lambda module: True)
    found = [one for one in look(root, steps, able) if one.code != "code-unread"]
    assert lines(found) == [
        (
            "error",
            "notebook-unusable",
            "step 'bad': notebook 'bad.ipynb' is no notebook: it has no number nbformat",
        ),
        (
            "error",
            "notebook-unusable",
            "step 'empty': notebook 'b.ipynb' is an empty notebook; save it once in JupyterLab",
        ),
        (
            "warning",
            "no-executed-copy",
            "step 'book': names no single output *.ipynb for its executed copy, which is not kept",
        ),
    ]
    inside = {"cell_type": "code", "source": "%%vaibify step A\n1", "metadata": {}, "outputs": []}
    write(root, {"in.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": [inside]})})
    step = {"sName": "In", "sNotebook": "in.ipynb", **kept}
    assert [one for one in lines(look(root, [step], able)) if one[1] == "step-in-step"] == [
        (
            "error",
            "step-in-step",
            "step 'in': cell 1 of 'in.ipynb' is a step of its own, which a step cannot run; "
            "take the notebook's step out of the workflow, or the line from the cell",
        )
    ]
    bare = dataclasses.replace(ENGINE, can_import=lambda module: module != "nbclient")
    assert lines(look(root, steps[2:3], engine=bare)) == [
        (
            "error",
            "module-missing",
            "step 'kept': a notebook needs 'nbclient', which this Python does not have; "
            "add nbclient to requirements.in, then: jupyter vaibify envelope --only lock",
        ),
    ]


def test_network_isolation_that_the_engine_cannot_hold(root: Path) -> None:
    engine = dataclasses.replace(
        ENGINE, cannot_prevent={"network": "the network can be used", "read": "all can be read"}
    )
    assert look(root, engine=engine) == []
    write(root, {"vaibify.yml": "networkIsolation: true\n"})
    assert lines(look(root, engine=engine)) == [
        (
            "warning",
            "network-open",
            "networkIsolation is asked for, but here the network can be used; "
            "install bubblewrap, which can hold it",
        )
    ]
    assert look(root) == []


def test_the_local_engines_own_words_are_understood(root: Path) -> None:
    write(root, {"vaibify.yml": "networkIsolation: true\n"})
    plain = facts_of_local(LocalEngine("plain"), None)
    assert "network-open" in [one.code for one in look(root, engine=plain)]
    held = facts_of_local(LocalEngine("bwrap"), None)
    assert "network-open" not in [one.code for one in look(root, engine=held)]


def test_no_identity(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(root, "config", "--unset", "user.name")
    assert lines(look(root)) == [
        (
            "warning",
            "no-identity",
            "git knows no name and address of yours, which a sign-off needs; "
            'git config user.name "Your Name" && git config user.email you@example.org',
        )
    ]


def test_local_files_that_git_tracks(root: Path) -> None:
    write(root, {".vaibify/local/runs/x/journal.jsonl": "{}\n"})
    git(root, "add", "-f", ".vaibify/local")
    assert lines(look(root)) == [
        (
            "warning",
            "local-tracked",
            "git tracks '.vaibify/local/runs/x/journal.jsonl': files in .vaibify/local are one "
            "machine's own and not believed; git rm -r .vaibify/local",
        )
    ]


def test_unknown_keys_fail_the_check_and_other_warnings_do_not(root: Path) -> None:
    write(root, {"vaibify.yml": "projectNam: x\n"})
    found = look(root, [fit(saDataFile=["x"])], sWorkflowNam="x")
    assert sorted(lines(found)) == [
        (
            "warning",
            "unknown-key",
            "vaibify.yml: unknown key 'projectNam'; did you mean 'projectName'?",
        ),
        (
            "warning",
            "unknown-key",
            "workflow.json: step 'Fit': unknown key 'saDataFile'; did you mean 'saDataFiles'?",
        ),
        (
            "warning",
            "unknown-key",
            "workflow.json: unknown key 'sWorkflowNam'; did you mean 'sWorkflowName'?",
        ),
    ]
    assert [fails_check([one]) for one in found] == [True, True, True]
    write(root, {"vaibify.yml": ""})
    token = look(root, [fit(saPlotCommands=["echo {sTypo} unknown key 'x'"])])
    assert lines(token) == [
        (
            "warning",
            "workflow-warning",
            "workflow.json: step 'Fit': {sTypo} is no variable of this workflow",
        )
    ]
    assert not fails_check(token)
    assert not fails_check([])
    assert fails_check([Finding("error", "x", "y")])


def test_a_workflow_without_steps(root: Path) -> None:
    assert lines(look(root, [])) == [
        ("warning", "no-steps", "workflow.json has no step yet; add one to listSteps")
    ]


def test_errors_come_first(root: Path) -> None:
    broken = fit(sName="Broken", saDataCommands=["python gone.py"], saDataFiles=["b.txt"])
    found = look(root, [fit(saDataCommands=["frobnicate"]), broken])
    assert [one.level for one in found] == ["error", "warning"]


_ON_SMALL_DISK = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_preflight as t
root = Path({root!r})
t.git(root, "init", "-q")
t.git(root, "config", "user.name", "Ana")
t.git(root, "config", "user.email", "ana@example.org")
t.write(root, t.FILES)
for one in t.look(root):
    print(one.level, one.code, one)
"""


@pytest.mark.parametrize(("size", "said"), [("50m", True), ("400m", False)])
def test_a_disk_that_is_nearly_full(tmp_path: Path, size: str, said: bool) -> None:
    here = tmp_path / "mounted"
    here.mkdir()
    program = _ON_SMALL_DISK.format(tests=str(Path(__file__).parent), root=str(here))
    command = f'mount -t tmpfs -o size={size} none "$0" && exec "$1" -c "$2"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", command, here, sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = "error disk-nearly-full only 52 MB are free on the disk of this repository; "
    assert done.stdout == (f"{text}free some space\n" if said else "")


# --- the local engine's facts


def test_the_facts_of_the_local_engine_without_a_lock() -> None:
    facts = facts_of_local(LocalEngine("plain"), None)
    assert (facts.kind, facts.isolation, facts.path) == ("local", "none", PATH)
    assert (facts.python, facts.python_fault) == (platform.python_version(), None)
    assert facts.is_ready
    assert facts.can_import is not None
    names = ("pytest", "yaml", "vaibify_lab", "frobnicate")
    assert [facts.can_import(name) for name in names] == [True, True, True, False]
    assert facts.distributions()["yaml"] == ["PyYAML"]


def test_the_facts_of_the_local_engine_with_a_lock_that_is_not_installed() -> None:
    own = "{}.{}".format(*sys.version_info)
    facts = facts_of_local(LocalEngine("plain"), lock_of("numpy", python=own))
    assert (facts.python, facts.python_fault) == (platform.python_version(), None)
    assert (facts.can_import, facts.is_ready) == (None, False)


def test_the_facts_of_the_local_engine_with_a_lock_for_a_python_that_is_not_here() -> None:
    facts = facts_of_local(LocalEngine("plain"), lock_of("numpy", python="3.99"))
    assert facts.python is None
    assert facts.python_fault is not None
    assert facts.python_fault.text == "asks for Python 3.99, which is not installed here"
