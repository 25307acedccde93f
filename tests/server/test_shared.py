"""One look at a time, shared, and never one that began before it was asked for."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any

import pytest

from tests.kit import Made
from tests.server.client import Client
from vaibify_lab.runs.opened import Opened
from vaibify_lab.serving.poll import Poll
from vaibify_lab.serving.shared import Shared


class Making:
    """Makes answers when a test lets it."""

    def __init__(self) -> None:
        self.made = 0
        self.at_once = 0
        self.go = asyncio.Event()
        self.fails = False

    async def make(self) -> int:
        self.at_once += 1
        assert self.at_once == 1
        await self.go.wait()
        self.at_once -= 1
        self.made += 1
        if self.fails:
            raise ValueError(self.made)
        return self.made


async def test_who_asks_while_one_is_made_shares_the_next() -> None:
    making = Making()
    shared = Shared(making.make)
    first = [asyncio.ensure_future(shared.ask()) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = [asyncio.ensure_future(shared.ask()) for _ in range(3)]
    late[0].cancel()
    making.go.set()
    assert await asyncio.gather(*first) == [1, 1, 1]
    assert await asyncio.gather(*late[1:]) == [2, 2]
    assert await shared.ask() == 3


async def test_a_failure_is_everybodys_and_passes() -> None:
    making = Making()
    making.fails = True
    making.go.set()
    shared = Shared(making.make)
    found = await asyncio.gather(shared.ask(), shared.ask(), return_exceptions=True)
    assert [str(one) for one in found] == ["1", "1"]
    making.fails = False
    assert await shared.ask() == 2


async def test_looks_at_one_repository_never_overlap(
    client: Client, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of two of its workflows; many requests at once cost two looks each."""
    made.write(".vaibify/workflows/more.json", made.read("workflow.json"))
    identities = [await client.id(0), await client.id(1)]
    looking: list[str] = []
    looks: list[str] = []
    look, answer = Opened.look, Poll.answer
    arrived: list[Poll] = []
    all_there = Event()

    async def heard(self: Poll) -> Any:
        arrived.append(self)
        if len(arrived) == 10:
            all_there.set()
        return await answer(self)

    def counted(self: Opened, path: str) -> Any:
        assert not looking, (looking, path)
        looking.append(path)
        looks.append(path)
        assert all_there.wait(60)  # however slowly they come
        try:
            return look(self, path)
        finally:
            looking.remove(path)

    monkeypatch.setattr(Poll, "answer", heard)
    monkeypatch.setattr(Opened, "look", counted)
    asked = [client.get(f"projects/{one}/file-status") for one in identities * 5]
    found = await asyncio.gather(*asked)
    assert {one.status for one in found} == {200}
    assert 2 <= len(looks) <= 4
