"""Tier 1 over real files, with real coreutils and real git beside it."""

import hashlib
import os
import random
import subprocess
from pathlib import Path

import pytest

from vaibify_lab.ceremony.integrity import check_integrity
from vaibify_lab.ceremony.listed_file import judge
from vaibify_lab.ceremony.report import TierProblem, TierReport
from vaibify_lab.core.observed import FileState
from vaibify_lab.envelope.manifest import ATTRIBUTE_LINE, NAME, ManifestEntry, format_manifest
from vaibify_lab.files.disk_names import DiskNames
from vaibify_lab.files.tree import Tree

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n"
MODIFIED = "its bytes are not those that were listed"
WRITE_IT = "does not exist; write it: jupyter vaibify envelope"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def put(root: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def make(root: Path, files: dict[str, bytes]) -> dict[str, str]:
    """Write files and their manifest; return the hashes."""
    put(root, files)
    hashes = {name: sha(content) for name, content in files.items()}
    (root / NAME).write_bytes(format_manifest(hashes))
    return hashes


def by_hand(root: Path) -> int:
    command = ["sha256sum", "-c", NAME]
    done = subprocess.run(command, cwd=root, capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode


def both(root: Path, **questions) -> tuple[TierReport, int]:
    return check_integrity(Tree(root), **questions), by_hand(root)


def found(report: TierReport) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.path) for problem in report.problems]


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


THREE = {"a.csv": b"1,2\n", "plots/fig.pdf": b"\0\1\2", "code/run.py": b"print(1)\n"}


def test_all_is_well(tmp_path):
    make(tmp_path, THREE)
    seen = []

    report, code = both(tmp_path, progress=lambda *numbers: seen.append(numbers))

    assert report == TierReport(1, "passed", "3/3 OK", listed=3, checked=3)
    assert (report.exit_code, code) == (0, 0)
    assert seen == [(1, 3, 4), (2, 3, 13), (3, 3, 16)]


def test_one_flipped_bit_anywhere_is_found_and_restored(tmp_path):
    make(tmp_path, THREE)
    chance = random.Random(7)
    for name, content in THREE.items():
        at = chance.randrange(len(content))
        flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        (tmp_path / name).write_bytes(flipped)

        report, code = both(tmp_path)

        assert report == TierReport(
            1,
            "failed",
            "FAILED, 2 of 3 match",
            listed=3,
            checked=3,
            problems=(TierProblem("modified", MODIFIED, name),),
        )
        assert (report.exit_code, code) == (1, 1)
        (tmp_path / name).write_bytes(content)
        assert both(tmp_path)[0].exit_code == 0


def test_same_size_and_time_do_not_matter(tmp_path):
    make(tmp_path, THREE)
    before = (tmp_path / "a.csv").stat()
    (tmp_path / "a.csv").write_bytes(b"1,3\n")
    os.utime(tmp_path / "a.csv", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert found(check_integrity(Tree(tmp_path))) == [("modified", "a.csv")]


def test_missing_file_is_exit_2(tmp_path):
    make(tmp_path, THREE)
    (tmp_path / "a.csv").unlink()

    report, code = both(tmp_path)

    assert (report.state, report.line) == ("failed", "FAILED, 2 of 3 match")
    assert report.problems == (TierProblem("missing", "is missing", "a.csv"),)
    assert (report.listed, report.checked) == (3, 2)
    assert (report.missing_input, report.exit_code, code) == (True, 2, 1)


def test_many_files_in_many_batches(tmp_path):
    files = {f"d{at % 7}/f{at}": bytes([at % 256]) * (at % 50) for at in range(500)}
    make(tmp_path, files)
    for name in ("d0/f7", "d1/f498"):
        (tmp_path / name).write_bytes(b"changed")

    report, code = both(tmp_path)

    assert found(report) == [("modified", "d0/f7"), ("modified", "d1/f498")]
    assert (report.line, report.listed, report.checked) == ("FAILED, 498 of 500 match", 500, 500)
    assert code == 1


def test_missing_manifest_is_exit_2_and_says_what_to_do(tmp_path):
    report = check_integrity(Tree(tmp_path))

    assert report.problems == (TierProblem("no-manifest", WRITE_IT, NAME),)
    assert (report.line, report.exit_code) == (f"FAILED, no {NAME}", 2)
    assert report.problems[0].line == f"{NAME}: {WRITE_IT}"


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_a_manifest_that_is_no_regular_file(tmp_path, kind):
    make(tmp_path, THREE)
    (tmp_path / NAME).rename(tmp_path / "elsewhere")
    path = tmp_path / NAME
    {"link": lambda: path.symlink_to("elsewhere"), "folder": path.mkdir}.get(
        kind, lambda: os.mkfifo(path)
    )()

    report = check_integrity(Tree(tmp_path))

    assert (report.state, found(report)) == ("failed", [("unusable-manifest", NAME)])
    assert report.line == f"FAILED, no usable {NAME}"


def test_m01_crlf_manifest(tmp_path):
    make(tmp_path, THREE)
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    report, code = both(tmp_path)

    assert (report.state, report.line, report.problems) == ("passed", "3/3 OK", ())
    assert len(report.warnings) == 1
    assert "CRLF" in report.warnings[0]
    assert "sha256sum before coreutils 9" in report.warnings[0]
    assert ATTRIBUTE_LINE in report.warnings[0]
    assert code == 0


def test_m03_special_characters_in_names(tmp_path):
    make(tmp_path, {f"out/{name}": name.encode() for name in ("a\\b", "a\nb", "a\rb", "a\\nb")})

    report, code = both(tmp_path)
    assert (report.line, report.warnings, code) == ("4/4 OK", (), 0)

    (tmp_path / "out/a\nb").write_bytes(b"changed")
    report, code = both(tmp_path)
    assert found(report) == [("modified", "out/a\\nb")]
    assert report.problems[0].line == f"out/a\\nb: {MODIFIED}"
    assert code == 1


def test_m03_unknown_escape_fails_with_its_line(tmp_path):
    make(tmp_path, THREE)
    with (tmp_path / NAME).open("ab") as manifest:
        manifest.write(b"\\" + sha(b"").encode() + b"  a\\tb\n")

    report, code = both(tmp_path)

    assert [(problem.code, problem.path) for problem in report.problems] == [("malformed", NAME)]
    assert report.problems[0].text.startswith(r"line 4: a\tb: holds a backslash that is not part")
    assert (report.listed, report.checked, report.exit_code) == (3, 3, 1)
    assert code == 0  # on purpose: sha256sum passes over it with a remark on standard error


def test_m05_name_that_is_not_utf8(tmp_path):
    name = os.fsdecode(b"caf\xe9.csv")
    make(tmp_path, {name: b"1"})
    report, code = both(tmp_path)
    assert (report.line, code) == ("1/1 OK", 0)

    (tmp_path / name).write_bytes(b"2")
    report, code = both(tmp_path)
    assert report.problems == (TierProblem("modified", MODIFIED, "caf\\xe9.csv"),)
    assert report.as_json()["problems"][0]["path"].encode("utf-8") == b"caf\\xe9.csv"
    assert code == 1


COMPOSED, DECOMPOSED = "donn\u00e9es/\u00e9.csv", "donne\u0301es/e\u0301.csv"


def test_m06_matched_by_normal_form_with_a_note(tmp_path):
    put(tmp_path, {DECOMPOSED: b"1"})
    (tmp_path / NAME).write_bytes(format_manifest({COMPOSED: sha(b"1")}))

    report, code = both(tmp_path)

    assert (report.state, report.line) == ("passed", "1/1 OK")
    assert len(report.warnings) == 1
    assert "sha256sum -c does not find" in report.warnings[0]
    assert COMPOSED in report.warnings[0]
    assert code == 1  # on purpose, and said

    (tmp_path / DECOMPOSED).write_bytes(b"2")
    report, _ = both(tmp_path)
    assert found(report) == [("modified", COMPOSED)]
    assert (report.listed, report.checked, report.exit_code) == (1, 1, 1)


@pytest.mark.parametrize("other", [b"1", b"2"])
def test_m06_both_forms_on_disk_is_a_clash(tmp_path, other):
    make(tmp_path, {"\u00e9.csv": b"1"})
    put(tmp_path, {"e\u0301.csv": other})

    report, code = both(tmp_path)

    text = "name clash: the disk holds it in 2 Unicode normal forms: "
    text += r"'e\u0301.csv' and '\u00e9.csv'"
    text += " (sha256sum -c takes the one that is listed)"
    assert report.problems == (TierProblem("name-clash", text, "\u00e9.csv"),)
    assert (report.exit_code, code) == (1, 0)  # on purpose: a Mac would hold one of the two


def test_m06_two_listed_forms_and_one_file(tmp_path):
    put(tmp_path, {"e\u0301.csv": b"1"})
    (tmp_path / NAME).write_bytes(
        format_manifest({"\u00e9.csv": sha(b"1"), "e\u0301.csv": sha(b"1")})
    )

    report, code = both(tmp_path)

    assert found(report) == [("missing", "\u00e9.csv")]
    assert (report.exit_code, code) == (2, 1)


def test_m07_names_equal_except_for_case(tmp_path):
    make(tmp_path, {"Plots/Fig1.pdf": b"1", "plots/fig1.pdf": b"2"})
    report, code = both(tmp_path)
    assert (report.line, code) == ("2/2 OK", 0)
    assert report.warnings == (
        "names that some disks cannot tell apart, so that a clone loses one: "
        "'Plots/Fig1.pdf' and 'plots/fig1.pdf'",
    )

    (tmp_path / "plots/fig1.pdf").unlink()
    report, code = both(tmp_path)
    assert found(report) == [("missing", "plots/fig1.pdf")]
    assert report.problems[0].text.startswith("case collision:")
    assert (report.exit_code, code) == (2, 1)


def test_m07_on_a_disk_that_ignores_case_it_is_no_modification(tmp_path):
    """Such a disk opens one file under both names: what hashing then gives is told here."""
    put(tmp_path, {"Plots/Fig1.pdf": b"1"})
    entry = ManifestEntry("plots/fig1.pdf", sha(b"2"), 2)
    opened = FileState("file", sha(b"1"), 1)

    verdict = judge(Tree(tmp_path), DiskNames(Tree(tmp_path)), entry, opened, has_rival=True)

    assert [problem.code for problem in verdict.problems] == ["case-collision"]
    assert verdict.problems[0].text.startswith("case collision:")


def test_m07_a_modified_file_is_called_modified_where_both_are_on_disk(tmp_path):
    make(tmp_path, {"Fig1.pdf": b"1", "fig1.pdf": b"2"})
    (tmp_path / "fig1.pdf").write_bytes(b"3")

    assert found(both(tmp_path)[0]) == [("modified", "fig1.pdf")]


def test_m07_a_missing_file_with_another_case_on_disk_says_so(tmp_path):
    make(tmp_path, {"fig1.pdf": b"1"})
    (tmp_path / "fig1.pdf").rename(tmp_path / "Fig1.pdf")

    report, code = both(tmp_path)

    text = "is missing; the disk has Fig1.pdf, which differs in case"
    assert report.problems == (TierProblem("missing", text, "fig1.pdf"),)
    assert (report.exit_code, code) == (2, 1)


@pytest.mark.parametrize("binary", [False, True])
def test_m08_asterisk_spaces_leading_dash(tmp_path, binary):
    make(tmp_path, {name: name.encode() for name in ("-n", " lead", "trail ", "a  b", "*s")})
    if binary:
        written = (tmp_path / NAME).read_bytes()
        lines = [line[:64] + b" *" + line[66:] for line in written.splitlines(keepends=True)]
        (tmp_path / NAME).write_bytes(b"".join(lines))

    report, code = both(tmp_path)

    assert (report.line, report.warnings, code) == ("5/5 OK", (), 0)


def test_m08_windows_separators_are_refused_with_a_hint(tmp_path):
    put(tmp_path, {"plots/fig.pdf": b"1"})
    (tmp_path / NAME).write_bytes(sha(b"1").encode() + b"  plots\\fig.pdf\n")

    report, code = both(tmp_path)

    assert found(report) == [("windows-path", NAME), ("nothing-listed", NAME)]
    assert "as paths written on Windows do" in report.problems[0].text
    assert (report.line, report.exit_code, code) == ("FAILED, nothing listed", 1, 1)


def test_m09_the_same_path_twice(tmp_path):
    put(tmp_path, {"a": b"1"})
    good, bad = sha(b"1").encode(), sha(b"2").encode()
    manifest = tmp_path / NAME

    manifest.write_bytes(good + b"  a\n" + bad + b"  a\n")
    report, code = both(tmp_path)
    assert found(report) == [("conflicting-duplicate", NAME)]
    assert "lines 1 and 2" in report.problems[0].text
    assert (report.listed, report.checked, report.exit_code, code) == (1, 1, 1, 1)

    manifest.write_bytes(good + b"  a\n" + good + b"  ./a\n")
    report, code = both(tmp_path)
    assert (report.line, len(report.warnings), code) == ("1/1 OK", 2, 0)

    manifest.write_bytes(good + b"  a\n" + bad + b"  ./a\n")
    report, code = both(tmp_path)
    assert found(report) == [("conflicting-duplicate", NAME)]
    assert (report.exit_code, code) == (1, 1)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\r\n", b"# only a comment\n"])
def test_m10_nothing_to_check_is_a_failure(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)

    report, code = both(tmp_path)

    assert ("nothing-listed", NAME) in found(report)
    assert (report.state, report.line) == ("failed", "FAILED, nothing listed")
    assert (report.exit_code, code) == (1, 1)
    assert "OK" not in report.line


def test_m11_symlinked_outputs(tmp_path):
    root, home = tmp_path / "project", tmp_path / "home"
    files = dict.fromkeys(("inside", "outside", "dangling", "folder", "under/file"), b"1")
    make(root, {**files, "real": b"1"})
    put(home, {"data": b"1", "under/file": b"1"})
    for name in files:
        (root / name).unlink()
    (root / "under").rmdir()
    (root / "inside").symlink_to("real")
    (root / "outside").symlink_to(home / "data")
    (root / "dangling").symlink_to("nowhere")
    (root / "folder").symlink_to(home)
    (root / "under").symlink_to(home / "under")

    report, code = both(root)

    assert found(report) == [("link", name) for name in sorted(files)]
    said = {problem.path: problem.text for problem in report.problems}
    refused = "links are refused (sha256sum -c follows them)"
    assert said["inside"] == f"a symbolic link to real; {refused}"
    assert said["under/file"] == f"under is a symbolic link; {refused}"
    assert (report.listed, report.checked, report.exit_code) == (6, 1, 1)
    assert code == 1  # for the dangling one and the folder alone

    for name in ("dangling", "folder"):
        (root / name).unlink()
        (root / name).write_bytes(b"1")
    report, code = both(root)
    assert found(report) == [("link", name) for name in ("inside", "outside", "under/file")]
    assert code == 0  # on purpose: by hand follows links and says OK


def test_special_files_are_named_and_never_opened(tmp_path):
    make(tmp_path, {"fifo": b"", "folder": b"", "device": b""})
    for name in ("fifo", "folder", "device"):
        (tmp_path / name).unlink()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")

    report = check_integrity(Tree(tmp_path))

    assert [(problem.code, problem.path, problem.text) for problem in report.problems] == [
        (
            "link",
            "device",
            "a symbolic link to /dev/zero; links are refused (sha256sum -c follows them)",
        ),
        ("not-regular", "fifo", "is a FIFO, not a regular file"),
        ("not-regular", "folder", "is a directory, not a regular file"),
    ]
    assert (report.checked, report.exit_code) == (0, 1)


def test_unreadable_file_is_exit_2(tmp_path):
    """As root nothing is unreadable but what no disk can hold: a hole of 100 GiB is refused."""
    make(tmp_path, THREE)
    with (tmp_path / "a.csv").open("wb") as sparse:
        sparse.truncate(100 * 2**30)

    report = check_integrity(Tree(tmp_path))

    assert found(report) == [("unreadable", "a.csv")]
    assert (report.listed, report.checked, report.exit_code) == (3, 2, 2)


def test_m12_files_nobody_listed_are_a_warning(tmp_path):
    make(tmp_path, {"plots/fig.png": b"1", "plots/sub/more.png": b"2"})
    declared = ["plots/", "nowhere/"]
    assert both(tmp_path, declared_directories=declared)[0].warnings == ()

    put(tmp_path, {"plots/extra.png": b"3", "plots/sub/\x1b[31m.png": b"4"})
    (tmp_path / "plots/link").symlink_to("fig.png")
    report, code = both(tmp_path, declared_directories=declared)

    assert (report.line, code) == ("2/2 OK", 0)
    assert report.warnings == (
        "plots/link is a symbolic link, so no manifest can list it",
        "not in manifest: plots/extra.png, plots/sub/\\x1b[31m.png",
    )


def test_m12_the_whole_project_declared_names_neither_the_manifest_nor_facts(tmp_path):
    make(tmp_path, THREE)
    put(tmp_path, {".vaibify/records/w/a.json": b"{}", ".git/config": b"", "extra": b""})

    report, _ = both(tmp_path, declared_directories=[""])

    assert report.warnings == ("not in manifest: extra",)


def test_m12_manifest_that_lists_itself(tmp_path):
    hashes = make(tmp_path, THREE)
    with (tmp_path / NAME).open("ab") as manifest:
        manifest.write(hashes["a.csv"].encode() + b"  MANIFEST.sha256\n")

    report, code = both(tmp_path)

    assert found(report) == [("lists-itself", NAME)]
    assert (report.exit_code, code) == (1, 1)


@pytest.mark.parametrize(
    ("name", "by_hand_says"),
    [
        (b"../secret", 0),
        (b"/etc/hostname", 1),
        (b"x/../a.csv", 0),
        (b"C:\\a", 1),
        (b"plots//fig.pdf", 0),
        (b"n" * 300, 1),
    ],
)
def test_m13_paths_that_leave_the_project_are_never_opened(tmp_path, name, by_hand_says):
    root = tmp_path / "project"
    make(root, {**THREE, "x/y": b""})
    (tmp_path / "secret").write_bytes(b"1")
    content = {b"../secret": b"1", b"x/../a.csv": THREE["a.csv"]}.get(name, THREE["plots/fig.pdf"])
    with (root / NAME).open("ab") as manifest:
        manifest.write(sha(content).encode() + b"  " + name + b"\n")

    report, code = both(root)

    assert [problem.path for problem in report.problems] == [NAME]
    assert report.problems[0].code in ("unsafe-path", "windows-path")
    assert report.problems[0].text.startswith("line 5: ")
    assert (report.listed, report.checked, report.exit_code) == (4, 4, 1)
    assert code == by_hand_says  # measured: coreutils takes whatever it can open


def test_m14_other_kinds_of_lines(tmp_path):
    hashes = make(tmp_path, THREE)
    upper = hashes["a.csv"].upper().encode() + b"  a.csv"

    (tmp_path / NAME).write_bytes(upper)
    report, code = both(tmp_path)
    assert (report.line, report.warnings, code) == ("1/1 OK", (), 0)

    bad = (b"SHA256 (a.csv) = " + upper[:64], b"# comment", upper[1:])
    (tmp_path / NAME).write_bytes(upper + b"\n" + b"\n".join(bad))
    report, code = both(tmp_path)
    assert found(report) == [("malformed", NAME)] * 3
    assert [problem.text[:7] for problem in report.problems] == ["line 2:", "line 3:", "line 4:"]
    assert "BSD style" in report.problems[0].text
    told = "(sha256sum -c passes over such a line, or reads it its own way)"
    assert all(problem.text.endswith(told) for problem in report.problems)
    assert (report.listed, report.checked, report.exit_code) == (1, 1, 1)
    assert code == 0  # on purpose: it passes over them


def test_g02_line_ending_conversion_of_outputs(tmp_path):
    root, clone = tmp_path / "project", tmp_path / "clone"
    make(root, {"data.csv": b"a,b\n1,2\n", "plots/fig 1.bin": b"\0\r\n\1"})
    (root / ".gitattributes").write_text(f"*.csv text\n{ATTRIBUTE_LINE}\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "x")
    git(tmp_path, "-c", "core.autocrlf=true", "clone", "-q", str(root), str(clone))
    assert (clone / "data.csv").read_bytes() == b"a,b\r\n1,2\r\n"

    report, code = both(clone)

    line = "/data.csv -text"
    text = f"only the line endings differ; put this line into .gitattributes: {line}"
    assert report.problems == (TierProblem("line-endings", text, "data.csv"),)
    assert (report.line, report.exit_code, code) == ("FAILED, 1 of 2 match", 1, 1)

    (root / ".gitattributes").write_text(f"*.csv text\n{line}\n{ATTRIBUTE_LINE}\n")
    git(root, "commit", "-q", "-a", "-m", "mended")
    mended = tmp_path / "mended"
    git(tmp_path, "-c", "core.autocrlf=true", "clone", "-q", str(root), str(mended))
    report, code = both(mended)
    assert (report.line, code) == ("2/2 OK", 0)


def test_g02_the_other_way_round_and_what_is_no_such_thing(tmp_path):
    make(tmp_path, {"crlf.csv": b"a\r\nb\r\n", "more.csv": b"a\nb\n", "binary": b"\0\n"})
    put(tmp_path, {"crlf.csv": b"a\nb\n", "more.csv": b"a\r\nb\r\nc\r\n", "binary": b"\0\r\n"})

    report, code = both(tmp_path)

    assert found(report) == [
        ("modified", "binary"),
        ("line-endings", "crlf.csv"),
        ("modified", "more.csv"),
    ]
    assert code == 1


def test_g03_lfs_pointer_instead_of_data(tmp_path):
    data = b"the real content"
    make(
        tmp_path,
        {"data.h5": data, "other.h5": b"x", "pointer.h5": POINTER.format(sha(b"y")).encode()},
    )
    put(tmp_path, {"data.h5": POINTER.format(sha(data)).encode()})
    put(tmp_path, {"other.h5": POINTER.format(sha(data)).encode()})

    report, code = both(tmp_path)

    assert [(problem.path, problem.code, problem.text) for problem in report.problems] == [
        (
            "data.h5",
            "lfs-pointer",
            "LFS pointer, content not fetched; oid matches the manifest: git lfs pull",
        ),
        ("other.h5", "lfs-pointer", "LFS pointer to other content than the manifest lists"),
        (
            "pointer.h5",
            "lfs-pointer-listed",
            "the LFS pointer itself is listed instead of its content, which is not here "
            "(sha256sum -c asks for no more than the listed bytes)",
        ),
    ]
    assert (report.listed, report.checked, report.exit_code, code) == (3, 3, 1, 1)


def test_declared_outputs_must_all_be_listed(tmp_path):
    make(tmp_path, {"a.csv": b"1", "plots/x/fig.pdf": b"2"})
    put(tmp_path, {"b.csv": b"3"})

    whole = check_integrity(Tree(tmp_path), expected=["a.csv", "plots/", "plots/x/"])
    lacking = check_integrity(Tree(tmp_path), expected=["a.csv", "b.csv", "figures/", "plots/y/"])

    assert whole.exit_code == 0
    text = "is declared but not listed in MANIFEST.sha256"
    text += " (sha256sum -c looks at listed files alone)"
    assert lacking.problems == tuple(
        TierProblem("not-listed", text, path) for path in ("b.csv", "figures/", "plots/y/")
    )
    assert (lacking.line, lacking.exit_code) == ("FAILED, 2 of 2 match", 1)
    assert by_hand(tmp_path) == 0  # on purpose: it cannot know what was declared


def test_a_name_made_to_look_like_markup_or_another_line_stays_text(tmp_path):
    names = ["<img onerror=alert(1)>", "100%", "x\n47/47 OK", "\u202egnp.exe"]
    make(tmp_path, dict.fromkeys(names, b"1"))
    for name in names:
        (tmp_path / name).write_bytes(b"2")

    lines = [problem.line for problem in check_integrity(Tree(tmp_path)).problems]

    assert lines == [
        f"100%: {MODIFIED}",
        f"<img onerror=alert(1)>: {MODIFIED}",
        f"x\\n47/47 OK: {MODIFIED}",
        f"\\u202egnp.exe: {MODIFIED}",
    ]


def test_random_trees_agree_with_by_hand(tmp_path):
    """Both verdicts, over changes that both tools can see."""
    chance = random.Random(11)
    for number in range(25):
        root = tmp_path / str(number)
        files = {f"d{chance.randrange(3)}/{at}": chance.randbytes(9) for at in range(6)}
        make(root, files)
        for name in files:
            change = chance.random()
            if change < 0.05:
                (root / name).unlink()
            elif change < 0.1:
                (root / name).write_bytes(chance.randbytes(9))

        report, code = both(root)

        assert (report.exit_code == 0) == (code == 0)
        assert (report.state == "passed") == (report.line == "6/6 OK")
