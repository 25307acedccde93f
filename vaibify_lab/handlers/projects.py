"""The list of projects, and to which of them a file of the contents API belongs."""

from __future__ import annotations

from typing import Any

from vaibify_lab import __version__
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.serving.shelf import Entry, Found, Here, titled


class ProjectsHandler(Handler):
    """``projects``."""

    _track_activity = False

    @allowed("read", "projects")
    async def get(self) -> None:
        """List the projects below the server's root."""
        contents = self.get_query_argument("contents", None)
        here = None if contents is None else await self.shelf.here(contents)
        found = await self.shelf.find() if here is None else here.found
        projects = [_head(one) | await self.shelf.ask(one, titled) for one in found.entries]
        value = {
            "instance": self.shelf.instance,
            "version": __version__,
            "settings": self.bench.settings.to_json(),
            "root": str(self.shelf.root.path),
            "projects": projects,
            **_around(found),
        }
        self.answer(value if here is None else value | {"here": _here(here)})


def _head(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "contents": entry.shelved.contents,
        "root": str(entry.root),
        "workflow": entry.workflow,
    }


def _around(found: Found) -> dict[str, Any]:
    repositories = [
        {
            "contents": one.contents,
            "root": str(one.opened.tree.root),
            "projects": [entry.id for entry in found.entries if entry.shelved is one],
        }
        for one in found.repositories
    ]
    refused = [{"contents": one.contents, "error": one.error.to_json()} for one in found.refused]
    return {"repositories": repositories, "refused": refused, "complete": found.complete}


def _here(here: Here) -> dict[str, Any]:
    return {
        "contents": here.contents,
        "path": here.path,
        "projects": [entry.id for entry in here.entries],
        "error": here.error.to_json() if here.error else None,
    }
