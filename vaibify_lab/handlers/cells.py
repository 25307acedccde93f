"""The step cells of a notebook, on disk or in somebody's editor; and one of them declared."""

from __future__ import annotations

import asyncio
from typing import Any

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.spec import Either, Listed, Shape, Text
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.notebooks.cell_proposal import CellProposal, propose_cell
from vaibify_lab.notebooks.scan import Source
from vaibify_lab.project import Project
from vaibify_lab.project.cells import (
    PYTHON,
    cell_in,
    cell_of,
    cell_states,
    named_workflow,
    sources_in,
)

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
_PATHS = Listed(Text(4096), 1000)
_STEP = Shape(
    {
        "name": Text(200, shortest=1),
        "directory": Text(4096),
        "inputs": _PATHS,
        "data": _PATHS,
        "plots": _PATHS,
    },
    frozenset({"name"}),
)
DECLARED = Shape({"source": Text(1_000_000), "step": _STEP}, frozenset({"source"}))
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
        taken = await self.ask(identity, lambda one: one.opened.workflow(one.path).by_slug)
        words = (asked.get("notebook", ""), asked.get("above", ""), asked["source"])
        found = await asyncio.to_thread(propose_cell, *words, taken)
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
        """Write one cell down: its script, and its step in the workflow; make it one if asked."""
        asked = self.body(DECLARED)
        step = CellProposal.from_json(asked["step"]) if "step" in asked else None

        def declare(project: Project) -> dict[str, Any]:
            opened, path = project.opened, project.path
            line = step.line(named_workflow(opened, path)) if step else None
            cell = cell_in(asked["source"]) if line is None else cell_of(line, asked["source"])
            done = project.declare_cell(cell, new=line is not None)
            answer = {"slug": done.slug, "script": done.path, "changes": list(done.changes)}
            return answer if line is None else answer | {"line": line}

        self.answer(await self.ask(identity, declare))
