"""``check --publish`` on real git repositories, each verdict compared with a real clone."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from vaibify_lab.ceremony.publishable import publish_findings
from vaibify_lab.core.finding import Finding
from vaibify_lab.envelope.manifest import NAME, format_manifest, parse_manifest
from vaibify_lab.files.git import Repository
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.tree import Tree

FACT = ".vaibify/records/workflow/fit.json"
FILES = {
    "data.csv": b"x,y\n1,2\n",
    "workflow.json": b"{}\n",
    FACT: b"{}\n",
    ".gitattributes": b"* -text\n",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def git(folder: Path, *args: str) -> str:
    command = ["git", "-c", "protocol.file.allow=always", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def start(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ana")
    git(folder, "config", "user.email", "ana@example.org")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = start(tmp_path / "project")
    write(folder, FILES)
    return folder


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def archive(root: Path, *more: str) -> None:
    """Write the manifest as the envelope would."""
    paths = ["data.csv", "workflow.json", *more]
    hashes = {path: hashlib.sha256((root / path).read_bytes()).hexdigest() for path in paths}
    write(root, {NAME: format_manifest(hashes)})


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")


def publish(root: Path, *more: str) -> list[Finding]:
    repository, tree = Repository.find(root), Tree(root)
    manifest = parse_manifest(tree.read(NAME)) if tree.lstat(NAME) else None
    listed = [entry.path for entry in manifest.entries] if manifest else []
    paths = [*listed, NAME, FACT, *more]
    states, blobs = StatCache(tree, None).observe_both(paths, repository.snapshot().object_format)
    return publish_findings(repository, blobs, manifest, states)


def by_hand_in_a_clone(root: Path, *options: str) -> tuple[int, str]:
    """Clone and run ``sha256sum -c``; return its exit code and the lines that are not OK."""
    clone = root.parent / "clone"
    git(root, "clone", "-q", *options, str(root), str(clone))
    command = ["sha256sum", "-c", NAME]
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    bad = [line for line in done.stdout.splitlines() if not line.endswith(": OK")]
    return done.returncode, "\n".join(bad)


def test_a_committed_project_is_ready(root: Path) -> None:
    archive(root)
    commit(root)
    assert publish(root) == []
    assert by_hand_in_a_clone(root) == (0, "")


def test_g07_output_inside_a_nested_repository(root: Path) -> None:
    inner = start(root / "sub/inner")
    write(root, {"sub/inner/o.csv": b"1\n"})
    commit(inner)
    archive(root, "sub/inner/o.csv")
    commit(root)
    assert publish(root) == [
        Finding(
            "error",
            "nested",
            "sub/inner/o.csv: o.csv lies in another repository (sub/inner) and will not be in a "
            "clone",
            None,
            "sub/inner/o.csv",
            "move it out of that repository",
        )
    ]
    assert by_hand_in_a_clone(root) == (1, "sub/inner/o.csv: FAILED open or read")


def test_g08_declared_output_is_ignored_by_git(root: Path) -> None:
    write(root, {".gitignore": b"*.log\nout/\n", "out/r.csv": b"1\n"})
    archive(root, "out/r.csv")
    commit(root)
    assert publish(root) == [
        Finding(
            "error",
            "ignored",
            "out/r.csv is ignored by git (.gitignore:2: out/)",
            None,
            "out/r.csv",
            "git add -f -- out/r.csv && git commit, or change that rule",
        )
    ]
    assert by_hand_in_a_clone(root) == (1, "out/r.csv: FAILED open or read")


def test_g08_untracked_and_changed_paths_are_listed_too(root: Path) -> None:
    archive(root)
    commit(root)
    write(root, {"data.csv": b"x,y\n3,4\n", "new.csv": b"1\n", FACT: b"{ }\n"})
    archive(root, "new.csv")
    assert {(one.path, str(one)) for one in publish(root)} == {
        (
            "data.csv",
            "data.csv differs from what the last commit holds; git add -- data.csv && git commit",
        ),
        ("new.csv", "new.csv is not tracked by git; git add -- new.csv && git commit"),
        (
            NAME,
            f"{NAME} differs from what the last commit holds; git add -- {NAME} && git commit",
        ),
        (
            FACT,
            f"{FACT} differs from what the last commit holds; git add -- {FACT} && git commit",
        ),
    }
    assert {one.level for one in publish(root)} == {"error"}


def test_g02_a_file_that_git_stores_with_other_line_endings(root: Path) -> None:
    write(root, {"data.csv": b"x,y\r\n1,2\r\n", ".gitattributes": b"* -text\n*.csv text\n"})
    archive(root)
    commit(root)
    assert [str(one) for one in publish(root)] == [
        "data.csv is stored by git with other bytes than these, because of text; add the line "
        "`/data.csv -text` to .gitattributes, then git add --renormalize -- .gitattributes "
        "data.csv && git commit"
    ]
    assert by_hand_in_a_clone(root) == (1, "data.csv: FAILED")


@pytest.mark.parametrize(
    ("attributes", "altered", "line"),
    [
        (b"", "data.csv, workflow.json, MANIFEST.sha256", "* -text"),
        (b"*.csv text\n* -text\n*.csv text\n", "data.csv", "* -text"),
        (b"data.csv -text\nworkflow.json -text\n", NAME, f"{NAME} -text"),
        (b"*.json text eol=lf\n*.csv -text\n", NAME, f"{NAME} -text"),
    ],
)
def test_g02_line_endings_in_the_clones_of_others(
    root: Path, attributes: bytes, altered: str, line: str
) -> None:
    write(root, {".gitattributes": attributes + b".vaibify/** -text\n"})
    archive(root)
    commit(root)
    found = publish(root)
    assert [str(one) for one in found] == [
        f"where git converts line endings (core.autocrlf=true), a clone alters {altered}; "
        f"add the line `{line}` to .gitattributes, then: git add -- .gitattributes && "
        "git add --renormalize . && git commit"
    ]
    assert found[0].level == "warning"
    assert by_hand_in_a_clone(root)[0] == 0
    write(root, {".gitattributes": attributes + b".vaibify/** -text\n" + line.encode() + b"\n"})
    commit(root)
    assert publish(root) == []


def test_g02_the_warning_is_true_in_a_clone_that_converts(root: Path) -> None:
    write(root, {".gitattributes": f"{NAME} -text\n".encode()})
    archive(root)
    commit(root)
    assert [one.code for one in publish(root)] == ["line-endings"]
    assert by_hand_in_a_clone(root, "-c", "core.autocrlf=true") == (
        1,
        "data.csv: FAILED\nworkflow.json: FAILED",
    )


def test_binary_files_are_in_no_danger(root: Path) -> None:
    write(root, {".gitattributes": b"*.csv -text\n*.json -text\n*.sha256 -text\n"})
    write(root, {"plot.png": b"\x89PNG\r\n\x1a\n\0\0\n"})
    archive(root, "plot.png")
    commit(root)
    assert publish(root) == []
    assert by_hand_in_a_clone(root, "-c", "core.autocrlf=true") == (0, "")


def test_an_lfs_pointer_is_all_that_git_holds(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 8\n"
    write(root, {".gitattributes": b"* -text\n*.csv filter=lfs -text\n", "d": pointer.encode()})
    git(root, "config", "filter.lfs.clean", "cat > /dev/null; cat d")
    archive(root)
    commit(root)
    (found,) = publish(root)
    assert (found.level, found.code, found.path) == ("error", "lfs", "data.csv")
    assert found.text == (
        "data.csv is in git as an LFS pointer only: a clone without git-lfs lacks the content"
    )


def test_nothing_committed_is_one_error(root: Path) -> None:
    archive(root)
    assert [(one.level, str(one)) for one in publish(root)][:1] == [
        ("error", "nothing is committed yet, so a clone is empty; git add -A && git commit")
    ]
    assert [one.code for one in publish(root) if one.level == "error"] == ["no-commit"]


def test_no_manifest(root: Path) -> None:
    commit(root)
    first = publish(root)[0]
    assert (first.level, first.code) == ("error", "no-manifest")
    assert str(first) == (
        f"there is no {NAME}, so nobody can verify a clone; jupyter vaibify envelope"
    )


def test_a_manifest_that_lists_nothing_or_cannot_be_read(root: Path) -> None:
    write(root, {NAME: b""})
    commit(root)
    assert [str(one) for one in publish(root)] == [
        f"{NAME} lists no file; jupyter vaibify envelope"
    ]
    write(root, {NAME: b"# a comment\n" + (b"0" * 64) + b"  /etc/passwd\n"})
    commit(root)
    codes = [(one.code, one.path) for one in publish(root)]
    assert codes == [("manifest-unusable", NAME)] * 3
    assert str(publish(root)[0]).startswith(f"{NAME}:1: malformed, a comment")


def test_a_listed_path_that_was_not_looked_at_is_asked_of_git(root: Path) -> None:
    archive(root)
    commit(root)
    repository = Repository.find(root)
    write(root, {"ghost": b""})
    archive(root, "ghost")
    manifest = parse_manifest((root / NAME).read_bytes())
    found = publish_findings(repository, {}, manifest, {})
    assert [(one.code, one.path) for one in found] == [("untracked", "ghost")]


def test_commits_that_are_not_pushed(root: Path, tmp_path: Path) -> None:
    archive(root)
    commit(root)
    git(root, "clone", "-q", "--bare", str(root), str(tmp_path / "remote.git"))
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(root, "fetch", "-q", "origin")
    git(root, "branch", "-q", "--set-upstream-to", "origin/main")
    assert publish(root) == []
    commit(root)
    assert [(one.level, str(one)) for one in publish(root)] == [
        ("warning", "1 commit is not pushed yet; git push")
    ]
    commit(root)
    assert [str(one) for one in publish(root)] == ["2 commits are not pushed yet; git push"]


def test_names_that_a_terminal_would_obey_are_shown_escaped(root: Path) -> None:
    odd = "a\x1b[31m\n.csv"
    write(root, {odd: b"1\n"})
    archive(root, odd)
    git(root, "add", *FILES, NAME)
    git(root, "commit", "-q", "-m", "x")
    (found,) = publish(root)
    assert found.text == r"a\x1b[31m\n.csv is not tracked by git"
    assert "\x1b" not in str(found)
    assert "\n" not in str(found)
