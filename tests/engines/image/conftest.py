"""The real engine and a registry on loopback."""

from tests.containers import bare as bare
from tests.containers import base as base
from tests.containers import client as client
from tests.containers import engine_room as engine_room
from tests.containers import image as image
from tests.containers import python as python
from tests.containers import registry as registry
from tests.containers import shared as shared
