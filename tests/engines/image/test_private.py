"""Repositories behind a password: the host's git gets in, and nothing else holds the secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.image.private_git import served
from tests.engines.image.projects import build, library, project
from tests.kit import Made, git
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.engines.image.throwaway import ask_image
from vaibify_lab.envelope.environment import NAME, parse_environment

SECRET = "wX4-very-5ecret-Zq9"
ANSWER = "import mylib; print(mylib.ANSWER)"


def helper(password: str) -> str:
    """Return a credential helper that knows a password, as a keyring's would."""
    return f"!f() {{ test $1 = get && echo username=ada && echo password={password}; }}; f"


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    """Give the URL of a repository that only Ada may read."""
    library(tmp_path / "served" / "mylib")
    with served(tmp_path / "served", "ada", SECRET) as url:
        yield f"{url}/mylib/.git"


@pytest.fixture
def made(tmp_path: Path, base: str, repository: str, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A project whose image holds that repository; this machine's git knows no password yet."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.delenv("GIT_ASKPASS", raising=False)
    found = project(tmp_path / "p", base)
    found.write("container.conf", f"mylib|{repository}|main|pip_no_deps\n")
    found.commit()
    return found


def everywhere(made: Made, client: Any, image: str) -> Iterator[bytes]:
    """Yield all that a build leaves: the whole image, its history, and every file of ours."""
    tail = b""
    for piece in client.get_image(image):
        yield tail + piece
        tail = piece[-len(SECRET) :]
    yield json.dumps([client.inspect_image(image), client.history(image)]).encode()
    own = made.root / ".git" / "config"
    for path in made.root.rglob("*"):
        if path.is_file() and path != own:
            yield path.read_bytes()


def test_the_credential_helper_of_the_host_is_used_and_its_secret_goes_nowhere(
    made: Made, client: Any
) -> None:
    git(made.root, "config", "--global", "credential.helper", helper(SECRET))
    said: list[str] = []

    report = build(made, client, said)

    assert report.sources[0].kind == "branch"
    assert not [
        one for one in everywhere(made, client, report.config_digest) if SECRET.encode() in one
    ]
    assert SECRET not in "\n".join([*said, *report.warnings, json.dumps(report.as_json())])
    image = parse_environment((made.root / NAME).read_bytes())
    assert image.config_digest == report.config_digest
    assert ask_image(client, report.config_digest, f"python -c '{ANSWER}'").out == b"1\n"


def test_settings_that_lie_in_the_project_give_no_access_and_run_nothing(
    made: Made, client: Any
) -> None:
    """They may have come with the folder: a helper there is a program of whoever made it."""
    ran = made.root.parent / "ran"
    git(made.root, "config", "credential.helper", f"!touch {ran}; {helper(SECRET)[1:]}")

    with pytest.raises(CannotCheck, match="could not read Username"):
        build(made, client)

    assert not ran.exists()


@pytest.mark.parametrize(
    ("password", "said"),
    [
        (None, "could not read Username for 'http://127.0.0.1"),
        ("wr0ng-one", "Authentication failed for 'http://127.0.0.1"),
    ],
)
def test_without_the_password_it_is_said_at_once_and_nobody_is_asked(
    made: Made, client: Any, password: str | None, said: str
) -> None:
    if password is not None:
        git(made.root, "config", "--global", "credential.helper", helper(password))

    with pytest.raises(CannotCheck) as caught:
        build(made, client)

    assert caught.value.where == "container.conf, line 1"
    assert said in caught.value.text
    assert "wr0ng-one" not in str(caught.value)
    assert caught.value.action == "git ls-remote shows whether this machine may read it"
