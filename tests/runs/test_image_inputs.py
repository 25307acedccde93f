"""What goes into an image is asked of git and uv so that nothing of the project's own is run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from tests.kit import Made, git
from tests.runs.here import step
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.runs.image_inputs import BuildAsked, Work, prepare
from vaibify_lab.runs.opened import Opened

NO_ENGINE = cast(Any, None)


@pytest.mark.parametrize("url", ["https://127.0.0.1:9/lib.git", "ssh://git@127.0.0.1:9/lib.git"])
def test_programs_that_the_project_s_git_configuration_names_are_not_run(
    tmp_path: Path, url: str
) -> None:
    """A project that came as an archive brings its own ``.git/config``."""
    ran = tmp_path / "ran"
    files = {"container.conf": f"lib|{url}|main|reference\n", "Dockerfile": "FROM scratch\n"}
    made = Made.new(tmp_path / "p", [step("One", "true")], files)
    for key, value in {
        "protocol.ext.allow": "always",
        f"url.ext::touch {ran} #.insteadOf": "https://",
        "core.sshCommand": f"touch {ran}; false",
        "credential.helper": f"!touch {ran}",
    }.items():
        git(made.root, "config", key, value)
    folder = tmp_path / "work"
    folder.mkdir()
    work = Work(Opened(made.root), NO_ENGINE, BuildAsked(), lambda line: None, folder)
    with pytest.raises(CannotCheck, match=r"lib\.git: git ls-remote failed"):
        prepare(work)
    assert not ran.exists()
    subprocess.run(["git", "ls-remote", url], cwd=made.root, capture_output=True, check=False)
    assert ran.exists(), "which plain git would have done there"
