"""The container engine of this machine, asked for once and only when a tier needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.envelope.environment import NAME, EnvironmentFile, parse_environment
from vaibify_lab.runs.opened import Opened

if TYPE_CHECKING:
    from docker import APIClient

    from vaibify_lab.ceremony.packages_inside import PinnedImage


@dataclass(slots=True)
class EngineHere:
    """What this machine can do with the image that a project pins."""

    opened: Opened
    tell: Callable[[str], None]
    _asked: tuple[APIClient | None, str | None] | None = field(default=None)

    def client(self) -> tuple[APIClient | None, str | None]:
        """Return a client, or why there is none; nobody is asked when no image could be pulled."""
        if self._asked is None:
            self._asked = self._connect()
        return self._asked

    def pinned_image(self) -> tuple[PinnedImage | None, str | None]:
        """Return the pinned image, pulled; or why not, None where no image is pinned."""
        environment = self._environment()
        if environment is None or environment.registry_digest is None:
            return None, None
        client, why = self.client()
        if client is None:
            return None, why
        from vaibify_lab.ceremony.packages_inside import PinnedImage
        from vaibify_lab.engines.image.registry import pull

        self.tell(f"pulling {environment.registry_digest}")
        try:
            pulled = pull(
                client,
                environment.registry_digest,
                platform=environment.platform,
                tell=self.tell,
            )
        except VaibifyError as error:
            return None, error.text
        if environment.config_digest not in (None, pulled.image.config_digest):
            return None, "what is pulled is not the image that was recorded"
        return PinnedImage(client, pulled.image.id, self.tell), None

    def _connect(self) -> tuple[APIClient | None, str | None]:
        environment = self._environment()
        if environment is None or environment.registry_digest is None:
            return None, None
        from vaibify_lab.engines.image.client import connect

        try:
            return connect(), None
        except VaibifyError as error:
            return None, error.text

    def _environment(self) -> EnvironmentFile | None:
        """Return environment.json; None where it is missing or malformed, which tier 3 says."""
        if self.opened.tree.lstat(NAME) is None:
            return None
        try:
            return parse_environment(self.opened.tree.read(NAME))
        except VaibifyError:
            return None
