"""The real engine and a registry on loopback."""

from tests.containers import (  # noqa: F401  fixtures
    bare,
    base,
    client,
    engine_room,
    image,
    python,
    registry,
    shared,
)
