"""The step cells of a notebook, on disk or in somebody's editor; and one of them declared."""

from __future__ import annotations

import asyncio
from typing import Any

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.spec import Either, Listed, Shape, Text
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.notebooks.cell_proposal import propose_cell
from vaibify_lab.notebooks.scan import Source
from vaibify_lab.project import Project
from vaibify_lab.project.cells import PYTHON, cell_in, cell_states, sources_in

_ID = Either((Text(1000),), null=True)
_MOST = 10_000
EDITED = Shape(
    {
        "language": Text(100),
        "cells": Listed(
            Shape({"id": _ID, "source": Text(1_000_000)}, frozenset({"source"})), _MOST
        ),
    },
    frozenset({"cells"}),
)
DECLARED = Shape({"source": Text(1_000_000)}, frozenset({"source"}))


PROPOSED = Shape(
    {"source": Text(1_000_000), "above": Text(1_000_000), "notebook": Text(4096)},
    frozenset({"source"}),
)


class ProposalHandler(Handler):
    """``projects/<id>/cells/proposal``."""

    @allowed("read", "cells")
    async def post(self, identity: str) -> None:
        """Propose the step that a cell could be; null for one that is no plain code."""
        asked = self.body(PROPOSED)
        await self.entry(identity)
        words = (asked.get("notebook", ""), asked.get("above", ""), asked["source"])
        found = await asyncio.to_thread(propose_cell, *words)
        self.answer({"proposal": found.to_json() if found else None})


class CellsHandler(Handler):
    """``projects/<id>/cells``."""

    _track_activity = False

    @allowed("read", "cells")
    async def get(self, identity: str) -> None:
        """Return the step cells of a notebook file."""
        path = self.get_query_argument("notebook", "")
        if not path:
            raise UsageError("notebook: name one by its path in the repository")

        def states(project: Project) -> dict[str, Any]:
            sources = sources_in(project.opened, path)
            return {"cells": cell_states(project.opened, project.look(), sources)}

        self.answer(await self.ask(identity, states))

    @allowed("read", "cells")
    async def post(self, identity: str) -> None:
        """Return the step cells among those that an editor holds; nothing is recorded."""
        asked = self.body(EDITED)
        known = asked.get("language", PYTHON).lower() == PYTHON
        cells = asked["cells"] if known else []
        sources = [Source(at, one.get("id"), one["source"]) for at, one in enumerate(cells, 1)]

        def states(project: Project) -> dict[str, Any]:
            return {"cells": cell_states(project.opened, project.look(), sources)}

        self.answer(await self.ask(identity, states))

    @allowed("write", "cells")
    async def put(self, identity: str) -> None:
        """Write one cell down: its script, and its step in the workflow."""
        cell = await asyncio.to_thread(cell_in, self.body(DECLARED)["source"])

        def declare(project: Project) -> dict[str, Any]:
            done = project.declare_cell(cell)
            return {"slug": done.slug, "script": done.path, "changes": list(done.changes)}

        self.answer(await self.ask(identity, declare))
