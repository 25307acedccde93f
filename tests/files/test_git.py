"""Git: where the root is, what it holds, and that asking runs nothing and writes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaibify_lab.core.errors import NotARepository, RepositoryNotTrusted, ToolFailed, ToolMissing
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.files.git import Repository

Git = Callable[..., str]


@pytest.fixture
def project(new_repo, commit) -> Path:
    folder = new_repo()
    commit(folder, {"a.txt": b"a\n", "data/b.csv": b"1,2\n"})
    return folder


def test_find_from_the_root_a_folder_below_and_through_a_link(project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project / "data")
    for start in (project, project / "data", link):
        found = Repository.find(start)
        assert (found.root, found.git_dir, found.common_dir) == (
            project,
            project / ".git",
            project / ".git",
        )


def test_find_a_root_with_an_odd_name(new_repo) -> None:
    folder = new_repo("odd \udce9\nname ")
    assert Repository.find(folder).root == folder


def test_g06_worktree(project: Path, git: Git) -> None:
    other = project.parent / "worktree"
    git(project, "worktree", "add", "-q", str(other), "-b", "side")
    found = Repository.find(other)
    assert (found.root, found.git_dir, found.common_dir) == (
        other,
        project / ".git" / "worktrees" / "worktree",
        project / ".git",
    )
    assert found.snapshot().branch == "side"
    assert Repository.find(project).snapshot().branch == "main"


def test_g06_submodule(project: Path, new_repo, commit, git: Git) -> None:
    outer = new_repo("outer")
    commit(outer)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(project), "sub")
    assert Repository.find(outer / "sub" / "data").root == outer / "sub"
    assert Repository.find(outer).root == outer


def test_g06_inherited_git_dir(
    project: Path, new_repo, git: Git, monkeypatch: pytest.MonkeyPatch, starts
) -> None:
    """Exactly the variables that git lists as tied to a repository are cleared."""
    other = new_repo("other")
    listed = git(project, "rev-parse", "--local-env-vars").split()
    for name in listed:
        monkeypatch.setenv(name, str(other / ".git"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "kept")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    found = Repository.find(project / "data")
    assert found.root == project
    assert set(found.snapshot().tree) == {"a.txt", "data/b.csv"}
    lines = (project.parent / "environment").read_text().splitlines()
    environment = dict(line.split("=", 1) for line in lines if "=" in line)
    assert set(listed) & set(environment) == set()
    wanted = {
        "GIT_AUTHOR_NAME": "kept",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
    }
    assert {name: environment.get(name) for name in wanted} == wanted


def test_every_call_carries_the_safe_flags(project: Path, starts) -> None:
    found = Repository.find(project)
    found.snapshot()
    found.identity()
    flags = (
        "--no-replace-objects --no-pager -c core.fsmonitor=false -c core.hooksPath=/dev/null"
        " -c diff.ignoreSubmodules=all "
    )
    calls = [line for line in starts() if line != "rev-parse --local-env-vars"]
    assert len(calls) > 8
    assert [line for line in calls if not line.startswith(flags)] == []


def test_g06_bare_repository_and_inside_dot_git(project: Path, git: Git) -> None:
    bare = project.parent / "bare"
    git(project, "clone", "-q", "--bare", ".", str(bare))
    for place in (bare, project / ".git", project / ".git" / "refs"):
        with pytest.raises(NotARepository) as caught:
            Repository.find(place)
        assert str(caught.value) == (
            f"{place}: is a bare repository or lies inside .git: there is no work tree here; "
            "go to the folder that holds your files"
        )


def test_no_repository_says_git_init(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as caught:
        Repository.find(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is not inside a git repository; git init"
    with pytest.raises(NotARepository, match="is not a folder"):
        Repository.find(tmp_path / "none")


def test_work_tree_elsewhere_is_refused(project: Path, git: Git) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    git(project, "config", "core.worktree", str(elsewhere))
    with pytest.raises(NotARepository):
        Repository.find(project)


def test_worktree_whose_repository_is_gone(project: Path, git: Git) -> None:
    other = project.parent / "worktree"
    git(project, "worktree", "add", "-q", str(other))
    shutil.rmtree(project / ".git")
    with pytest.raises(NotARepository, match="is not a usable git repository: not a git reposi"):
        Repository.find(other)


def test_g04_repository_owned_by_someone_else(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "inner").mkdir()
    before = Repository.find(project)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    expected = (
        f"{project}: git does not trust this repository, because another user owns it; "
        f"if you do: git config --global --add safe.directory {project}"
    )
    for ask in (lambda: Repository.find(project), before.snapshot):
        with pytest.raises(RepositoryNotTrusted) as caught:
            ask()
        assert str(caught.value) == expected


def test_g04_really_owned_by_someone_else(public: Path, git: Git, as_nobody) -> None:
    folder = public / "it's"
    folder.mkdir()
    git(folder, "init", "-q")
    with as_nobody(), pytest.raises(RepositoryNotTrusted) as caught:
        Repository.find(folder)
    line = f"git config --global --add safe.directory '{public}/it'\\''s'"
    assert caught.value.action == f"if you do: {line}"


def test_git_is_not_installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Repository.find(project)
    monkeypatch.setenv("PATH", str(project))
    for ask in (lambda: Repository.find(project), found.snapshot):
        with pytest.raises(ToolMissing) as caught:
            ask()
        assert str(caught.value) == "git is not installed; install git"


def test_run(project: Path) -> None:
    found = Repository.find(project / "data")
    assert found.run("hash-object", "--stdin", input=b"x") == (
        b"c1b0730e0133447badcfd47fd144e254807b06e1\n"
    )
    assert found.run("hash-object", "--stdin") == b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
    assert found.run("rev-parse", "--show-prefix") == b"\n"
    assert found.run("cat-file", "-p", "none", check=False) == b""
    with pytest.raises(ToolFailed) as caught:
        found.run("cat-file", "-p", "none")
    assert str(caught.value) == (
        f"{project}: git cat-file failed: fatal: Not a valid object name none"
    )
    with pytest.raises(ToolFailed, match=r"git took longer than 0\.2 seconds"):
        found.run("-c", "alias.wait=!sleep 9", "wait", timeout=0.2)


def test_no_transport_unless_asked(project: Path) -> None:
    found = Repository.find(project)
    with pytest.raises(ToolFailed, match="transport 'file' not allowed"):
        found.run("ls-remote", f"file://{project}")
    listed = found.run("ls-remote", f"file://{project}", "HEAD", transport=True)
    assert listed.decode().split() == [found.snapshot().commit, "HEAD"]


def test_config_identity_and_signing_key(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Repository.find(project)
    assert found.identity() == "Ana <ana@example.org>"
    assert (found.config("user.name"), found.config("none.such")) == ("Ana", None)
    git(project, "config", "user.name", "Zoë\nB")
    assert found.config("user.name") == "Zoë\nB"
    git(project, "config", "--unset", "user.email")
    assert found.identity() is None
    git(project, "config", "user.signingkey", "~/.ssh/id.pub")
    assert found.signing_key() is None
    git(project, "config", "gpg.format", "ssh")
    assert found.signing_key() == "~/.ssh/id.pub"
    with (project / ".git" / "config").open("a") as file:
        file.write("[broken\n")
    with pytest.raises(ToolFailed, match="git config failed: fatal: bad config line"):
        found.config("user.name")


def test_snapshot_is_what_git_says(project: Path, git: Git) -> None:
    (project / "staged").write_bytes(b"s")
    (project / "link").symlink_to("a.txt")
    (project / "run.sh").write_bytes(b"#!")
    (project / "run.sh").chmod(0o755)
    odd = os.path.join(os.fsencode(project), b"caf\xe9 \n.csv")
    with open(odd, "wb") as file:
        file.write(b"o")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "2")
    git(project, "rm", "-q", "--cached", "staged")
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    blob = {name: git(project, "hash-object", name) for name in ("a.txt", "data/b.csv", "run.sh")}
    common = {
        "a.txt": ("100644", blob["a.txt"]),
        "data/b.csv": ("100644", blob["data/b.csv"]),
        "run.sh": ("100755", blob["run.sh"]),
        "link": ("120000", git(project, "rev-parse", "HEAD:link")),
        "caf\udce9 \n.csv": ("100644", git(project, "hash-object", os.fsdecode(odd))),
    }
    staged = ("100644", git(project, "hash-object", "staged"))
    assert Repository.find(project).snapshot() == GitSnapshot(
        commit=git(project, "rev-parse", "HEAD"),
        branch="main",
        shallow=False,
        commit_time=int(git(project, "log", "-1", "--format=%ct")),
        object_format="sha1",
        tree={**common, "staged": staged},
        index={**common, "sub": ("160000", "1" * 40)},
        unmerged=frozenset(),
    )


def test_snapshot_without_a_commit(new_repo, git: Git) -> None:
    folder = new_repo()
    assert Repository.find(folder).snapshot() == GitSnapshot(commit=None, branch="main")
    (folder / "a").write_bytes(b"")
    git(folder, "add", "a")
    index = {"a": ("100644", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")}
    assert Repository.find(folder).snapshot() == GitSnapshot(None, "main", index=index)


def test_snapshot_of_a_sha256_repository(new_repo, commit) -> None:
    folder = new_repo("project", "--object-format=sha256")
    commit(folder, {"a": b""})
    found = Repository.find(folder).snapshot()
    empty = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
    assert (found.object_format, found.tree) == ("sha256", {"a": ("100644", empty)})


def test_snapshot_in_a_merge_conflict(project: Path, commit, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "side")
    commit(project, {"a.txt": b"side\n"})
    git(project, "checkout", "-q", "main")
    commit(project, {"a.txt": b"main\n"})
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "side")
    found = Repository.find(project).snapshot()
    assert (found.unmerged, set(found.index)) == ({"a.txt"}, {"data/b.csv"})
    assert set(found.tree) == {"a.txt", "data/b.csv"}


def test_g09_detached_head_and_shallow_clone(project: Path, commit, git: Git) -> None:
    commit(project, {"a.txt": b"2\n"})
    git(project, "tag", "v1")
    clone = project.parent / "clone"
    git(project, "clone", "-q", "--depth=1", "--branch=v1", f"file://{project}", str(clone))
    found = Repository.find(clone).snapshot()
    head = git(project, "rev-parse", "HEAD")
    assert (found.commit, found.branch, found.shallow) == (head, None, True)
    assert set(found.tree) == {"a.txt", "data/b.csv"}


def test_replacement_objects_do_not_count(project: Path, commit, git: Git) -> None:
    """They are not cloned, so what they show is not what others get."""
    commit(project, {"a.txt": b"two\n"})
    held = git(project, "rev-parse", "HEAD:a.txt")
    git(project, "replace", "HEAD", "HEAD~1")
    assert Repository.find(project).snapshot().tree["a.txt"] == ("100644", held)


def test_unchanged_look_starts_no_process(project: Path, starts) -> None:
    found = Repository.find(project)
    first = found.snapshot()
    assert starts() != []
    assert found.snapshot() is first
    assert starts() == []
    (project / "a.txt").write_bytes(b"work tree only\n")
    (project / "a.txt").touch()
    assert found.snapshot() is first
    assert starts() == []


def test_next_process_starts_git_only_to_find_the_root(project: Path, starts) -> None:
    first = Repository.find(project).snapshot()
    found = Repository.find(project)
    starts()
    assert found.snapshot() == first
    assert starts() == []


@pytest.mark.parametrize(
    "change",
    [
        ("commit", "-q", "--allow-empty", "-m", "next"),
        ("commit", "-q", "--allow-empty", "--amend", "-m", "other"),
        ("rm", "-q", "--cached", "a.txt"),
        ("checkout", "-q", "-b", "side"),
        ("checkout", "-q", "--detach"),
        ("reset", "-q", "--soft", "HEAD~1"),
        ("branch", "-q", "-m", "renamed"),
        ("update-index", "--cacheinfo", "100755,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,a.txt"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_every_change_is_seen_at_once(
    project: Path, commit, git: Git, change: tuple[str, ...], packed: bool
) -> None:
    """Also right after the last one, and when the file that changed has the same size."""
    commit(project)
    if packed:
        git(project, "pack-refs", "--all")
    found = Repository.find(project)
    before = found.snapshot()
    git(project, *change)
    after = found.snapshot()
    assert after != before
    assert after == Repository(project, project / ".git", project / ".git").snapshot()
    assert after.commit == git(project, "rev-parse", "HEAD")


def test_index_of_equal_size_and_times(project: Path, git: Git) -> None:
    found = Repository.find(project)
    index = project / ".git" / "index"
    sizes = set()
    for digit in "1234":
        git(project, "update-index", "--cacheinfo", f"100644,{digit * 40},a.txt")
        os.utime(index, (10**9, 10**9))
        sizes.add(index.stat().st_size)
        assert found.snapshot().index["a.txt"] == ("100644", digit * 40)
    assert len(sizes) == 1


def test_branch_that_moves_in_packed_refs_alone(project: Path, commit, git: Git) -> None:
    commit(project, {"a.txt": b"two\n"})
    git(project, "pack-refs", "--all")
    found = Repository.find(project)
    new, old = git(project, "rev-parse", "HEAD", "HEAD~1").split()
    assert found.snapshot().commit == new
    packed = project / ".git" / "packed-refs"
    packed.write_bytes(packed.read_bytes().replace(new.encode(), old.encode()))
    assert found.snapshot().commit == old


def test_index_without_a_checksum(project: Path, git: Git, starts) -> None:
    """``index.skipHash`` of newer versions of git; here the checksum is blanked by hand."""
    found = Repository.find(project)
    (project / "c").write_bytes(b"")
    git(project, "add", "c")
    index = project / ".git" / "index"
    index.write_bytes(index.read_bytes()[:-20] + b"\0" * 20)
    git(project, "config", "index.skipHash", "true")
    first = found.snapshot()
    starts()
    assert found.snapshot() is first
    data = index.read_bytes()
    # The same size, the same (absent) checksum: the name of one entry differs.
    index.write_bytes(data.replace(b"data/b.csv", b"data/c.csv"))
    assert set(found.snapshot().index) == {"a.txt", "c", "data/c.csv"}


@pytest.mark.parametrize("way", ["cut", "garbage", "flipped", "another user's"])
def test_damaged_snapshot_cache_is_ignored(
    project: Path, own_cache: Path, starts, way: str
) -> None:
    first = Repository.find(project).snapshot()
    (store,) = (own_cache / "vaibify_lab" / "git").iterdir()
    data = store.read_bytes()
    match way:
        case "cut":
            store.write_bytes(data[:-3])
        case "garbage":
            store.write_bytes(b"\0\1")
        case "flipped":
            store.write_bytes(data.replace(b"a.txt", b"b.txt"))
        case _:
            os.chown(store, 1234, 1234)
    found = Repository.find(project)
    starts()
    assert found.snapshot() == first
    assert len(starts()) > 0


def test_look_writes_nothing_and_takes_no_lock(project: Path) -> None:
    def stamps() -> dict[str, tuple[int, int]]:
        found = [*project.rglob("*")]
        return {str(one): (one.lstat().st_mtime_ns, one.lstat().st_ino) for one in found}

    (project / "a.txt").touch()
    before = stamps()
    (project / ".git" / "index.lock").touch()  # a user's git add is under way
    found = Repository.find(project)
    found.snapshot()
    (project / ".git" / "index.lock").unlink()
    assert (
        stamps().items() >= {k: v for k, v in before.items() if k != str(project / ".git")}.items()
    )
    assert set(stamps()) == set(before)


def test_hostile_configuration_runs_nothing(project: Path, new_repo, git: Git) -> None:
    """What a repository that came as an archive may bring in ``.git/config``."""
    ran = project.parent / "ran"
    evil = project.parent / "evil.sh"
    evil.write_text(f"#!/bin/sh\necho $0 $* >> {ran}\nexit 1\n")
    evil.chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass"),
        *("gpg.program", "gpg.ssh.program", "diff.external", "filter.x.clean", "filter.x.process"),
        *("credential.helper", "core.gitProxy", "uploadpack.packObjectsHook", "alias.ls-files"),
    ):
        git(project, "config", key, str(evil))
    git(project, "config", "log.showSignature", "true")
    hooks = project / ".git" / "hooks"
    shutil.rmtree(hooks)
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        shutil.copy(evil, hooks / name)
    (project / ".gitattributes").write_text("* filter=x diff=x\n")
    (project / "a.txt").write_bytes(b"changed\n")
    found = Repository.find(project)
    assert set(found.snapshot().tree) == {"a.txt", "data/b.csv"}
    assert found.identity() == "Ana <ana@example.org>"
    assert not ran.exists()


def test_hostile_promisor_remote_runs_nothing(project: Path, git: Git) -> None:
    """A missing tree would be fetched by a program that the configuration names."""
    ran = project.parent / "ran"
    evil = project.parent / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    evil.chmod(0o755)
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(project.parent / "bare"),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(evil),
        "protocol.file.allow": "always",
        "protocol.allow": "always",
    }.items():
        git(project, "config", key, value)
    tree = git(project, "rev-parse", "HEAD:data")
    (project / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(ToolFailed, match="git ls-tree failed"):
        Repository.find(project).snapshot()
    assert not ran.exists()
    subprocess.run(["git", "ls-tree", "-r", "HEAD"], cwd=project, capture_output=True, check=False)
    assert ran.exists()  # which plain git would have done


def test_repository_that_keeps_changing_is_said(project: Path, monkeypatch) -> None:
    found = Repository.find(project)
    real = found._read_state

    def commit_meanwhile():
        raw = real()
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=project, check=True)
        return raw

    monkeypatch.setattr(found, "_read_state", commit_meanwhile)
    with pytest.raises(ToolFailed, match="kept changing while it was looked at; try again"):
        found.snapshot()


def test_damaged_repository_is_no_empty_one(project: Path, git: Git) -> None:
    head = git(project, "rev-parse", "HEAD")
    (project / ".git" / "objects" / head[:2] / head[2:]).unlink()
    with pytest.raises(ToolFailed, match="git rev-list failed: fatal: bad object"):
        Repository.find(project).snapshot()


def test_a_large_index_that_is_the_same_is_read_once(project: Path, git: Git) -> None:
    lines = "".join(f"100644 {1:040x}\td{n % 100}/f{n}\n" for n in range(50_000))
    subprocess.run(
        ["git", "update-index", "--index-info"], cwd=project, input=lines.encode(), check=True
    )
    found = Repository.find(project)
    first = found.snapshot()
    assert len(first.index) == 50_002
    assert found.snapshot().index is first.index


def test_a_folder_that_looks_like_a_bare_repository_is_not_asked(project: Path, commit) -> None:
    """Git would take it for the repository in there, also one that a clone brought."""
    ran = project.parent / "ran"
    settings = "repositoryformatversion = 0\nbare = false\nworktree = ..\n"
    config = f'[core]\n{settings}fsmonitor = "touch {ran}; false"\n'
    files = {"HEAD": b"ref: refs/heads/main\n", "config": config.encode()}
    commit(project, {f"data/{name}": content for name, content in files.items()})
    for name in ("objects", "refs"):
        (project / "data" / name).mkdir()
    with pytest.raises(NotARepository, match="is a bare repository"):
        Repository.find(project / "data")
    assert not ran.exists()
    subprocess.run(["git", "status"], cwd=project / "data", capture_output=True, check=False)
    assert ran.exists(), "which plain git would have done"


def test_a_work_tree_elsewhere_is_taken_as_what_it_is_there(project: Path, git: Git) -> None:
    """``core.worktree`` of a project that came as an archive names a folder of the host."""
    home = project.parent
    git(project, "config", "core.worktree", str(home))
    with pytest.raises(NotARepository, match="is not inside a git repository"):
        Repository.find(project)
