"""What is not of one project: the machine, and a folder that becomes a project."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from vaibify_lab.core.spec import Shape, Text
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.runs.doctor import doctor
from vaibify_lab.runs.init import Initialised, init_project
from vaibify_lab.runs.opened import Opened

INIT = Shape({"contents": Text(5000), "name": Text(100, 1)}, frozenset({"contents"}))


class DoctorHandler(Handler):
    """``doctor``."""

    @allowed("read", "doctor")
    async def get(self) -> None:
        """Look at the machine, and at the repository of a folder."""
        place = self.shelf.root.place(self.get_query_argument("contents", ""))
        folder = place.disk if place.disk.is_dir() else place.disk.parent
        findings = await asyncio.to_thread(doctor, folder)
        self.answer({"findings": [one.to_json() for one in findings]})


class InitHandler(Handler):
    """``init``."""

    @allowed("write", "init")
    async def post(self) -> None:
        """Make the repository of a folder a project."""
        asked = self.body(INIT)
        repository = await self.shelf.repository_of(asked["contents"])

        def make() -> Initialised:
            return init_project(Opened(repository.root), name=asked.get("name"))

        done = await asyncio.to_thread(make)
        here = await self.shelf.here(asked["contents"])
        projects = [entry.id for entry in here.entries]
        self.answer({**asdict(done), "projects": projects}, 201)
