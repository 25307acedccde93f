"""What a step may not write, on each tier: denied, or told with its path; and odd outputs."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made, git
from tests.runs.here import TIERS, not_regular, record, run_here, step

ADD = 'echo "# bad" >> "$1" 2>/dev/null; echo 1 > o.txt\n'
# step: what it writes, the reason's code where nothing denies it
TARGETS = {
    "input": ("data/in.txt", "changed-while-running"),
    "code": ("scripts/add.sh", "changed-while-running"),
    "others-input": ("data/other.txt", "forbidden-write"),
    "others-code": ("scripts/other.sh", "forbidden-write"),
    "others-output": ("other/o.txt", "forbidden-write"),
    "others-folder": ("folder/new.txt", "forbidden-write"),
    "workflow": ("workflow.json", "forbidden-write"),
    "second": (".vaibify/workflows/second.json", "forbidden-write"),
    "manifest": ("MANIFEST.sha256", "forbidden-write"),
    "lock": ("requirements.lock", "forbidden-write"),
    "environment": (".vaibify/environment.json", "forbidden-write"),
    "record": (".vaibify/records/workflow/other.json", "fact-changed"),
    "marker": (".vaibify/test_markers/workflow/other.json", "fact-changed"),
    "sign-off": (".vaibify/sign_offs/workflow/sign-off.json", "fact-changed"),
    "seconds-record": (".vaibify/records/second/one.json", "forbidden-write"),
    "seconds-output": ("s.txt", "forbidden-write"),
    "hook": (".git/hooks/post-commit", "git-changed"),
}
FILES: dict[str, str | bytes] = {
    "data/in.txt": "1\n",
    "data/other.txt": "1\n",
    "scripts/add.sh": ADD,
    "scripts/other.sh": "echo 1 > folder/a.txt; cat data/other.txt > other/o.txt\n",
    "MANIFEST.sha256": "",
}


def writing(names: list[str], *, in_root: bool) -> list[dict[str, Any]]:
    """Return a step for each target, in a directory of its own or in the root."""
    found = [
        step(
            "Other",
            "bash scripts/other.sh",
            out=["other/o.txt", "folder/"],
            saInputDataFiles=["data/other.txt"],
        )
    ]
    for name in names:
        target = TARGETS[name][0]
        place = {} if in_root else {"sDirectory": f"w/{name}"}
        more: dict[str, Any] = {**place, "saScripts": ["scripts/add.sh"]}
        if name == "input":
            more["saInputDataFiles"] = [target]
        where = "" if in_root else "cd {sRepoRoot}/w/" + name + " && "
        command = where + 'bash "{sRepoRoot}/scripts/add.sh" "{sRepoRoot}/' + target + '"'
        if in_root:
            command += f" && mv o.txt w/{name}/o.txt"
        found.append(step(name.title().replace("-", " "), command, out=f"w/{name}/o.txt", **more))
    return found


def project(root: Path, names: list[str], *, in_root: bool) -> Made:
    """Return a project whose first step has run, with all the targets there."""
    made = Made.new(root, writing(names, in_root=in_root), FILES)
    made.workflow([step("One", "echo 1 > s.txt", out="s.txt")], at=".vaibify/workflows/second.json")
    made.write(".vaibify/test_markers/workflow/other.json", "{}")
    made.write(".vaibify/records/second/one.json", "{}")
    made.write(".git/hooks/post-commit", "#!/bin/sh\n")
    made.write(".vaibify/sign_offs/workflow/other.json", "{}")
    assert run_here(made, "other").steps == {"other": "passed"}
    return made


def content(made: Made, target: str) -> bytes | None:
    """Return a target's bytes, None where it is not."""
    path = made.root / target
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("tier", ["bwrap", "plain"])
def test_code_that_a_step_writes_itself_and_runs(tmp_path: Path, tier: str) -> None:
    """It is none that a clone must have; edited by somebody else it counts."""
    script = "cat > w/job.py <<'X'\nopen('w/o.txt', 'w').write('1')\nX\npython w/job.py\n"
    steps = [step("One", "bash run.sh", out="w/o.txt")]
    made = Made.new(tmp_path / "p", steps, {"run.sh": script})
    for _ in range(3):
        assert run_here(made, "one", tier=tier).steps == {"one": "passed"}
        assert made.states()["one"][0] == "current"
    assert list(record(made, "one").own_code) == ["w/job.py"]
    made.project().envelope("manifest")
    assert "job.py" not in made.read("MANIFEST.sha256")
    good = made.read("w/job.py")
    made.write("w/job.py", good + "# edited\n")
    assert made.states()["one"][0] == "stale"
    (made.root / "w/job.py").unlink()
    assert made.states()["one"][0] == "current"


@pytest.mark.parametrize(
    "script",
    [
        "echo 'echo 1 > w/o.txt' > w/ignored.sh; bash w/ignored.sh",
        "for i in {1..250}; do echo > w/a$i; done; echo 'echo 1 > w/o.txt' > w/z.sh; bash w/z.sh",
        "[ -e w/once.sh ] || echo 'echo 1 > w/o.txt' > w/once.sh; bash w/once.sh",
    ],
)
def test_code_that_a_step_writes_is_its_own_though_nobody_names_it(
    tmp_path: Path, script: str
) -> None:
    """Where git ignores it, where it is one of many, and where it is written only once."""
    files = {"run.sh": script, ".gitignore": "ignored.sh\n"}
    made = Made.new(tmp_path / "p", [step("One", "bash run.sh", out="w/o.txt")], files)
    for _ in range(3):
        assert run_here(made, "one", tier="bwrap").steps == {"one": "passed"}
        assert made.states()["one"][0] == "current"
    (own,) = record(made, "one").own_code
    made.write(own, "echo 1 > w/o.txt # edited\n")
    assert made.states()["one"][0] == "stale"


def test_code_that_a_step_wrote_before_is_its_own_in_a_sealed_run(tmp_path: Path) -> None:
    """It is written anew in the sealed tree, and what lies in the project is not looked at."""
    script = 'echo "echo $(cat in.txt) > w/o.txt" > w/job.sh; bash w/job.sh'
    one = step("One", script, out="w/o.txt", saInputDataFiles=["in.txt"])
    made = Made.new(tmp_path / "p", [one], {"in.txt": "1\n"})
    for text, sealed in (("1", False), ("1", True), ("1", True), ("2", True), ("2", False)):
        made.write("in.txt", f"{text}\n")
        ran = run_here(made, "one", tier="bwrap", sealed=sealed)
        assert (ran.steps, made.states()["one"][0]) == ({"one": "passed"}, "current")
    made.write("w/job.sh", "echo 3 > w/o.txt\n")
    run_here(made, "one", tier="bwrap", sealed=True)
    assert made.states()["one"][0] == "stale", "what somebody edited is not what ran"


@pytest.mark.parametrize("tier", TIERS)
def test_a_step_in_its_own_directory_is_denied_or_told(tmp_path: Path, tier: str) -> None:
    made = project(tmp_path / "p", list(TARGETS), in_root=False)
    before = {name: content(made, target) for name, (target, _) in TARGETS.items()}
    ran = run_here(made, *TARGETS, mode="only", tier=tier, jobs=1)
    now = {name: content(made, target) for name, (target, _) in TARGETS.items()}
    if tier != "plain":
        assert ran.steps == dict.fromkeys(TARGETS, "passed")
        assert now == before, "denied"
        return
    assert ran.steps == dict.fromkeys(TARGETS, "failed")
    told = {name: (record(made, name).reason_code, record(made, name).reason) for name in TARGETS}
    for name, (target, code) in TARGETS.items():
        named = name == "others-code"  # a script that its command names is its own code as well
        assert told[name][0] == ("changed-while-running" if named else code), (name, told[name])
        assert (".git" if name == "hook" else target) in told[name][1]
        assert not (made.root / f"w/{name}/o.txt").exists(), "its output is nobody's"


def test_another_steps_sign_off_that_changes_is_named(tmp_path: Path) -> None:
    forge = "echo '{}' > ../.vaibify/sign_offs/workflow/other.json; echo 1 > o.txt"
    made = project(tmp_path / "p", [], in_root=False)
    other = writing([], in_root=False)
    made.workflow([*other, step("Forge", forge, out="f/o.txt", sDirectory="f")])
    ran = run_here(made, "forge", mode="only", tier="plain")
    path = ".vaibify/sign_offs/workflow/other.json"
    assert [one["text"] for one in ran.of("warning", "forge") if one.get("path") == path] == [
        f"ran while the sign-off {path} changed: make sure that a person did it"
    ]


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_a_step_in_the_root_is_told_by_the_stamps_and_kept_from_git(
    tmp_path: Path, tier: str
) -> None:
    names = ["code", "others-output", "workflow", "lock", "second", "record", "hook"]
    made = project(tmp_path / "p", names, in_root=True)
    hook = made.read(".git/hooks/post-commit")
    ran = run_here(made, *names, mode="only", tier=tier, jobs=1)
    inside = {"second", "record", "hook"}  # bubblewrap lays .git and .vaibify read-only over it
    expected = {one: "passed" if tier == "bwrap" and one in inside else "failed" for one in names}
    assert ran.steps == expected
    for name in names:
        if expected[name] == "failed":
            assert record(made, name).reason_code == TARGETS[name][1], record(made, name).reason
    assert (made.read(".git/hooks/post-commit") == hook) is (tier == "bwrap")
    seen = record(made, names[0]).engine["cannot_prevent"]
    assert ("git" in [one["code"] for one in seen]) is (tier == "landlock"), "told as possible"


@pytest.mark.parametrize("tier", TIERS)
def test_a_planted_repository_is_moved_out_of_reach(tmp_path: Path, tier: str) -> None:
    evil = tmp_path / "evil-ran"
    config = (
        "mkdir -p sub/.git/objects sub/.git/refs && echo ref: refs/heads/main > sub/.git/HEAD"
        f" && printf '[core]\\n\\tfsmonitor = touch {evil}\\n' > sub/.git/config && echo 1 > o.txt"
    )
    deep = "/".join(["n" * 100] * 3)
    steps = [
        step("Folder", config, out="a/o.txt", sDirectory="a"),
        step(
            "File",
            f"mkdir -p {deep} && echo 'gitdir: /x' > {deep}/.git && echo 1 > o.txt",
            out="b/o.txt",
            sDirectory="b",
        ),
        step("Link", "ln -s ../a .git && echo 1 > o.txt", out="c/o.txt", sDirectory="c"),
        step("Case", "mkdir .GIT && echo 1 > o.txt", out="d/o.txt", sDirectory="d"),
        step("Output", "mkdir .git && echo 1 > .git/config && echo 1 > o.txt", out="e/"),
    ]
    steps[4]["saDataCommands"] = ["cd e && " + steps[4]["saDataCommands"][0]]
    made = Made.new(tmp_path / "p", steps, {"a/kept.txt": ""})
    ran = run_here(made, tier=tier, jobs=1)
    assert set(ran.steps.values()) == {"failed"}
    for name, path in {
        "folder": "a/sub/.git",
        "file": f"b/{deep}/.git",
        "link": "c/.git",
        "case": "d/.GIT",
        "output": "e/.git",
    }.items():
        found = record(made, name)
        assert (found.reason_code, path in found.reason) == ("planted-repository", True)
        assert not os.path.lexists(made.root / path)
    kept = list(ran.place("quarantine").iterdir())
    assert len(kept) == 6, "five, and the HEAD of one that git would know by it under any name"
    git(made.root, "status")
    git(made.root, "add", "-A")
    assert not evil.exists()


def test_a_changed_git_configuration_is_told_and_what_is_harmless_is_not(tmp_path: Path) -> None:
    def configured(name: str, *args: str) -> dict[str, Any]:
        return step(
            name,
            f"git -C .. config {' '.join(args)}; echo 1 > o.txt",
            out=f"{name}/o.txt",
            sDirectory=name,
        )

    steps = [
        configured("branch", "branch.side.remote", "origin"),
        configured("url", "remote.origin.url", "https://example.org/x.git"),
        configured("monitor", "core.fsmonitor", "true"),
        configured("ext", "remote.evil.url", "'ext::sh -c x'"),
        configured("filter", "filter.x.clean", "cat"),
        configured("unknown", "some.new", "key"),
        step(
            "broken",
            "echo '[[[' >> ../.git/config; echo 1 > o.txt",
            out="broken/o.txt",
            sDirectory="broken",
        ),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    ran = run_here(made, tier="plain", jobs=1)
    bad = ["monitor", "ext", "filter", "unknown", "broken"]
    assert ran.steps == {"branch": "passed", "url": "passed"} | dict.fromkeys(bad, "failed")
    assert {record(made, name).reason_code for name in bad} == {"git-changed"}


def test_another_git_folder_in_its_place_and_another_branch(tmp_path: Path) -> None:
    steps = [
        step(
            "Swap",
            "cp -r ../.git new && mv ../.git old && mv new ../.git && echo 1 > o.txt",
            out="a/o.txt",
            sDirectory="a",
        ),
        step(
            "Branch",
            "git -C .. symbolic-ref HEAD refs/heads/side; echo 1 > o.txt",
            out="b/o.txt",
            sDirectory="b",
        ),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    assert run_here(made, "branch", tier="plain").steps == {"branch": "passed"}
    ran = run_here(made, "swap", tier="plain")
    assert ran.steps == {"swap": "failed"}
    assert record(made, "swap").reason_code == "git-changed"


def test_a_branch_that_is_switched_during_a_run_is_noticed(tmp_path: Path) -> None:
    steps = [
        step(
            "Branch",
            "git -C .. symbolic-ref HEAD refs/heads/side; echo 1 > o.txt",
            out="b/o.txt",
            sDirectory="b",
        )
    ]
    made = Made.new(tmp_path / "p", steps, {})
    ran = run_here(made, tier="plain")
    assert "ran while git's branch or commit changed" in ran.texts("warning", "branch")


@pytest.mark.parametrize("tier", TIERS)
def test_undeclared_files_are_named_but_not_those_that_git_ignores_nor_byte_code(
    tmp_path: Path, tier: str
) -> None:
    command = (
        "echo 1 > o.txt; echo 1 > extra.txt; echo 1 > $'odd\\nname'; echo 1 > x.log;"
        " mkdir -p __pycache__ sub; echo 1 > __pycache__/m.pyc; echo 1 > sub/deep.txt; rm kept.txt"
    )
    made = Made.new(
        tmp_path / "p",
        [step("One", command, out="w/o.txt", sDirectory="w")],
        {".gitignore": "*.log\n", "w/kept.txt": ""},
    )
    ran = run_here(made, tier=tier)
    assert ran.steps == {"one": "passed"}
    named = ("w/extra.txt", "w/kept.txt", "w/odd\nname", "w/sub/deep.txt")
    assert record(made, "one").undeclared_writes == named
    said = [one["path"] for one in ran.of("warning", "one")]
    assert said == list(named)
    assert ran.texts("note", "one") == ["2 files written that git ignores, or byte code: not named"]
    notes = [one.path for one in made.steps()["one"].notes if one.code == "undeclared-write"]
    assert notes == list(named)


def test_thousands_of_undeclared_files_are_counted(tmp_path: Path) -> None:
    command = "echo 1 > o.txt; for i in $(seq 3000); do : > f$i; done"
    made = Made.new(tmp_path / "p", [step("One", command, out="w/o.txt", sDirectory="w")], {})
    ran = run_here(made)
    assert ran.steps == {"one": "passed"}
    assert len(record(made, "one").undeclared_writes) == 200
    assert ran.texts("warning", "one")[-1] == "wrote 2995 more files that no step declares"


@pytest.mark.parametrize("tier", ["bwrap", "plain"])
def test_steps_that_run_together_do_not_accuse_each_other(tmp_path: Path, tier: str) -> None:
    def slow(name: str, other: str) -> dict[str, Any]:
        write = "for i in 1 2 3 4 5 6; do echo $i > o.txt; echo $i > more$i.txt; sleep 0.1; done"
        meet = f"for i in $(seq 600); do [ -e ../{other}/more6.txt ] && break; sleep 0.1; done"
        return step(name, f"{write}; {meet}", out=f"{name}/o.txt", sDirectory=name)

    made = Made.new(tmp_path / "p", [slow("a", "b"), slow("b", "a")], {})
    ran = run_here(made, tier=tier, jobs=2)
    assert ran.steps == {"a": "passed", "b": "passed"}
    starts = [one["time"] for one in ran.of("stepStarted")]
    assert max(starts) < min(one["time"] for one in ran.of("stepPass")), "they overlapped"
    for name in ("a", "b"):
        told = record(made, name).undeclared_writes
        assert told == tuple(f"{name}/more{number}.txt" for number in range(1, 7))


@pytest.mark.parametrize("tier", TIERS)
def test_an_output_that_is_no_regular_file_is_refused_and_the_old_one_is_back(
    tmp_path: Path, tier: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("1\n")
    commands = {
        **not_regular(secret),
        "missing": "echo 1 > missing/p.txt",
        "inside": f"ln -s {secret} inside/a.txt; echo 1 > inside/b.txt",
        "empty": "true",
    }
    steps = [
        step(name, command, out=f"{name}/" if name in ("inside", "empty") else f"{name}/o.txt")
        for name, command in commands.items()
    ]
    files = {f"{name}/o.txt": "old\n" for name in commands}
    made = Made.new(tmp_path / "p", steps, files)
    began = time.monotonic()
    ran = run_here(made, tier=tier, jobs=2)
    assert time.monotonic() - began < 60
    assert ran.steps == dict.fromkeys(commands, "failed")
    for name in commands:
        found = record(made, name)
        codes = {"missing": "output-missing", "empty": "output-missing"}
        if name == "device" and tier != "plain":
            assert found.reason_code == "exit", found.reason  # no device can be made
        else:
            assert found.reason_code == codes.get(name, "output-unusable"), (name, found.reason)
            assert f"{name}/" in found.reason
        assert made.read(f"{name}/o.txt") == "old\n"
    assert "p.txt, which no step declares" in record(made, "missing").reason
    fifo = ran.place("leftovers/fifo/fifo/o.txt").lstat()
    assert stat.S_ISFIFO(fifo.st_mode), "what it left is kept"
    assert ran.place("leftovers/link/link/o.txt").is_symlink()
    assert secret.read_text() == "1\n"


def test_an_output_folder_that_leads_to_the_host_is_refused_and_nothing_there_changes(
    tmp_path: Path,
) -> None:
    host = tmp_path / "host"
    host.mkdir()
    (host / "mine.txt").write_text("mine\n")
    steps = [
        step("Folder", "echo 1 > out/mine.txt", out="out/"),
        step("Above", "echo 1 > above/mine.txt", out="above/mine.txt"),
        step("Directory", "echo 1 > mine.txt", out="dir/mine.txt", sDirectory="dir"),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    for name in ("out", "above", "dir"):
        (made.root / name).symlink_to(host)
    for name, path in {"folder": "out", "above": "above", "directory": "dir"}.items():
        end = run_here(made, name).end
        assert (end["event"], path in end["text"]) == ("runRefused", True), end
    assert (os.listdir(host), (host / "mine.txt").read_text()) == (["mine.txt"], "mine\n")


@pytest.mark.parametrize("tier", TIERS)
def test_a_step_that_puts_a_link_in_place_of_its_outputs_folder(tmp_path: Path, tier: str) -> None:
    host = tmp_path / "host"
    host.mkdir()
    command = f"mv d/sub gone && ln -s {host} d/sub && exit 1"
    made = Made.new(
        tmp_path / "p",
        [step("Link", command, out="d/sub/o.txt")],
        {"d/sub/o.txt": "old\n", "d/sub/k.txt": ""},
    )
    ran = run_here(made, tier=tier)
    assert ran.steps == {"link": "failed"}
    assert (made.root / "d/sub").is_dir() and not (made.root / "d/sub").is_symlink()
    assert made.read("d/sub/o.txt") == "old\n"
    assert os.listdir(host) == []
    assert ran.place("leftovers/link/d/sub").is_symlink()


@pytest.mark.parametrize("tier", TIERS)
def test_write_anywhere_lets_a_step_write_and_still_not_what_belongs_to_others(
    tmp_path: Path, tier: str
) -> None:
    steps = [
        step("Free", "echo 1 > ../else/x.txt; echo 1 > o.txt", out="a/o.txt", sDirectory="a"),
        step("Bad", "echo 1 >> ../data/in.txt; echo 1 > o.txt", out="b/o.txt", sDirectory="b"),
        step("Use", "cat data/in.txt > c/o.txt", out="c/o.txt", saInputDataFiles=["data/in.txt"]),
    ]
    for one in steps[:2]:
        one["bWriteAnywhere"] = True
    made = Made.new(tmp_path / "p", steps, {"else/k.txt": "", "data/in.txt": "1\n"})
    ran = run_here(made, "free", "bad", tier=tier, jobs=2)
    assert ran.steps == {"free": "passed", "bad": "failed"}
    assert record(made, "free").undeclared_writes == ("else/x.txt",)
    assert record(made, "bad").reason_code == "forbidden-write"
    assert "data/in.txt" in record(made, "bad").reason


@pytest.fixture
def open_place() -> Iterator[Path]:
    """Give a folder that everybody can reach; pytest's own are root's."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)


def test_a_read_only_folder_that_a_step_leaves_can_still_be_moved(open_place: Path) -> None:
    """As anybody but root: a folder without the right to write cannot be renamed elsewhere."""
    made = Made.new(open_place / "p", [step("One", "true", out="out/")], {"out/a.txt": "old\n"})
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from vaibify_lab.files.tree import Tree\n"
        "from vaibify_lab.runs.aside import Aside\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "aside = Aside(Tree(Path(sys.argv[1])), 'r1', 'workflow', 'one')\n"
        "os.chmod('out', 0o555)\n"
        "aside.take(['out/'])\n"
        "os.mkdir('out'); Path('out/new.txt').write_text('new'); os.chmod('out', 0o555)\n"
        "assert aside.put_back() == ['out']\n"
    )
    for here, _, files in os.walk(made.root):
        for path in (here, *(os.path.join(here, name) for name in files)):
            os.chown(path, 65534, 65534)
    done = subprocess.run(
        [sys.executable, "-c", script, str(made.root)],
        cwd=made.root,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert made.read("out/a.txt") == "old\n"
    kept = made.root / ".vaibify/local/runs/r1/leftovers/one/out/new.txt"
    assert kept.read_text() == "new"
