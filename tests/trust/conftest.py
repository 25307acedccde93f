"""An engine and a registry for the projects of these tests."""

from tests.containers import base, client, engine_room, registry, shared  # noqa: F401  fixtures
