"""The manifest beside real coreutils, in both directions, over names and contents of any bytes."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from vaibify_lab.envelope.manifest import NAME, format_manifest, parse_manifest

AWKWARD = [b"\n", b"\r", b"\\", b" ", b"-", b"*", b"n", b"r", b".", b"\xe9", b"\xc3\xa9", b":"]


def names() -> st.SearchStrategy[bytes]:
    pieces = st.lists(
        st.sampled_from(AWKWARD) | st.binary(min_size=1, max_size=4), min_size=1, max_size=6
    )
    refused = (b"-", NAME.encode())
    return pieces.map(b"".join).filter(
        lambda name: not {0, 47} & {*name} and name.strip(b".") and name not in refused
    )


def files() -> st.SearchStrategy[dict[bytes, bytes]]:
    found = st.dictionaries(names(), st.binary(max_size=20), min_size=1, max_size=8)
    return found.filter(lambda made: not any(name[1:3] == b":\\" for name in made))


def put(root: bytes, made: dict[bytes, bytes]) -> list[bytes]:
    for name, content in made.items():
        Path(os.fsdecode(root + b"/" + name)).write_bytes(content)
    return sorted(made)


def sha256sum(root: bytes, *arguments: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [b"sha256sum", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, stdin=subprocess.DEVNULL)


@given(files())
@settings(max_examples=60, deadline=None)
def test_ours_is_byte_for_byte_what_sha256sum_writes_and_it_checks_ours(made):
    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder)
        ordered = put(root, made)
        hashes = {os.fsdecode(name): hashlib.sha256(made[name]).hexdigest() for name in made}

        written = format_manifest(hashes)

        assert written == sha256sum(root, b"--", *ordered).stdout
        Path(folder, NAME).write_bytes(written)
        checked = sha256sum(root, b"--strict", b"-c", NAME.encode())
        assert (checked.returncode, checked.stderr) == (0, b"")
        assert checked.stdout.count(b": OK\n") >= len(made)


@given(files(), st.sampled_from([b"--text", b"--binary"]))
@settings(max_examples=60, deadline=None)
def test_what_sha256sum_writes_is_read_as_it_was_meant(made, mode):
    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder)
        ordered = put(root, made)

        manifest = parse_manifest(sha256sum(root, mode, b"--", *ordered).stdout)

        assert (manifest.problems, manifest.warnings) == ((), ())
        assert [(os.fsencode(entry.path), entry.sha256) for entry in manifest.entries] == [
            (name, hashlib.sha256(made[name]).hexdigest()) for name in ordered
        ]


@given(files(), st.data())
@settings(max_examples=200, deadline=None)
def test_a_damaged_manifest_that_we_read_without_a_problem_passes_sha256sum_too(made, data):
    """Never greener than by hand: what we read cleanly and find matching, coreutils does too."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder)
        put(root, made)
        hashes = {os.fsdecode(name): hashlib.sha256(made[name]).hexdigest() for name in made}
        whole = format_manifest(hashes)
        at = data.draw(st.integers(0, len(whole) - 1))
        piece = data.draw(st.sampled_from([b"", b" ", b"\r", b"\\", b"\n", b"a", b"*", b"./"]))
        damaged = whole[:at] + piece + whole[at + data.draw(st.integers(0, 1)) :]
        manifest = parse_manifest(damaged)
        green = bool(manifest.entries) and not manifest.problems
        if not green or any(hashes.get(one.path) != one.sha256 for one in manifest.entries):
            return

        Path(folder, NAME).write_bytes(damaged)
        checked = sha256sum(root, b"--strict", b"-c", NAME.encode())

        assert (checked.returncode, checked.stderr) == (0, b"")
