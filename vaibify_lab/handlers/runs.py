"""Runs: the same detached process as on the command line, started, listed, stopped, read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, get_args

from jupyter_server.auth.identity import User

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.model import CATEGORIES
from vaibify_lab.core.spec import Either, Flag, Kind, Listed, Number, OneOf, Shape, Text
from vaibify_lab.handlers.base import Common, Handler, allowed, require_recording
from vaibify_lab.project import Project
from vaibify_lab.runs.history import summary
from vaibify_lab.runs.journal import RunFolder
from vaibify_lab.runs.logs import open_named
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.plan import Mode
from vaibify_lab.serving.shelf import Entry

_STEPS = Listed(Text(1000, 1), 100_000)
_CATEGORY = Either((OneOf(CATEGORIES),), null=True)
_KEYS: dict[str, Kind] = {
    "mode": OneOf(get_args(Mode)),
    "steps": _STEPS,
    "jobs": Either((Number(1, 999_999, whole=True),), null=True),
    "engine": OneOf(("auto", "docker", "local")),
    "tier": OneOf(("auto", "bwrap", "landlock", "plain")),
    **dict.fromkeys(("deterministic", "plot_only", "sealed", "clean", "twice"), Flag()),
    **dict.fromkeys(("tests", "tests_only", "interactive", "no_cache"), Flag()),
    "category": _CATEGORY,
}
ASKED = Shape(_KEYS)
TESTS_ASKED = Shape({"steps": _STEPS, "category": _CATEGORY})
STEPS_ASKED = Shape({"steps": _STEPS})
_PIECE = 2**18


class RunsHandler(Handler):
    """``projects/<id>/runs``."""

    _track_activity = False

    @allowed("read", "runs")
    async def get(self, identity: str) -> None:
        """List the runs kept on this machine."""
        entry = await self.entry(identity)
        runs = await asyncio.to_thread(entry.project.history)
        going = [one.run_id for one in runs if one.outcome == "running"]
        current = going[-1] if going else None
        self.answer({"runs": [one.to_json() for one in runs], "current": current})

    @allowed("execute", "runs")
    async def post(self, identity: str) -> None:
        """Start a run."""
        asked = self.body(ASKED)
        await start(self, await self.entry(identity), asked)


class TestsHandler(Handler):
    """``projects/<id>/tests``."""

    @allowed("read", "tests")
    async def get(self, identity: str) -> None:
        """Return what the tests said last."""
        answer = await self.bench.poll(await self.entry(identity)).answer()
        markers = answer.status.to_json()["dictTestMarkers"]
        steps = answer.status.report.steps
        self.answer({"tests": {one.slug: markers.get(one.slug) for one in steps}})

    @allowed("execute", "tests")
    async def post(self, identity: str) -> None:
        """Run the tests alone."""
        asked = self.body(TESTS_ASKED)
        mode = "only" if asked.get("steps") else "all"
        await start(self, await self.entry(identity), {**asked, "mode": mode, "tests_only": True})


class RunHandler(Handler):
    """``projects/<id>/runs/<run>``."""

    _track_activity = False

    @allowed("read", "runs")
    async def get(self, identity: str, run: str) -> None:
        """Return one run, summed up."""
        folder = await run_of(self, identity, run)
        found = await asyncio.to_thread(summary, folder)
        self.answer(found.to_json())

    @allowed("execute", "runs")
    async def delete(self, identity: str, run: str) -> None:
        """Ask the run to stop."""
        folder = await run_of(self, identity, run)
        entry = await self.entry(identity)
        stopped = await asyncio.to_thread(entry.project.stop_run, folder.run_id)
        self.answer({"run_id": stopped.run_id}, 202)


class LogHandler(Handler):
    """``projects/<id>/runs/<run>/logs/<slug>/<log>``."""

    @allowed("read", "runs")
    async def get(self, identity: str, run: str, slug: str, log: str) -> None:
        """Send a log, whole, as a download."""
        folder = await run_of(self, identity, run)
        with await asyncio.to_thread(open_named, folder, slug, log) as file:
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("X-Content-Type-Options", "nosniff")
            name = f"{run}-{slug}-{log.replace('/', '-')}.log"
            self.set_header("Content-Disposition", f'attachment; filename="{name}"')
            while piece := await asyncio.to_thread(file.read, _PIECE):
                self.write(piece)
                await self.flush()
        self.finish(set_content_type="application/octet-stream")


class AcknowledgeHandler(Handler):
    """``projects/<id>/acknowledge``."""

    @allowed("write", "acknowledge")
    async def post(self, identity: str) -> None:
        """Mark failed and interrupted steps as seen."""
        names = self.body(STEPS_ASKED).get("steps", [])

        def acknowledge(project: Project) -> list[str]:
            return project.acknowledge([project.step(name).slug for name in names])

        self.answer({"acknowledged": await self.ask(identity, acknowledge)})


async def start(handler: Handler, entry: Entry, asked: Mapping[str, Any]) -> None:
    """Start a run and answer with its name."""
    require_recording(handler)
    defaults = handler.bench.settings.run_defaults
    person = person_of(handler.current_user)

    def begin() -> RunFolder:
        project = entry.afresh()
        return project.start_run(options_of(project, {**defaults, **asked}), person)

    folder = await asyncio.to_thread(begin)
    handler.bench.watches.follow(entry, folder)
    handler.answer({"run_id": folder.run_id}, 202)


def options_of(project: Project, asked: Mapping[str, Any]) -> RunOptions:
    """Return what a run is asked for; steps may be named as a person does.

    Raises
    ------
    UsageError
        Steps and mode do not fit.
    """
    steps = tuple(dict.fromkeys(project.step(one).slug for one in asked.get("steps", ())))
    mode = asked.get("mode", "steps" if steps else "stale")
    takes = {"steps": len(steps) > 0, "only": len(steps) > 0, "from": len(steps) == 1}
    if not takes.get(mode, not steps):
        wanted = {"from": "one step", "steps": "steps", "only": "steps"}.get(mode, "no step")
        raise UsageError(f"mode {mode!r} takes {wanted}, {len(steps)} are named")
    given = {key: value for key, value in asked.items() if key not in ("steps", "mode")}
    return RunOptions.from_json({**given, "workflow": project.path, "mode": mode, "steps": steps})


async def run_of(handler: Common, identity: str, run: str) -> RunFolder:
    """Return the run of a name."""
    entry = await handler.entry(identity)
    return await asyncio.to_thread(entry.project.find_run, run)


def person_of(user: User | None) -> str | None:
    """Return who is logged in; None for the name that Jupyter makes up for everybody."""
    if user is None or user.name.startswith("Anonymous ") or not user.name.strip():
        return None
    return user.name
