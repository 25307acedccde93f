"""``init``, ``doctor``, ``check``, ``status``, ``verify``, ``sign-off``, ``envelope``, ``demo``."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.apps.front import SCRIPT, on_a_terminal, surroundings, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git

WRITTEN = (
    "vaibify.yml",
    "container.conf",
    "workflow.json",
    "requirements.in",
    ".vaibify/.gitignore",
    ".gitattributes",
)


@pytest.fixture
def chain(tmp_path: Path) -> Made:
    return Made.new(tmp_path / "r", CHAIN, CHAIN_FILES)


@pytest.fixture
def ran(chain: Made) -> Made:
    assert chain.run()["outcome"] == "passed"
    return chain


def test_init_writes_and_leaves(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    done = vaibify(tmp_path / "sub", "init", "--name", "my-analysis")
    wrote = "".join(f"✓ wrote {path}\n" for path in WRITTEN)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"{wrote}Next: describe your steps in workflow.json, then jupyter vaibify run\n"
    )
    assert json.loads((tmp_path / "workflow.json").read_text())["sWorkflowName"] == "my-analysis"
    again = vaibify(tmp_path, "init", "--json")
    assert json.loads(again.out)["left"] == list(WRITTEN)
    assert json.loads(again.out)["written"] == []


def test_init_refuses_a_name_and_no_repository(tmp_path: Path) -> None:
    done = vaibify(tmp_path, "init")
    text = f"jupyter vaibify init: {tmp_path}: is not inside a git repository; git init\n"
    assert (done.code, done.err) == (2, text)
    git(tmp_path, "init", "-q")
    bad = vaibify(tmp_path, "init", "--name", "a b/c")
    assert (bad.code, bad.out) == (2, "")
    assert "'a b/c' cannot be a project's name" in bad.err
    assert not (tmp_path / "workflow.json").exists()


def test_doctor_lists_and_judges(chain: Made, tmp_path: Path) -> None:
    done = vaibify(chain.root, "doctor", "--json")
    codes = {one["code"]: one["level"] for one in json.loads(done.out)["findings"]}
    assert (done.code, codes["git"], codes["bash"], codes["uv"]) == (0, "ok", "ok", "ok")
    programs = tmp_path / "bin"
    programs.mkdir()
    os.symlink(str(shutil.which("env")), programs / "env")
    without = vaibify(chain.root, "doctor", env={"PATH": str(programs)})
    assert without.code == 1
    assert "✗ error   git is not installed; install git\n" in without.out
    assert without.err == "jupyter vaibify doctor: git is not installed; install git\n"


def test_check_finds_what_is_wrong_and_exits_1(chain: Made) -> None:
    good = vaibify(chain.root, "check", "--json")
    assert (good.code, json.loads(good.out)["passed"]) == (0, True)
    (chain.root / "data/in.txt").unlink()
    done = vaibify(chain.root, "check")
    text = "step 'make': input 'data/in.txt' does not exist"
    assert done.code == 1
    assert f"✗ error   {text}" in done.out
    assert done.err.startswith(f"jupyter vaibify check: {text}")
    assert done.err.count("\n") == 1
    found = json.loads(vaibify(chain.root, "check", "--json").out)
    (error,) = [one for one in found["findings"] if one["level"] == "error"]
    assert (found["passed"], error["step"], error["path"]) == (False, "make", "data/in.txt")


def test_check_publish_names_what_a_clone_would_lack(ran: Made) -> None:
    done = vaibify(ran.root, "check", "--publish", "--json")
    found = {(one["code"], one.get("path")) for one in json.loads(done.out)["findings"]}
    assert done.code == 1
    assert ("no-manifest", "MANIFEST.sha256") in found
    assert ("untracked", "out/a.txt") in found
    assert vaibify(ran.root, "envelope").code == 0
    ran.commit()
    assert vaibify(ran.root, "check", "--publish").code == 0


def test_status_is_exit_0_and_the_same_for_all_and_for_one(ran: Made) -> None:
    done = vaibify(ran.root, "status", "--json")
    whole = json.loads(done.out)
    part = json.loads(vaibify(ran.root, "status", "use", "--json").out)
    assert (done.code, done.err) == (0, "")
    assert [one["slug"] for one in whole["steps"]] == ["make", "use"]
    assert part["steps"] == whole["steps"][1:]
    assert part["levels"] == whole["levels"]
    assert "plan" not in whole
    ran.write("data/in.txt", "7\n")
    why = json.loads(vaibify(ran.root, "status", "--why", "--json").out)
    assert [(one["slug"], one["action"]) for one in why["plan"]] == [
        ("make", "if-needed"),
        ("use", "if-needed"),
    ]
    text = vaibify(ran.root, "status", "--why").out
    assert "   run would run it if it still differs by then: " in text
    assert "data/in.txt" in text
    unknown = vaibify(ran.root, "status", "nosuch")
    assert (unknown.code, unknown.err) == (
        2,
        "jupyter vaibify status: workflow.json: there is no step 'nosuch' (there are: make, use)\n",
    )


def test_e07_answers_that_agree(ran: Made) -> None:
    ran.sign("make")
    ran.write("out/a.txt", "changed\n")
    whole = json.loads(vaibify(ran.root, "status", "--json").out)
    assert json.loads(vaibify(ran.root / "data", "verify", "--json").out) == whole
    assert ran.project().report().to_json() == whole
    for step in whole["steps"]:
        one = json.loads(vaibify(ran.root, "status", step["slug"], "--json").out)
        assert one == whole | {"steps": [step]}
        assert step["slug"] in vaibify(ran.root, "status", step["name"]).out


def test_status_always_says_what_the_isolation_was(ran: Made) -> None:
    done = vaibify(ran.root, "status")
    assert "not in a container" in done.out


def test_status_in_a_subfolder_and_of_another_folder(ran: Made) -> None:
    here = vaibify(ran.root, "status").out
    assert vaibify(ran.root / "data", "status").out == here
    assert vaibify(Path("/"), "status", "--repo", str(ran.root)).out == here
    assert vaibify(ran.root, "status", "--workflow", "workflow").out == here
    none = vaibify(ran.root, "status", "--workflow", "other")
    assert (none.code, none.out) == (2, "")


def test_a_second_workflow_file_in_a_folder_is_told_of(ran: Made) -> None:
    inner = ran.root / "sub"
    inner.mkdir()
    assert vaibify(inner, "status").err == ""
    (inner / "workflow.json").write_text(ran.read("workflow.json"))
    told = vaibify(inner, "status")
    assert (told.out, told.code) == (vaibify(ran.root, "status").out, 0)
    assert told.err == (
        "jupyter vaibify: note: sub/workflow.json is passed over: a repository has one "
        "workflow.json; move it to .vaibify/workflows/NAME.json, or git init its folder\n"
    )
    assert vaibify(inner, "status", "--json").err == ""
    assert vaibify(inner, "status", "--workflow", "workflow.json").err == ""
    assert vaibify(ran.root, "status").err == ""


def test_status_fits_a_terminal(ran: Made) -> None:
    done = on_a_terminal(ran.root, "status", "--why", env={"NO_COLOR": "1"})
    assert done.code == 0
    assert max(map(len, done.out.split("\r\n"))) <= 80
    assert "\x1b" not in done.out
    coloured = on_a_terminal(ran.root, "status")
    assert "\x1b[32mcurrent" in coloured.out


def test_verify_judges_every_byte(ran: Made) -> None:
    unsigned = vaibify(ran.root, "verify")
    assert (unsigned.code, unsigned.err) == (
        1,
        "jupyter vaibify verify: not green: make, use; see: jupyter vaibify status --why\n",
    )
    ran.sign("make", "use")
    good = vaibify(ran.root, "verify", "--json")
    assert (good.code, good.err) == (0, "")
    assert all(step["green"] for step in json.loads(good.out)["steps"])
    seen = (ran.root / "out2/b.txt").stat()
    ran.write("out2/b.txt", "9\n")
    os.utime(ran.root / "out2/b.txt", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert vaibify(ran.root, "verify").code == 1


def test_a_sign_off_shows_what_it_signs(ran: Made) -> None:
    done = vaibify(ran.root, "sign-off", "make", "--pass", "--note", "fine")
    sha256 = hashlib.sha256((ran.root / "out/a.txt").read_bytes()).hexdigest()
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "Signing make as PASSED, by Ada Test <ada@example.org>:"
    assert done.out.splitlines()[1].split() == ["out/a.txt", sha256[:12], "2", "bytes"]
    assert ran.steps()["make"].user == "passed"
    failed = vaibify(ran.root, "sign-off", "make", "--fail", "--name", "Bea", "--json")
    answer = json.loads(failed.out)
    assert (answer["verdict"], answer["by"], answer["signed"]) == ("failed", "Bea", False)
    assert answer["hashes"] == {"out/a.txt": sha256}
    assert ran.steps()["make"].user == "failed"


def test_signing_needs_a_name(ran: Made) -> None:
    git(ran.root, "config", "--unset", "user.name")
    done = vaibify(ran.root, "sign-off", "make", "--pass")
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "jupyter vaibify sign-off: signing needs a name: the one of the person who looked; "
        'give --name "Your Name", or: git config user.name and user.email\n',
    )
    empty = vaibify(ran.root, "sign-off", "make", "--pass", "--name", " ")
    assert empty.code == 2
    assert ran.steps()["make"].user == "untested"


def test_signing_what_did_not_pass(chain: Made) -> None:
    done = vaibify(chain.root, "sign-off", "make", "--pass")
    assert (done.code, done.err) == (
        1,
        "jupyter vaibify sign-off: step 'make' has no passed run to sign; "
        "jupyter vaibify run make\n",
    )


@pytest.mark.parametrize(
    ("typed", "code", "user"),
    [("y\n", 0, "passed"), ("n\n", 1, "untested"), ("\n", 1, "untested"), ("\x04", 1, "untested")],
)
def test_a_terminal_is_asked(typed: str, code: int, user: str, ran: Made) -> None:
    done = on_a_terminal(ran.root, "sign-off", "make", "--pass", typed=typed, after="[y/N]")
    assert "Sign? [y/N]" in done.out
    assert (done.code, ran.steps()["make"].user) == (code, user)


def test_ctrl_c_at_the_question_signs_nothing(ran: Made) -> None:
    done = on_a_terminal(ran.root, "sign-off", "make", "--pass", typed="\x03", after="[y/N]")
    assert done.code == 130
    assert done.out.endswith("jupyter vaibify sign-off: interrupted; nothing was signed\r\n")
    assert ran.steps()["make"].user == "untested"


def test_the_envelope_is_written_and_coreutils_agree(ran: Made) -> None:
    done = vaibify(ran.root, "envelope")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1].startswith("✓ MANIFEST.sha256: ")
    subprocess.run(
        ["sha256sum", "--strict", "-c", "MANIFEST.sha256"],
        cwd=ran.root,
        check=True,
        capture_output=True,
    )
    only = vaibify(ran.root, "envelope", "--only", "manifest", "--json")
    assert [one["path"] for one in json.loads(only.out)["written"]] == ["MANIFEST.sha256"]
    bad = vaibify(ran.root, "envelope", "--only", "everything")
    assert bad.code == 2
    assert "--only: invalid choice: 'everything'" in bad.err


def test_a_missing_output_keeps_the_manifest_from_being_written(ran: Made) -> None:
    (ran.root / "out/a.txt").unlink()
    done = vaibify(ran.root, "envelope")
    assert (done.code, done.err) == (
        2,
        "jupyter vaibify envelope: out/a.txt: is missing, so the manifest was not written\n",
    )


def test_the_demo_is_a_repository_ready_to_run(tmp_path: Path) -> None:
    done = vaibify(tmp_path, "demo", "co2", "--base-image", "registry.example.org/slim:3.12")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:2] == ["✓ a project in four steps: co2", "Next:"]
    described = (tmp_path / "co2" / "vaibify.yml").read_text()
    assert "baseImage: registry.example.org/slim:3.12\n" in described
    assert git(tmp_path / "co2", "status", "--porcelain") == ""
    said = git(tmp_path / "co2", "log", "--format=%an <%ae> %cn")
    assert said == "Vaibify Demo <demo@example.org> Vaibify Demo\n"
    four = json.loads(vaibify(tmp_path / "co2", "status", "--json").out)["steps"]
    assert [one["run"] for one in four] == ["never-run"] * 4
    again = vaibify(tmp_path, "demo", "co2")
    assert (again.code, again.out) == (2, "")
    assert again.err.count("\n") == 1


def test_the_demo_says_why_it_cannot_pin_its_packages(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(SCRIPT), "demo", "co2", "--run"],
        cwd=tmp_path,
        env=surroundings(UV_OFFLINE="1", UV_CACHE_DIR=str(tmp_path / "empty")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("jupyter vaibify demo: requirements.in: uv could not make")
    assert done.stderr.count("\n") == 1
