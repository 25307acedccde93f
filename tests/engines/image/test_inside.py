"""What an image says of itself, beside what its own tools print, and that it is asked once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from docker import APIClient
from docker.errors import DockerException
from packaging.utils import canonicalize_name

from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image
from vaibify_lab.engines.image.remembered import inside_of
from vaibify_lab.engines.image.throwaway import ask_image

LISTED = (
    "import importlib.metadata as m\n"
    "for d in m.distributions(): print(d.metadata['Name'], d.version, sep='==')"
)


def printed(client: Any, image: str, script: str) -> list[str]:
    """Return the lines that a script prints in an image, sorted."""
    return sorted(ask_image(client, image, script).out.decode().splitlines())


def test_packages_are_those_that_pip_lists(client: Any, base: str) -> None:
    found = list(look_inside(client, base).frozen)
    assert found == printed(client, base, "python3 -m pip freeze --all 2>/dev/null")
    assert [one for one in found if one.startswith("pip==")]


def test_without_pip_they_are_those_that_python_finds(client: Any, bare: str) -> None:
    inside = look_inside(client, bare)
    lines = printed(client, bare, f'python3 -c "{LISTED}"')
    parts = [one.partition("==") for one in lines]
    assert inside.pip is None
    assert list(inside.frozen) == sorted({f"{canonicalize_name(a)}=={b}" for a, _, b in parts})


def test_an_image_is_asked_once(
    client: Any, bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    digest = local_image(client, bare).config_digest
    nobody = APIClient("tcp://127.0.0.1:9", version="1.41", timeout=5)
    with pytest.raises((CannotCheck, DockerException)):
        inside_of(nobody, digest)
    found = inside_of(client, digest)
    assert found.python is not None
    kept = inside_of(nobody, digest)
    assert (kept.frozen, kept.libc, kept.packages) == (found.frozen, found.libc, found.packages)
    (place,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    place.write_bytes(place.read_bytes().replace(b"CPython", b"Cpython"))
    with pytest.raises((CannotCheck, DockerException)):
        inside_of(nobody, digest)
