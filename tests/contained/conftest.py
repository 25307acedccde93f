"""The real engine, and images that projects pin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from docker.errors import NotFound

from tests.containers import (  # noqa: F401  fixtures
    bare,
    base,
    client,
    engine_room,
    python,
    registry,
    unique,
)
from tests.engines.docker.conftest import around, private, small  # noqa: F401  fixtures
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image

from .pinned import Image


@pytest.fixture(scope="session")
def image(client: Any, engine_room: dict[str, str]) -> Image:  # noqa: F811
    """Return an image with bash and Python that the loopback registry has."""
    name = engine_room["VAIBIFY_TEST_HOST_ID"]
    digest = engine_room["VAIBIFY_TEST_HOST_DIGEST"]
    return Image(local_image(client, name), look_inside(client, name), digest)


@pytest.fixture
def other(client: Any, image: Image) -> Iterator[Image]:  # noqa: F811
    """Give an image with the same files and another digest, which was never pushed."""
    made = client.create_container(image.local.id, command=["true"])
    label = f'LABEL unlike="{unique()}"'
    name = client.commit(made["Id"], changes=[label])["Id"]
    client.remove_container(made["Id"])
    yield Image(local_image(client, name), image.inside)
    with suppress(NotFound):  # the test may have taken it away
        client.remove_image(name, force=True)
