"""The line for .gitattributes, asked of real git over odd names."""

import os
import subprocess

import pytest

from vaibify_lab.files.attributes import attribute_line

NAMES = ["data.csv", "a b.csv", "plots/[1]*?.csv", 'say "x".csv', "back\\slash", "#hash", "!not"]
NAMES += ["tab\there", "line\nend", "é.csv", " lead", "trail ", os.fsdecode(b"caf\xe9"), "[attr]x"]


@pytest.mark.parametrize("name", NAMES)
def test_git_reads_it_as_meant_for_this_file_alone(tmp_path, name):
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / ".gitattributes").write_bytes(
        os.fsencode(f"* text\n{attribute_line(name, '-text')}\n")
    )

    others = [f"sub/{name}", f"{name}x", "other"]
    asked = [*git, "check-attr", "-z", "text", "--", name, *others]
    fields = subprocess.run(asked, check=True, capture_output=True).stdout.split(b"\0")

    assert fields[2::3] == [b"unset", b"set", b"set", b"set"]
