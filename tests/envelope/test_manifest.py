"""The manifest's two halves: what is written, what is read, and what is refused."""

import hashlib
import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counting import counted
from tests.pace import takes_at_most
from vaibify_lab.core.errors import UnsafePath
from vaibify_lab.envelope import manifest as module
from vaibify_lab.envelope.manifest import (
    Manifest,
    ManifestEntry,
    ManifestProblem,
    format_manifest,
    parse_manifest,
)

A = hashlib.sha256(b"a").hexdigest()
B = hashlib.sha256(b"b").hexdigest()


def line(name: bytes, sha256: str = A, *, between: bytes = b"  ", mark: bytes = b"") -> bytes:
    return mark + sha256.encode() + between + name + b"\n"


def codes(manifest: Manifest) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in manifest.problems]


def paths() -> st.SearchStrategy[bytes]:
    """Paths of any bytes that a file system takes and the writer does not refuse."""
    awkward = st.sampled_from([b"\n", b"\r", b"\\", b" ", b"-", b"*", b"n", b"r", b"a", b"\xe9"])
    pieces = st.lists(awkward | st.binary(min_size=1, max_size=3), min_size=1, max_size=6)
    names = pieces.map(b"".join).filter(lambda name: not {0, 47} & {*name} and name.strip(b"."))
    joined = st.lists(names, min_size=1, max_size=3).map(b"/".join)
    return joined.filter(lambda path: path != b"-" and not module._DRIVE.match(path))


def test_writer_sorts_by_bytes_and_never_lists_the_manifest():
    hashes = {"b": B, "a/é": A, "a/z": A, "Z": B, "MANIFEST.sha256": A}

    written = format_manifest(hashes)

    names = [b"Z", b"a/z", "a/é".encode(), b"b"]
    assert written == b"".join(line(name, hashes[name.decode()]) for name in names)


def test_nothing_to_write_is_an_empty_manifest():
    assert format_manifest({}) == b""


@pytest.mark.parametrize(
    "path",
    [
        "",
        "-",
        "..",
        "../x",
        "/etc/hostname",
        "a//b",
        "./a",
        "a/./b",
        "a/../b",
        "a/",
        "C:/a",
        "C:\\a",
        "x" * 256,
        "a/" * 256 + "b",
        "a\x00b",
        "/".join(["x" * 200] * 21),
    ],
)
def test_writer_refuses_what_its_reader_would_refuse(path):
    with pytest.raises(UnsafePath) as caught:
        format_manifest({"fine": A, path: B})

    assert caught.value.text == "is not a plain path inside the project, so no manifest can list it"
    escaped = path.replace("\\", "\\\\")
    for_reader = line(escaped.encode(), mark=b"\\" if escaped != path else b"")
    assert path in ("", "./a") or parse_manifest(for_reader).entries == ()


@given(st.dictionaries(paths(), st.binary(max_size=3)))
@settings(max_examples=150, deadline=None)
def test_round_trip(files):
    hashes = {os.fsdecode(path): hashlib.sha256(files[path]).hexdigest() for path in files}

    manifest = parse_manifest(format_manifest(hashes))

    ordered = sorted(hashes, key=os.fsencode)
    assert [(entry.path, entry.sha256) for entry in manifest.entries] == [
        (path, hashes[path]) for path in ordered
    ]
    assert [entry.line for entry in manifest.entries] == [*range(1, len(hashes) + 1)]
    assert (manifest.problems, manifest.warnings) == ((), ())


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_without_a_crash_and_every_line_is_accounted_for(data):
    manifest = parse_manifest(data)

    lines = [one for one in data.split(b"\n") if one not in (b"", b"\r")]
    assert len(manifest.entries) + len(manifest.problems) == len(lines)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_line_is_a_problem_or_still_a_line(data):
    whole = format_manifest({"a/b c.csv": A, "plots/x\\y": B})
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.binary(max_size=2)) + whole[at + 1 :]

    manifest = parse_manifest(damaged)

    kept = [one for one in damaged.split(b"\n") if one not in (b"", b"\r")]
    repeated = sum("more than once" in warning for warning in manifest.warnings)
    assert len(manifest.entries) + len(manifest.problems) + repeated == len(kept)


def test_m01_crlf_manifest():
    lf = format_manifest({"a": A, "b": B})

    manifest = parse_manifest(lf.replace(b"\n", b"\r\n"))

    assert manifest.entries == parse_manifest(lf).entries
    assert manifest.problems == ()
    assert manifest.warnings == (
        "MANIFEST.sha256 has Windows line endings (CRLF), which sha256sum before coreutils 9 takes "
        "for part of each name; put this line into .gitattributes: MANIFEST.sha256 -text",
    )
    assert b"\r" not in lf


def test_m01_our_line_for_gitattributes_keeps_git_from_converting(tmp_path):
    git = ["git", "-C", str(tmp_path), "-c", "core.autocrlf=true"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / ".gitattributes").write_text(module.ATTRIBUTE_LINE + "\n")

    asked = [*git, "check-attr", "text", "--", "MANIFEST.sha256"]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True).stdout

    assert answer == "MANIFEST.sha256: text: unset\n"


def test_m03_special_characters_in_a_name():
    names = ["a\\b", "a\nb", "a\rb", "a\\nb"]

    written = format_manifest(dict.fromkeys(names, A))

    escaped = [rb"a\nb", rb"a\rb", rb"a\\b", rb"a\\nb"]
    assert written == b"".join(line(name, mark=b"\\") for name in escaped)
    assert {entry.path for entry in parse_manifest(written).entries} == {*names}


@pytest.mark.parametrize("name", [rb"a\tb", rb"a\x41", b"a\\", rb"a\\\b"])
def test_m03_unknown_escape_is_malformed(name):
    manifest = parse_manifest(line(name, mark=b"\\") + line(b"good"))

    assert codes(manifest) == [(1, "malformed")]
    assert "only escapes" in manifest.problems[0].text
    assert [entry.path for entry in manifest.entries] == ["good"]


def test_m03_newline_cannot_forge_a_second_entry():
    forged = f"x\n{B}  paper.pdf"

    manifest = parse_manifest(format_manifest({forged: A}))

    assert [(entry.path, entry.sha256) for entry in manifest.entries] == [(forged, A)]


@pytest.mark.parametrize("mark", [b"", b"\\"])
def test_m03_carriage_return_written_raw_is_malformed(mark):
    manifest = parse_manifest(line(b"a\rb", mark=mark))

    assert codes(manifest) == [(1, "malformed")]


def test_m05_name_that_is_not_utf8_is_read_byte_for_byte():
    manifest = parse_manifest(line(b"caf\xe9.csv"))

    assert [os.fsencode(entry.path) for entry in manifest.entries] == [b"caf\xe9.csv"]
    assert format_manifest({entry.path: A for entry in manifest.entries}) == line(b"caf\xe9.csv")


def test_m08_separator_is_two_characters_and_the_name_is_the_rest():
    names = [b"-n", b" lead", b"trail ", b"a  b", b"*star", b" *both"]
    text = b"".join(line(name) for name in names)
    binary = b"".join(line(name, between=b" *") for name in names)

    for data in (text, binary):
        manifest = parse_manifest(data)
        assert [entry.path.encode() for entry in manifest.entries] == names
        assert (manifest.problems, manifest.warnings) == ((), ())


@pytest.mark.parametrize("between", [b" ", b"\t", b" \t", b"\t ", b"**", b""])
def test_m08_any_other_separator_is_malformed(between):
    manifest = parse_manifest(line(b"name", between=between))

    assert codes(manifest) == [(1, "malformed")]


def test_m08_backslash_path_from_windows_is_refused_with_a_hint():
    manifest = parse_manifest(line(b"plots\\fig.pdf") + line(b"plots/fig.pdf"))

    text = "holds an unescaped backslash, as paths written on Windows do; write '/'"
    problem = ManifestProblem(1, "windows-path", text, "plots\\fig.pdf")
    assert manifest.problems == (problem,)
    assert [entry.path for entry in manifest.entries] == ["plots/fig.pdf"]


def test_m09_conflicting_duplicates_name_both_lines():
    manifest = parse_manifest(line(b"a", A) + line(b"b", A) + line(b"a", B))

    text = "lines 1 and 3 list the same path with different hashes"
    assert manifest.problems == (ManifestProblem(3, "conflicting-duplicate", text, "a"),)
    assert manifest.entries == (ManifestEntry("a", A, 1), ManifestEntry("b", A, 2))


def test_m09_identical_duplicates_are_one_entry_and_a_warning():
    manifest = parse_manifest(line(b"a") + line(b"a"))

    assert manifest.entries == (ManifestEntry("a", A, 1),)
    assert manifest.problems == ()
    assert manifest.warnings == ("listed more than once with the same hash: a (lines 1 and 2)",)


def test_m09_leading_dot_slash_is_the_same_path():
    same = parse_manifest(line(b"a") + line(b"./a"))
    other = parse_manifest(line(b"a") + line(b"./a", B))

    assert same.entries == (ManifestEntry("a", A, 1),)
    assert same.warnings == (
        "a leading './' was left off the path: line 2",
        "listed more than once with the same hash: a (lines 1 and 2)",
    )
    assert codes(other) == [(2, "conflicting-duplicate")]
    assert "lines 1 and 2" in other.problems[0].text


@pytest.mark.parametrize("data", [b"", b"\n\n\n", b"\r\n\r\n"])
def test_m10_nothing_listed_is_nothing_read(data):
    assert parse_manifest(data).entries == ()


def test_m12_manifest_that_lists_itself():
    for name in (b"MANIFEST.sha256", b"./MANIFEST.sha256"):
        manifest = parse_manifest(line(b"a") + line(name))

        assert codes(manifest) == [(2, "lists-itself")]
        assert [entry.path for entry in manifest.entries] == ["a"]


@pytest.mark.parametrize(
    "name",
    [
        b"../secret",
        b"/etc/hostname",
        b"x/../a",
        b"a//b",
        b"a/",
        b".",
        b"..",
        b"./",
        b"./../a",
        b"./.",
        b"C:/a",
        b"x" * 300,
        b"d/" + b"x" * 300,
        b"/".join([b"y" * 200] * 21),
        b"d/" * 300 + b"e",
        b"a\x00b",
        b"././a",
        b".//a",
        b"a/.",
        b"a/..",
        b"-",
    ],
)
def test_m13_paths_that_leave_the_project(name):
    manifest = parse_manifest(line(name) + line(b"good"))

    assert codes(manifest) == [(1, "unsafe-path")]
    assert [entry.path for entry in manifest.entries] == ["good"]


def test_m13_drive_letters():
    assert codes(parse_manifest(line(rb"C:\a"))) == [(1, "windows-path")]
    assert codes(parse_manifest(line(rb"C:\\a", mark=b"\\"))) == [(1, "unsafe-path")]


def test_m14_upper_case_hash_and_no_final_newline():
    manifest = parse_manifest(line(b"a", A.upper()) + line(b"b")[:-1])

    assert manifest.entries == (ManifestEntry("a", A, 1), ManifestEntry("b", A, 2))
    assert (manifest.problems, manifest.warnings) == ((), ())


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (line(b"a", A[:63]), "not 64 hex digits"),
        (line(b"a", A + "0"), "not 64 hex digits"),
        (line(b"a", "g" + A[1:]), "not 64 hex digits"),
        (b"SHA256 (a) = " + A.encode() + b"\n", "BSD style"),
        (b"# a comment\n", "a comment"),
        (b" " + line(b"a"), "not 64 hex digits"),
        (b"   \n", "not 64 hex digits"),
        (A.encode() + b"\n", "not 64 hex digits"),
        (A.encode() + b"  \n", "not 64 hex digits"),
        (b"\xef\xbb\xbf" + line(b"a"), "a byte order mark"),
    ],
)
def test_m14_malformed_lines_are_named_and_never_skipped(bad, kind):
    manifest = parse_manifest(line(b"first") + bad + line(b"last"))

    assert codes(manifest) == [(2, "malformed")]
    assert kind in manifest.problems[0].text
    assert [entry.path for entry in manifest.entries] == ["first", "last"]


def test_a_plain_line_costs_few_calls():
    calls = {}
    for lines in (2_000, 20_000):
        hashes = {f"data/run{at % 50}/output_{at}.csv": f"{at:064x}" for at in range(lines)}
        data = format_manifest(hashes)
        with counted() as counts:
            manifest = parse_manifest(data)
        assert len(manifest.entries) == lines
        calls[lines] = counts["calls"]

    assert calls[20_000] - calls[2_000] <= 18_000  # one, which makes the entry


HOSTILE = {
    "one line": lambda: b"x" * 2**26,
    "escapes": lambda: b"\\" + A.encode() + b"  " + b"\\" * (2**26 - 70),
    "slashes": lambda: A.encode() + b"  " + b"a/" * (2**25 - 70),
    "blank": lambda: b"\n" * 2**26,
    "short": lambda: b"x\n" * 2**25,
    "bad": lambda: (b"x" * 60 + b"\n") * 10**6,
    "conflicts": lambda: (line(b"a", A) + line(b"a", B)) * 480_000,
    "too large": lambda: b"x" * (2**26 + 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_manifests_are_refused_soon(name):
    data = HOSTILE[name]()
    with takes_at_most(100):  # a second is 25
        manifest = parse_manifest(data)

    assert 1 <= len(manifest.problems) <= module.MAX_PROBLEMS + 1
    assert len(manifest.entries) <= 1
