"""An engine and a registry for the projects of these tests."""

from tests.containers import base as base
from tests.containers import client as client
from tests.containers import engine_room as engine_room
from tests.containers import registry as registry
from tests.containers import shared as shared
