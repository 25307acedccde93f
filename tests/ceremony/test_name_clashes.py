"""Names that some disk takes for one: told before a manifest lists both (cases M06, M07)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import Made
from vaibify_lab.ceremony.integrity import check_integrity
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.files.tree import Tree

WHY = "are one name on a file system that ignores case or normalises Unicode"
COMPOSED, DECOMPOSED = "caf\u00e9.csv", "cafe\u0301.csv"
FORMS = r"'out/caf\u00e9.csv' and 'out/cafe\u0301.csv' " + WHY
CLASHES = [
    (("out/A.csv", "out/a.csv"), f"'out/a.csv' and 'out/A.csv' {WHY}"),
    ((f"out/{COMPOSED}", f"out/{DECOMPOSED}"), FORMS),
    (("out/A", "out/a/b"), f"the folder of 'out/a/b' and 'out/A' {WHY}"),
]


def step(*outputs: str) -> dict[str, object]:
    return {
        "sName": "Make",
        "saDataCommands": ["true"],
        "saDataFiles": list(outputs),
        "bNoInputData": True,
        "bNoTests": True,
    }


def missing(made: Made) -> list[str]:
    """Return what keeps the rung of reproduction from being met."""
    [rung] = [one for one in made.project().report().levels if one.level == "L3"]
    return [one.text for one in rung.missing if one.code == "manifest-fault"]


@pytest.mark.parametrize(("files", "text"), CLASHES)
def test_no_manifest_lists_two_files_of_a_folder_that_clash(
    tmp_path: Path, files: tuple[str, ...], text: str
) -> None:
    made = Made.new(tmp_path / "r", [step("out/")], dict.fromkeys(["out/x", "out/y"], "1"))
    made.project().envelope("manifest")
    assert missing(made) == [] and vaibify(made.root, "check").code == 0
    before = made.read("MANIFEST.sha256")
    for number, path in enumerate(files):
        made.write(path, f"{number}\n")

    done = vaibify(made.root, "envelope", "--only", "manifest")

    error = f"jupyter vaibify envelope: MANIFEST.sha256: cannot list both: {text}; rename one of"
    assert (done.code, done.err) == (2, f"{error} them\n")
    assert made.read("MANIFEST.sha256") == before
    assert missing(made) == [text]
    for more in ((), ("--publish",)):
        done = vaibify(made.root, "check", *more)
        assert (done.code, done.err) == (1, f"jupyter vaibify check: {text}; rename one of them\n")
    (made.root / files[0]).unlink()
    made.project().envelope("manifest")
    assert check_integrity(Tree(made.root)).warnings == ()


def test_m06_a_file_nobody_declared_in_another_form_is_told_before_tier_1_fails_of_it(
    tmp_path: Path,
) -> None:
    path = f"out/{COMPOSED}"
    made = Made.new(tmp_path / "r", [step(path)], {path: "1"})
    made.project().envelope("manifest")
    made.write(f"out/{DECOMPOSED}", "2")
    assert check_integrity(Tree(made.root)).problems[0].code == "name-clash"
    with pytest.raises(InvalidFile, match="cannot list both"):
        made.project().envelope("manifest")
    assert vaibify(made.root, "check").code == 1
    [text] = missing(made)
    assert r"'out/caf\u00e9.csv'" in text and r"'out/cafe\u0301.csv'" in text


def test_m07_two_workflows_clash_too(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", [step("out/A")], {"out/A": "1", "out/a": "2"})
    made.workflow([step("out/a")], at=".vaibify/workflows/other.json")
    made.commit()
    with pytest.raises(InvalidFile, match="'out/a' and 'out/A' are one name"):
        made.project("workflow.json").envelope("manifest")
    assert not (made.root / "MANIFEST.sha256").exists()


def test_m07_a_manifest_that_others_wrote_holds_while_its_disk_holds_both(tmp_path: Path) -> None:
    """Its bytes are those that are listed, and sha256sum says so; a clone is warned of."""
    made = Made.new(tmp_path / "r", [step("out/")], {"out/A": "1", "out/b": "2"})
    made.project().envelope("manifest")
    (made.root / "out/b").rename(made.root / "out/a")
    made.write("MANIFEST.sha256", made.read("MANIFEST.sha256").replace("out/b", "out/a"))
    report = check_integrity(Tree(made.root))
    assert report.state == "passed"
    assert report.warnings == (
        "names that some disks cannot tell apart, so that a clone loses one: 'out/A' and 'out/a'",
    )
