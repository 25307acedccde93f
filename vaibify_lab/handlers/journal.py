"""Journals as JSON lines and as a websocket, which replays and goes on to the end."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from vaibify_lab.core import jsonio
from vaibify_lab.handlers.base import Common, allowed
from vaibify_lab.handlers.runs import run_of
from vaibify_lab.serving.tail import Event, Source, Tail

_SECONDS = 0.1
_ALIVE_SECONDS = 10.0


class JournalHandler(WebSocketMixin, WebSocketHandler, Common):
    """``…/journal?after=N``: JSON lines now, or a websocket until the end.

    Its messages wait for the browser to take them: what it does not take is not gathered here but
    left out, as the journal's reader does.
    """

    _track_activity = False
    _source: Source
    _hello: Event
    _sending: asyncio.Task[None] | None = None

    async def begin(self, source: Source, hello: Event) -> None:
        """Answer with a source's lines, or change to a websocket whose first message says hello."""
        self._source, self._hello = source, hello
        if self.request.headers.get("Upgrade", "").lower() == "websocket":
            await WebSocketHandler.get(self)
        else:
            await self._send_lines()

    async def _send_lines(self) -> None:
        self.set_header("Content-Type", "application/x-ndjson")
        began = time.time()
        while lines := await asyncio.to_thread(self._source.read):
            self.write(b"".join(map(jsonio.line, lines)))
            await self.flush()
            if self._source.ended or lines[-1]["time"] > began:
                break
        self.finish()

    def open(self, *args: str, **kwargs: str) -> None:
        """Begin to send."""
        super().open(*args, **kwargs)  # starts the pings
        self._sending = asyncio.create_task(self._send())

    def on_message(self, message: Any) -> None:
        """Take no notice: nothing is asked by this way."""

    def on_close(self) -> None:
        """Stop sending."""
        if self._sending is not None:
            self._sending.cancel()

    async def _send(self) -> None:
        with suppress(WebSocketClosedError):
            hello = {"event": "hello", "instance": self.shelf.instance, "time": time.time()}
            await self._message(hello | self._hello)
            spoke = time.monotonic()
            while not self._source.ended:
                lines = await asyncio.to_thread(self._source.read)
                for line in lines:
                    await self._message(line)
                if lines:
                    spoke = time.monotonic()
                elif time.monotonic() - spoke > _ALIVE_SECONDS:
                    spoke = time.monotonic()
                    await self._message({"event": "alive", "time": time.time()})
                await asyncio.sleep(0 if len(lines) > 1 else _SECONDS)
            self.close(1000)

    async def _message(self, value: Event) -> None:
        await self.write_message(jsonio.line(value).rstrip(b"\n"))


class RunJournalHandler(JournalHandler):
    """``projects/<id>/runs/<run>/journal``."""

    @ws_authenticated
    @allowed("read", "runs")
    async def get(self, identity: str, run: str) -> None:
        """Answer with lines, or change to a websocket."""
        after = self.number("after")
        folder = await run_of(self, identity, run)
        await self.begin(Tail(folder, after), {"run_id": folder.run_id, "after": after})
