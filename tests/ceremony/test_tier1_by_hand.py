"""Whole trees of any names and contents: our manifest and verdict beside coreutils, both ways."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vaibify_lab.ceremony.integrity import check_integrity
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.manifest import NAME, format_manifest
from vaibify_lab.files.disk_names import normal_form
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree

AWKWARD = [b"\n", b"\r", b"\\", b" ", b"-", b"*", b"n", b".", b"\xe9", b"\xc3\xa9", b"\t", b"#"]
pieces = st.lists(
    st.sampled_from(AWKWARD) | st.binary(min_size=1, max_size=4), min_size=1, max_size=5
)
names = pieces.map(b"".join).filter(lambda name: not {0, 47} & {*name} and name.strip(b"."))
contents = st.binary(max_size=40) | st.just(b"x" * 70_000) | st.just(b"a\r\nb\n")


def paths() -> st.SearchStrategy[bytes]:
    """Return paths of up to three folders; what is a folder ends with a tilde, so no file is."""
    folders = st.lists(names.map(lambda name: name + b"~"), max_size=3)
    files = names.map(lambda name: name + b"!")
    return st.tuples(folders, files).map(lambda parts: b"/".join([*parts[0], parts[1]]))


def trees() -> st.SearchStrategy[dict[bytes, bytes]]:
    return st.dictionaries(paths(), contents, min_size=1, max_size=7)


@contextmanager
def on_disk(made: dict[bytes, bytes]) -> Iterator[bytes]:
    """Give a folder that holds these files; names that are one in another normal form clash."""
    forms = {normal_form(os.fsdecode(part)) for path in made for part in heads(path)}
    assume(len(forms) == len({part for path in made for part in heads(path)}))
    assume(not any(path[1:3] in (b":\\", b":/") for path in made))
    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder)
        for path, data in made.items():
            os.makedirs(os.path.dirname(root + b"/" + path), exist_ok=True)
            Path(os.fsdecode(root + b"/" + path)).write_bytes(data)
        yield root


def heads(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def sha256sum(root: bytes, *words: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [b"sha256sum", *words],
        cwd=root,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def write_manifest(root: bytes, data: bytes) -> None:
    Path(os.fsdecode(root), NAME).write_bytes(data)


@settings(max_examples=50)
@given(trees())
def test_what_we_hash_and_write_coreutils_writes_and_accepts(made: dict[bytes, bytes]) -> None:
    with on_disk(made) as root:
        states = hash_many(Tree(Path(os.fsdecode(root))), [os.fsdecode(path) for path in made])
        written = format_manifest({path: str(state.sha256) for path, state in states.items()})

        assert written == sha256sum(root, b"--", *sorted(made)).stdout
        write_manifest(root, written)
        checked = sha256sum(root, b"--strict", b"-c", NAME.encode())
        assert (checked.returncode, checked.stderr) == (0, b"")


@settings(max_examples=50)
@given(trees(), st.randoms(use_true_random=False), st.sampled_from([b"--text", b"--binary"]))
def test_what_coreutils_writes_we_accept_and_both_find_the_one_byte(made, random, mode) -> None:
    with on_disk(made) as root:
        tree = Tree(Path(os.fsdecode(root)))
        order = sorted(made)
        random.shuffle(order)
        write_manifest(root, sha256sum(root, mode, b"--", *order).stdout)

        report = check_integrity(tree)
        assert (report.state, report.checked) == ("passed", len(made)), report

        path = random.choice(order)
        Path(os.fsdecode(root + b"/" + path)).write_bytes(made[path] + random.randbytes(1))
        report = check_integrity(tree)
        checked = sha256sum(root, b"-c", NAME.encode())
        assert (report.state, checked.returncode) == ("failed", 1)
        assert [one.path for one in report.problems] == [shown(os.fsdecode(path))]
        assert checked.stdout.count(b": FAILED\n") == 1
