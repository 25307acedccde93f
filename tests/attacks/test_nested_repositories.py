"""Repositories below the top, by which a step would have the host's next git run its command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import Made, git
from tests.runs.here import record, step

from .ground import CONTAINERS, DONE, Ground, content, grounds, told

BARE = "mkdir -p {0}/objects {0}/refs; echo ref: refs/heads/main > {0}/HEAD"
EVIL = (
    "printf '[core]\\n\\tfsmonitor = touch {1}\\n[filter \"x\"]\\n\\tclean = touch {1}\\n' >> {0}"
)


def nested(made: Made, path: str, *, as_gitlink: bool) -> None:
    """Make a repository below the top, with a commit; the outer one may know it as a gitlink."""
    place = made.root / path
    place.mkdir(parents=True)
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("a\n")
    git(place, "add", "a.txt")
    git(place, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "a")
    if as_gitlink:
        git(made.root, "add", path)
        git(made.root, "commit", "-q", "-m", "a gitlink")


def looked_at(made: Made) -> None:
    """Do with the project what its user and we do with git afterwards."""
    made.project().report()
    made.project().check(publish=True)
    git(made.root, "-c", "diff.ignoreSubmodules=all", "status")


@pytest.mark.parametrize("as_gitlink", [False, True], ids=["folder", "gitlink"])
def test_a_repository_that_was_there_is_read_only_or_its_change_is_told(
    ground: Ground, as_gitlink: bool, tmp_path: Path
) -> None:
    evil = tmp_path / "evil-ran"
    attack = EVIL.format("sub/.git/config", evil)
    commands = f"{attack}; echo '* filter=x' > sub/.gitattributes; echo 1 > sub/a.txt; {DONE}"
    made = ground.made([step("Evil", commands, out="own/o.txt", sDirectory="own")], {})
    nested(made, "own/sub", as_gitlink=as_gitlink)
    ground.hand_over(made)
    before = content(made.root, "own/sub/.git")
    ran = ground.run(made)
    looked_at(made)
    assert not evil.exists(), "not by us"
    if ground.mounts:
        assert ran.steps == {"evil": "passed"}
        git(made.root, "status")
        git(made.root, "add", "-A")
        assert not evil.exists(), "nor by anybody"
        now = content(made.root, "own/sub/.git")
        assert {path for path in now if now[path] != before.get(path)} <= {"own/sub/.git/index"}
        return
    assert ran.steps == {"evil": "failed"}
    assert "own/sub/.git/config" in told(made, ran, "evil")
    assert "links" in [one["code"] for one in record(made, "evil").engine["cannot_prevent"]]


@grounds(*CONTAINERS, "bwrap", "plain")
def test_a_repository_that_a_step_makes_is_moved_out_of_reach(
    ground: Ground, tmp_path: Path
) -> None:
    """By a ``.git`` folder or file, or bare: git takes that one for a repository by any name."""
    evil = tmp_path / "evil-ran"
    folder = f"{BARE} && {EVIL.replace('{0}', '{0}/config')}".format("sub/.git", evil)
    bare = f"{BARE} && {EVIL.replace('{0}', '{0}/config')}".format("plain", evil)
    file = "mkdir ext && echo 'gitdir: ../../elsewhere' > ext/.git"
    made = ground.made(
        [step("Evil", f"{folder}; {bare}; {file}; {DONE}", out="own/o.txt", sDirectory="own")], {}
    )
    ran = ground.run(made)
    assert ran.steps == {"evil": "failed"}
    said = told(made, ran, "evil")
    for path in ("own/sub/.git", "own/plain/HEAD", "own/ext/.git"):
        assert f"made a git repository at {path}, which was moved out of reach" in said
        assert not (made.root / path).exists()
    for place in ("own/sub", "own/plain"):
        git(made.root / place, "status")
    git(made.root, "add", "-A")
    looked_at(made)
    assert not evil.exists()


@grounds("bwrap", "plain")
def test_what_gits_configuration_names_in_the_project_is_watched(ground: Ground) -> None:
    """Hooks, included settings and filters that lie where a step may write."""
    steps = [
        step("Hook", "echo evil > hooks/post-commit; echo 1 > o.txt", out="a/o.txt"),
        step("Include", "echo '[core]' >> more.conf; echo 1 > o.txt", out="b/o.txt"),
        step("Filter", "echo evil >> clean.sh; echo 1 > o.txt", out="c/o.txt"),
        step("Other", "echo 1 > more.txt; echo 1 > o.txt", out="d/o.txt"),
    ]
    for one, folder in zip(steps, "abcd", strict=True):
        one["sDirectory"] = folder
    made = ground.made(steps, {"a/hooks/pre-commit": "", "b/more.conf": "", "c/clean.sh": ""})
    git(made.root, "config", "core.hooksPath", "a/hooks")
    git(made.root, "config", "include.path", "../b/more.conf")
    git(made.root, "config", "filter.x.clean", "sh c/clean.sh %f")
    ran = ground.run(made, jobs=1)
    failed = {"hook": "a/hooks/post-commit", "include": "b/more.conf", "filter": "c/clean.sh"}
    assert ran.steps == dict.fromkeys(failed, "failed") | {"other": "passed"}
    for slug, path in failed.items():
        assert record(made, slug).reason_code == "git-changed"
        assert path in told(made, ran, slug)


@grounds("bwrap")
def test_a_step_that_may_write_where_git_keeps_the_repository_is_refused(ground: Ground) -> None:
    made = ground.made([step("Evil", DONE, out="own/o.txt", sDirectory="own")], {"own/x": ""})
    (made.root / ".git").rename(made.root / "own/real")
    (made.root / ".git").write_text("gitdir: own/real\n")
    ran = ground.run(made)
    assert "passed" not in ran.end.get("steps", {}).values()
    said = str(ran.events)
    assert "holds this git repository, and the step may write there" in said
    assert "own/real" in said


@grounds("bwrap", "plain")
def test_a_file_left_to_run_with_its_owners_rights_loses_them(ground: Ground) -> None:
    command = f"cp /bin/sh sh; chmod 6755 sh; {DONE}"
    made = ground.made([step("Evil", command, out="own/o.txt", sDirectory="own")], {})
    ran = ground.run(made)
    assert ran.steps == {"evil": "failed"}
    assert record(made, "evil").reason_code == "privileged-file"
    assert "own/sh" in told(made, ran, "evil")
    assert (made.root / "own/sh").stat().st_mode & 0o7777 == 0o755


@grounds("bwrap", "plain")
def test_folders_nested_beyond_any_path_are_moved_out_of_the_way(ground: Ground) -> None:
    deep = "import os\nfor _ in range(600): os.mkdir('d'); os.chdir('d')\n"
    command = f"python3 ../deep.py; {DONE}"
    made = ground.made(
        [step("Evil", command, out="own/o.txt", sDirectory="own")], {"deep.py": deep}
    )
    ran = ground.run(made)
    assert ran.steps == {"evil": "failed"}
    assert "nested folders too deeply: own/d/d" in told(made, ran, "evil")
    git(made.root, "status")
    looked_at(made)
