"""The Jupyter Server extension: its settings, its addresses, what it keeps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, CFloat, CInt, Enum, default

from vaibify_lab.events import SCHEMAS, Emitter
from vaibify_lab.handlers.base import SETTING
from vaibify_lab.handlers.routes import ROUTES
from vaibify_lab.serving.bench import Bench, Settings
from vaibify_lab.serving.places import ServerRoot
from vaibify_lab.serving.shelf import Shelf
from vaibify_lab.serving.walk import DEEPEST, MOST_FOLDERS, Limits

_CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"
_YES = ("1", "true", "yes", "on")


class VaibifyApp(ExtensionApp):
    """Verified steps for JupyterLab: the server's half.

    It is configured as ``c.VaibifyApp`` in jupyter_server_config.py or jupyter_vaibify_config.py.
    """

    name = "vaibify"

    poll_seconds = CFloat(5.0, min=0.5, help="How often a client asks what is true.").tag(
        config=True
    )
    reviewer = Bool(help="Record nothing in any project; $VAIBIFY_REVIEWER=1 does the same.").tag(
        config=True
    )
    engine = Enum(
        ("auto", "docker", "local"), "auto", help="Where steps run unless a request says."
    ).tag(config=True)

    search_folders = CInt(
        MOST_FOLDERS, min=1, help="How many folders are looked into for projects."
    ).tag(config=True)
    search_depth = CInt(
        DEEPEST, min=0, help="How deep below the server's root projects are looked for."
    ).tag(config=True)

    @default("reviewer")
    def _reviewer_default(self) -> bool:
        return os.environ.get("VAIBIFY_REVIEWER", "").lower() in _YES

    def initialize_settings(self) -> None:
        """Make what the handlers work at."""
        assert self.serverapp is not None
        logger = self.serverapp.event_logger
        assert logger is not None
        for schema in SCHEMAS:
            logger.register_event_schema(schema)
        served = getattr(self.serverapp.contents_manager, "root_dir", "") or self.serverapp.root_dir
        settings = Settings(self.poll_seconds, self.reviewer, {"engine": self.engine})
        limits = Limits(self.search_folders, self.search_depth)
        shelf = Shelf(ServerRoot(Path(served)), limits)
        self.bench = Bench(shelf, settings, Emitter(logger), self.log.error)
        self.settings[SETTING] = self.bench
        logger.add_listener(schema_id=_CONTENTS_EVENTS, listener=self._on_contents)

    def initialize_handlers(self) -> None:
        """Add the addresses."""
        self.handlers.extend((f"/vaibify/{pattern}", handler) for pattern, handler in ROUTES)

    async def stop_extension(self) -> None:
        """Let go when the server ends; runs go on."""
        await self.bench.close()

    async def _on_contents(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        if data.get("action") == "save" and str(data.get("path", "")).endswith(".ipynb"):
            await self.bench.saved(data["path"])
