"""Who somebody is, where the system may not know."""

import os
from pathlib import Path

import pytest

from tests.kit import CHAIN, CHAIN_FILES, Made, git
from vaibify_lab.core.user import login_name


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who is but a number, as containers of some clusters have."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)


def test_a_number_without_a_name(nameless: None) -> None:
    assert login_name() is None


def test_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert login_name() == "ada"


def test_a_project_is_used_without_any_name(
    tmp_path: Path, nameless: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    made = Made.new(tmp_path / "r", CHAIN, CHAIN_FILES)
    git(made.root, "config", "--unset", "user.name")
    git(made.root, "config", "--unset", "user.email")
    assert made.project().person() == "user 4000000"
