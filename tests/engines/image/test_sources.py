"""Repositories of container.conf on the host: real git, no engine."""

import subprocess
import tarfile

import pytest

from tests.engines.image.projects import change, library
from tests.kit import git
from vaibify_lab.core.errors import InvalidFile, UnsafePath
from vaibify_lab.engines.image.container_conf import SourceLine
from vaibify_lab.engines.image.sources import Resolved, export, resolve
from vaibify_lab.files.git import Repository


@pytest.fixture
def place(tmp_path) -> Repository:
    (tmp_path / "here").mkdir()
    return Repository.make(tmp_path / "here")


def line(url, ref="main") -> SourceLine:
    return SourceLine("mylib", str(url), ref, "reference", "mylib", 1)


def exported(place, tmp_path, url, ref="main"):
    folder = tmp_path / "out"
    folder.mkdir()
    found = export(resolve(place, line(url, ref)), folder, lambda text: None)
    with tarfile.open(found.tar) as tar:
        return found, {one.name: (one.mode, one.linkname, _read(tar, one)) for one in tar}


def _read(tar, entry):
    file = tar.extractfile(entry) if entry.isreg() else None
    return None if file is None else file.read()


def test_committed_bytes_modes_and_links_whatever_attributes_say(place, tmp_path):
    source = library(tmp_path / "lib")
    (source / "crlf.txt").write_bytes(b"a\r\nb\n")
    (source / "link").symlink_to("/etc/passwd")
    git(source, "config", "filter.evil.smudge", f"touch {tmp_path}/ran")
    (source / ".gitattributes").write_text("* text eol=crlf filter=evil export-subst\n*.py -text\n")
    change(source, "mylib", "'$Format:%H$'")

    found, files = exported(place, tmp_path, source)

    assert files["crlf.txt"] == (0o644, "", b"a\nb\n")
    assert files["tool.sh"][0] == 0o755
    assert files["link"] == (0o777, "/etc/passwd", None)
    assert files["mylib.py"][2] == b"ANSWER = '$Format:%H$'\n"
    assert files["hidden.txt"][2] == b"not hidden\n"
    assert not (tmp_path / "ran").exists()
    assert not [name for name in files if name.startswith(".git/")]
    assert found.warnings == ()


def test_a_commit_behind_the_tip_is_fetched_where_the_server_gives_only_tips(place, tmp_path):
    source = library(tmp_path / "lib")
    old = git(source, "rev-parse", "HEAD").strip()
    change(source, "mylib", "2")

    found, files = exported(place, tmp_path, f"file://{source}", old)

    assert (found.resolved.kind, found.resolved.moves) == ("commit", False)
    assert files["mylib.py"][2] == b"ANSWER = 1\n"


def test_annotated_tag_is_its_commit(place, tmp_path):
    source = library(tmp_path / "lib")
    commit = git(source, "rev-parse", "HEAD").strip()
    git(source, "tag", "-a", "v1", "-m", "one")

    assert resolve(place, line(source, "v1")) == Resolved(line(source, "v1"), "tag", commit)


def test_submodules_and_lfs_pointers_are_said(place, tmp_path):
    source = library(tmp_path / "lib")
    commit = git(source, "rev-parse", "HEAD").strip()
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    (source / "big.bin").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"
    )
    git(source, "add", "big.bin")
    git(source, "commit", "-q", "-m", "more")

    found, files = exported(place, tmp_path, source)

    assert found.warnings == (
        "mylib: submodules are not taken: sub",
        "mylib: 1 git LFS pointers stand in for their content",
    )
    assert "sub" not in files


def test_a_tree_that_climbs_out_is_refused(place, tmp_path):
    source = library(tmp_path / "lib")
    blob = git(source, "hash-object", "-w", "mylib.py").strip()
    entry = b"100644 ..\0" + bytes.fromhex(blob)
    tree = _object(source, "tree", entry)
    inner = _object(source, "tree", b"40000 sub\0" + bytes.fromhex(tree))
    commit = git(source, "commit-tree", inner, "-m", "evil").strip()
    git(source, "update-ref", "refs/heads/evil", commit)

    with pytest.raises((UnsafePath, InvalidFile)):
        exported(place, tmp_path, source, "evil")


def test_hooks_and_settings_of_the_source_run_nothing(place, tmp_path):
    source = library(tmp_path / "lib")
    hook = source / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    git(source, "config", "uploadpack.packObjectsHook", f"touch {tmp_path}/ran; false")
    git(source, "config", "core.fsmonitor", f"touch {tmp_path}/ran")

    exported(place, tmp_path, source)

    assert not (tmp_path / "ran").exists()


def _object(root, kind, data) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), "hash-object", "-t", kind, "-w", "--stdin", "--literally"],
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()
