"""A step that waits for its person: paused, resumed, done or given up, and terminals inside it."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.core.spec import Flag, Shape
from vaibify_lab.handlers.base import Handler, allowed, require_recording
from vaibify_lab.handlers.runs import person_of
from vaibify_lab.runs.waiting import Word

NOTHING = Shape({})
COMPLETED = Shape({"abandon": Flag()})


class _WordHandler(Handler):
    """What a person says of a step that waits; the runner does it, and the journal tells."""

    async def speak(self, identity: str, slug: str, word: Word) -> None:
        """Pass it on."""
        require_recording(self)
        person = person_of(self.current_user)
        project = (await self.entry(identity)).afresh()

        def tell() -> dict[str, Any]:
            found = project.speak(project.step(slug).slug, word, person)
            return {"run_id": found.folder.run_id, "step": found.slug}

        self.answer(await asyncio.to_thread(tell), 202)


class HoldHandler(_WordHandler):
    """``projects/<id>/steps/<slug>/pause`` and ``…/resume``."""

    words: ClassVar[dict[str, Word]] = {"pause": "pause", "resume": "resume"}

    @allowed("execute", "runs")
    async def post(self, identity: str, slug: str, word: str) -> None:
        """Let its processes stand still, or go on."""
        self.body(NOTHING)
        await self.speak(identity, slug, self.words[word])


class CompleteHandler(_WordHandler):
    """``projects/<id>/steps/<slug>/complete``."""

    @allowed("execute", "runs")
    async def post(self, identity: str, slug: str) -> None:
        """End it: done, or given up."""
        is_given_up = self.body(COMPLETED).get("abandon", False)
        await self.speak(identity, slug, "abandon" if is_given_up else "complete")


class StepTerminalsHandler(Handler):
    """``projects/<id>/steps/<slug>/terminals``."""

    @allowed("execute", "terminals")
    async def post(self, identity: str, slug: str) -> None:
        """Open one of Jupyter's terminals, which runs ``attach`` and nothing else."""
        self.body(NOTHING)
        require_recording(self)
        manager = self.settings.get("terminal_manager")
        if manager is None:
            action = "start it with --ServerApp.terminals_enabled=True, or type: jupyter vaibify"
            raise CannotCheck("this Jupyter server gives no terminals", action=f"{action} attach")
        project = (await self.entry(identity)).afresh()
        command = await asyncio.to_thread(lambda: project.attach_command(project.step(slug).slug))
        made = manager.create(shell_command=command, cwd=str(project.root))
        self.answer({"name": made["name"]}, 201)
