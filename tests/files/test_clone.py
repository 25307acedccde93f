"""What a clone would lack: each answer is held against a real clone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from vaibify_lab.core.observed import CloneProblem
from vaibify_lab.files.attributes import Attributes, attribute_line, changes_on_checkout
from vaibify_lab.files.clone import CloneCheck, missing_from_clone
from vaibify_lab.files.git import Repository
from vaibify_lab.files.hashing import hash_both
from vaibify_lab.files.tree import Tree

Git = Callable[..., str]


@pytest.fixture
def project(new_repo, commit) -> Path:
    folder = new_repo()
    commit(folder, {"a.txt": b"a\n", "data/b.csv": b"1,2\n"})
    return folder


def blobs(folder: Path, *paths: str) -> dict[str, str | None]:
    tree = Tree(folder)
    return {path: hash_both(tree, path, "sha1")[1] for path in paths}


def problems(folder: Path, *paths: str) -> list[CloneProblem]:
    return missing_from_clone(Repository.find(folder), blobs(folder, *paths))


def codes(folder: Path, *paths: str) -> dict[str, str]:
    return {one.path: one.code for one in problems(folder, *paths)}


def in_clone(git: Git, folder: Path, path: str) -> bytes | None:
    """What somebody else gets."""
    clone = folder.parent / f"clone{len(list(folder.parent.iterdir()))}"
    git(folder.parent, "clone", "-q", str(folder), str(clone))
    file = clone / path
    return file.read_bytes() if file.is_file() and not file.is_symlink() else None


def test_what_is_committed_is_no_problem_and_costs_no_process(project: Path, starts) -> None:
    repo = Repository.find(project)
    repo.snapshot()
    wanted = blobs(project, "a.txt", "data/b.csv")
    starts()
    assert missing_from_clone(repo, wanted) == []
    assert missing_from_clone(repo, {}) == []
    assert starts() == []


def test_g08_declared_output_is_ignored_by_git(project: Path, git: Git) -> None:
    Tree(project).write(".gitignore", b"# rules\nout/\n*.tmp\n!keep.tmp\n")
    Tree(project).write("data/.gitignore", b"/*.h5\n")
    for name in ("out/r.csv", "keep.tmp", "data/x.h5", "own.bak"):
        Tree(project).write(name, b"r")
    (project / ".git" / "info" / "exclude").write_bytes(b"*.bak\n")
    assert problems(project, "out/r.csv", "a.txt", "keep.tmp", "data/x.h5", "own.bak") == [
        CloneProblem(
            "out/r.csv",
            "ignored",
            "is ignored by git (.gitignore:2: out/)",
            "git add -f -- out/r.csv && git commit, or change that rule",
        ),
        CloneProblem(
            "keep.tmp",
            "untracked",
            "is not tracked by git",
            "git add -- keep.tmp && git commit",
        ),
        CloneProblem(
            "data/x.h5",
            "ignored",
            "is ignored by git (data/.gitignore:1: /*.h5)",
            "git add -f -- data/x.h5 && git commit, or change that rule",
        ),
        CloneProblem(
            "own.bak",
            "ignored",
            "is ignored by git (.git/info/exclude:1: *.bak)",
            "git add -f -- own.bak && git commit, or change that rule",
        ),
    ]
    assert in_clone(git, project, "out/r.csv") is None
    git(project, "add", "-f", "--", "out/r.csv")
    git(project, "commit", "-q", "-m", "r")
    assert problems(project, "out/r.csv") == []
    assert in_clone(git, project, "out/r.csv") == b"r"


def test_untracked_staged_modified_and_both(project: Path, git: Git, commit) -> None:
    commit(project, {"both": b"1", "gone": b"1", "mode": b"1", "resolved": b"1"})
    tree = Tree(project)
    for name in ("it's new", "staged", "a.txt", "both", "mode"):
        tree.write(name, b"2" if name != "mode" else b"1")
    git(project, "add", "staged", "both")
    git(project, "rm", "-q", "--cached", "gone")
    (project / "mode").chmod(0o755)
    last = "differs from what the last commit holds"
    names = ("it's new", "staged", "a.txt", "both", "gone", "mode", "resolved")
    assert problems(project, *names) == [
        CloneProblem(
            "it's new",
            "untracked",
            "is not tracked by git",
            "git add -- 'it'\"'\"'s new' && git commit",
        ),
        CloneProblem("staged", "staged", "is added but not committed", "git commit"),
        CloneProblem("a.txt", "modified", last, "git add -- a.txt && git commit"),
        CloneProblem(
            "both",
            "staged",
            "is added as it is here, but the last commit holds other bytes",
            "git commit",
        ),
    ]


def test_nothing_is_committed_yet(new_repo, git: Git) -> None:
    folder = new_repo()
    Tree(folder).write("a", b"1")
    git(folder, "add", "a")
    assert problems(folder, "a") == [
        CloneProblem("a", "no-commit", "nothing is committed yet", "git add -- a && git commit")
    ]


def test_merge_conflict(project: Path, commit, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "side")
    commit(project, {"a.txt": b"side\n"})
    git(project, "checkout", "-q", "main")
    commit(project, {"a.txt": b"main\n"})
    with pytest.raises(Exception, match="merge"):
        git(project, "merge", "side")
    assert problems(project, "a.txt", "data/b.csv") == [
        CloneProblem(
            "a.txt",
            "modified",
            "is in conflict: a merge is not finished",
            "resolve it, then git add -- a.txt && git commit",
        )
    ]


def test_g07_outputs_inside_a_nested_repository(project: Path, git: Git, commit, starts) -> None:
    """As a plain nested folder, and once the outer git holds its link."""
    inner = project / "sub" / "inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    git(inner, "config", "user.name", "Ana")
    git(inner, "config", "user.email", "ana@example.org")
    commit(inner, {"o.csv": b"1\n", "deep/p.csv": b"2\n"})
    expected = [
        CloneProblem(
            f"sub/inner/{name}",
            "nested",
            f"{name.rpartition('/')[2]} lies in another repository (sub/inner) "
            "and will not be in a clone",
            "move it out of that repository",
        )
        for name in ("o.csv", "deep/p.csv")
    ]
    paths = ("sub/inner/o.csv", "a.txt", "sub/inner/deep/p.csv")
    assert problems(project, *paths) == expected
    git(project, "add", "sub/inner")
    git(project, "commit", "-q", "-m", "link")
    assert problems(project, *paths) == expected
    assert codes(project, "sub/inner") == {"sub/inner": "nested"}
    assert in_clone(git, project, "sub/inner/o.csv") is None
    # Nor once the folder has lost its .git: the outer git still holds a link only.
    (inner / ".git").rename(project.parent / "away")
    assert problems(project, *paths) == expected


def test_git_is_never_started_inside_a_nested_repository(
    project: Path, git: Git, commit, starts
) -> None:
    """Its configuration may name a program: planted by a step, it must not run."""
    ran = project.parent / "ran"
    inner = project / "sub"
    inner.mkdir()
    git(inner, "init", "-q")
    Tree(inner).write("o.csv", b"1\n")
    Tree(inner).write(".gitattributes", b"* filter=evil\n")
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process"):
        git(inner, "config", key, f"touch {ran};")
    repo = Repository.find(project)
    starts()
    assert [one.code for one in missing_from_clone(repo, blobs(project, "sub/o.csv"))] == ["nested"]
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    assert [one.code for one in missing_from_clone(repo, blobs(project, "sub/o.csv"))] == ["nested"]
    assert not ran.exists()


def test_inside_dot_git(project: Path) -> None:
    assert codes(project, ".git/config") == {".git/config": "nested"}


def test_link_where_git_or_the_work_tree_has_one(project: Path, git: Git, commit) -> None:
    (project / "link").symlink_to("a.txt")
    (project / "real").mkdir()
    commit(project, {"real/x": b"1"})
    (project / "link").unlink()
    Tree(project).write("link", b"a\n")
    (project / "linked").symlink_to("real")
    assert problems(project, "link", "linked/x") == [
        CloneProblem(
            "link",
            "modified",
            "is a symbolic link in the last commit, and a file here",
            "git add -- link && git commit",
        ),
        CloneProblem(
            "linked/x",
            "untracked",
            "lies below the symbolic link linked, of which git holds the link",
            "put a folder in its place",
        ),
    ]


def test_file_without_bytes_here_is_judged_by_what_git_holds(project: Path) -> None:
    (project / "a.txt").unlink()
    assert blobs(project, "a.txt", "none") == {"a.txt": None, "none": None}
    assert codes(project, "a.txt", "none") == {"none": "untracked"}


FILTERED = [
    ("crlf.txt text\n", {}, "crlf.txt", b"1\r\n2\r\n", "text"),
    ("* text=auto\n", {}, "crlf.txt", b"1\r\n2\r\n", "text=auto"),
    ("*.txt crlf\n", {}, "crlf.txt", b"1\r\n", "text"),
    ("*.txt eol=crlf\n", {}, "crlf.txt", b"1\r\n", "eol=crlf"),
    ("", {"core.autocrlf": "true"}, "crlf.txt", b"1\r\n", "core.autocrlf=true"),
    ("", {"core.autocrlf": "input"}, "crlf.txt", b"1\r\n", "core.autocrlf=input"),
    ("*.py ident\n", {}, "x.py", b"# $Id: 123 $\n", "ident"),
    ("*.txt text ident\n", {}, "x.txt", b"$Id: 1 $\r\n", "text ident"),
    (
        "*.txt working-tree-encoding=UTF-16LE\n",
        {},
        "x.txt",
        "é\n".encode("utf-16-le"),
        "working-tree-encoding=UTF-16LE",
    ),
    ("*.ipynb filter=strip\n", {"filter.strip.clean": "tr a b"}, "x.ipynb", b"aa", "filter=strip"),
]


@pytest.mark.parametrize(("attributes", "config", "name", "data", "words"), FILTERED)
def test_bytes_that_git_stores_otherwise(
    project: Path,
    git: Git,
    commit,
    attributes: str,
    config: dict[str, str],
    name: str,
    data: bytes,
    words: str,
) -> None:
    for key, value in config.items():
        git(project, "config", key, value)
    commit(project, {".gitattributes": attributes.encode(), name: data})
    assert git(project, "status", "--porcelain") == ""
    (found,) = problems(project, name, "data/b.csv")
    assert (found.path, found.code) == (name, "filtered")
    assert found.text == (f"is stored by git with other bytes than these, because of {words}")
    # And what the action says does mend it, for everybody.
    line = found.action.split("`")[1]
    with (project / ".gitattributes").open("a") as file:
        file.write(f"{line}\n")
    for key in config:
        git(project, "config", "--unset", key)
    git(project, "add", "--renormalize", "--", ".gitattributes", name)
    git(project, "commit", "-q", "-m", "as it is")
    assert (project / name).read_bytes() == data
    assert problems(project, name) == []
    assert in_clone(git, project, name) == data


@pytest.mark.parametrize("attributes", ["*.txt -text\n", "*.txt eol=lf\n", "*.txt text\n"])
def test_line_endings_do_not_explain_another_change(project: Path, commit, attributes: str) -> None:
    commit(project, {".gitattributes": attributes.encode(), "x.txt": b"1\r\n"})
    Tree(project).write("x.txt", b"2\r\n")
    assert codes(project, "x.txt") == {"x.txt": "modified"}


def test_g02_what_is_stored_as_it_is_and_checked_out_otherwise(
    project: Path, git: Git, commit
) -> None:
    """The bytes here are HEAD's; a fresh clone would still hold others."""
    rules = (
        b"*.csv text eol=crlf\n*.py ident\n*.u working-tree-encoding=UTF-16LE\n*.bin text=auto\n"
    )
    files = {
        "lf.csv": b"1\n2\n",
        "empty.csv": b"",
        "plain.py": b"x = 1\n",
        "id.py": b"# $Id$\n",
        "data.bin": b"1\n",
    }
    commit(project, files)  # before the rules are there
    git(project, "config", "user.useConfigOnly", "true")
    commit(project, {".gitattributes": rules})
    for name, data in files.items():  # nothing renews the work tree meanwhile
        (project / name).write_bytes(data)
    found = problems(project, *files)
    assert [(one.path, one.code) for one in found] == [
        ("lf.csv", "filtered"),
        ("id.py", "filtered"),
    ]
    assert found[0].text == ("is checked out with other bytes than these, because of text eol=crlf")
    differing = [name for name, data in files.items() if in_clone(git, project, name) != data]
    assert differing == ["lf.csv", "id.py"]


def test_attributes_that_change_nothing_cost_no_process(project: Path, commit, starts) -> None:
    commit(project, {".gitattributes": b"MANIFEST.sha256 -text\n*.png binary\n", "x.png": b"1"})
    repo = Repository.find(project)
    repo.snapshot()
    starts()
    assert missing_from_clone(repo, blobs(project, "a.txt", "x.png")) == []
    assert starts() == []


def test_a_pointer_whose_content_is_not_here_is_not_to_be_committed(
    project: Path, git: Git, commit
) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 4\n" % (b"0" * 64)
    (project / "a.h5").write_bytes(b"data")
    commit(project)
    for name in ("a.h5", "new.h5"):
        (project / name).write_bytes(pointer)
    text = "holds a git LFS pointer, not the content"
    assert problems(project, "a.h5", "new.h5") == [
        CloneProblem("a.h5", "lfs", text, "git lfs pull"),
        CloneProblem("new.h5", "lfs", text, "put the content itself in its place"),
    ]


def test_lfs(project: Path, git: Git, commit) -> None:
    """HEAD holds a pointer, the work tree the content, git-lfs need not be installed."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 4\n" % (b"0" * 64)
    commit(project, {"data.h5": pointer})
    rules = b"*.h5 filter=lfs diff=lfs merge=lfs -text\n"
    commit(project, {".gitattributes": rules})
    Tree(project).write("data.h5", b"real")
    assert problems(project, "data.h5") == [
        CloneProblem(
            "data.h5",
            "lfs",
            "is in git as an LFS pointer only: a clone without git-lfs lacks the content",
            "add the line `/data.h5 -text !filter` to .gitattributes, then "
            "git add --renormalize -- .gitattributes data.h5 && git commit",
        )
    ]


def test_no_filter_is_ever_run(project: Path, git: Git, commit) -> None:
    ran = project.parent / "ran"
    commit(project, {"x.dat": b"1", "y.dat": b"1", "z.txt": b"1\n"})
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
        git(project, "config", key, f"touch {ran};")
    Tree(project).write(".gitattributes", b"*.dat filter=evil\n*.txt text eol=crlf\n")
    Tree(project).write("x.dat", b"2")
    Tree(project).write("new.dat", b"2")
    found = codes(project, "x.dat", "y.dat", "z.txt", "new.dat", ".gitattributes")
    assert found == {"x.dat": "filtered", "new.dat": "untracked", ".gitattributes": "untracked"}
    assert not ran.exists()


def test_unchanged_look_at_problems_starts_no_process(project: Path, git: Git, starts) -> None:
    tree = Tree(project)
    tree.write(".gitignore", b"out/\n")
    for name in ("out/r", "new"):
        tree.write(name, b"r")
    tree.write("a.txt", b"changed\n")
    check = CloneCheck(Repository.find(project))
    names = ("out/r", "new", "a.txt", "data/b.csv")
    first = check.problems(blobs(project, *names))
    assert {one.path: one.code for one in first} == {
        "out/r": "ignored",
        "new": "untracked",
        "a.txt": "modified",
    }
    starts()
    assert check.problems(blobs(project, *names)) == first
    assert starts() == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda folder, git: Tree(folder).write(".gitignore", b"no/\n"), "untracked"),
        (lambda folder, git: Tree(folder).write("out/.gitignore", b"!r\n"), "ignored"),
        (lambda folder, git: git(folder, "init", "-q", "out"), "nested"),
        (lambda folder, git: git(folder, "add", "-f", "out/r"), "staged"),
    ],
)
def test_changed_reason_is_seen_at_once(project: Path, git: Git, change, expected: str) -> None:
    tree = Tree(project)
    tree.write(".gitignore", b"out\n")
    tree.write("out/r", b"r")
    check = CloneCheck(Repository.find(project))
    assert [one.code for one in check.problems(blobs(project, "out/r"))] == ["ignored"]
    change(project, git)
    assert [one.code for one in check.problems(blobs(project, "out/r"))] == [expected]


def test_what_cannot_be_read_and_then_is_gone(project: Path) -> None:
    """No bytes before and none after: the advice still differs."""
    (project / "made.csv").symlink_to("/etc/hostname")
    check = CloneCheck(Repository.find(project))
    [linked] = check.problems({"made.csv": None})
    assert linked.text == "is not tracked by git"
    (project / "made.csv").unlink()
    assert check.problems({"made.csv": None}) == missing_from_clone(
        Repository.find(project), {"made.csv": None}
    )
    [gone] = check.problems({"made.csv": None})
    assert gone.text == "is not there, nor in the last commit"


def test_names_of_every_kind(project: Path, git: Git, commit) -> None:
    names = [
        " lead",
        "trail ",
        "a  b",
        "-n",
        "a\nb",
        'q"t',
        "*",
        "#x",
        "d/[1].csv",
        "caf\udce9",
        "é",
    ]
    tree = Tree(project)
    for name in names:
        tree.write(name, b"1")
    assert codes(project, *names) == dict.fromkeys(names, "untracked")
    commit(project)
    assert codes(project, *names) == {}
    tree.write(".gitignore", b"x*\n")
    others = [f"x{name}" for name in names if "/" not in name]
    for name in others:
        tree.write(name, b"1")
    assert codes(project, *others) == dict.fromkeys(others, "ignored")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(name="!/?")
@example(name="#x y")
@given(name=st.text('ab *?[]!#"\\é/-', min_size=1, max_size=12))
def test_attribute_line_is_read_by_git_as_that_one_path(new_repo, git: Git, name: str) -> None:
    plain = name.strip("/")
    if set(plain.split("/")) & {"", ".", ".."}:
        return
    folder = new_repo(f"r{os.urandom(8).hex()}")
    line = attribute_line(plain, "-text")
    (folder / ".gitattributes").write_text(f"{line}\n")
    said = git(folder, "check-attr", "-z", "text", "--", plain, f"deep/{plain}", f"{plain}x")
    assert said.split("\0")[2::3] == ["unset", "unspecified", "unspecified"]


@pytest.mark.parametrize(
    ("data", "attributes", "expected"),
    [
        (b"1\n", Attributes(eol="crlf"), True),
        (b"1\r\n", Attributes(eol="crlf"), False),
        (b"1\r\n2\n", Attributes(eol="crlf", text="set"), True),
        (b"1\r\n2\n", Attributes(eol="crlf", text="auto"), False),
        (b"1\n\0", Attributes(eol="crlf", text="auto"), False),
        (b"1\n", Attributes(eol="crlf", text="unset"), False),
        (b"1\n", Attributes(eol="lf", text="set"), False),
        (b"$Id: x $", Attributes(ident="set"), True),
        (b"$Id$", Attributes(ident="unset"), False),
        (b"1", Attributes(encoding="UTF-8"), False),
        (b"1", Attributes(encoding="UTF-16"), True),
        (b"1", Attributes(filter="lfs"), False),
    ],
)
def test_changes_on_checkout(data: bytes, attributes: Attributes, expected: bool) -> None:
    assert changes_on_checkout(data, attributes) is expected
