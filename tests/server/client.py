"""A client of the server in the tests' process: what it asked and what came back, errors too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any

from tornado.httpclient import HTTPResponse


@dataclass(frozen=True)
class Reply:
    """One answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code."""
        return str(self.json["error"]["code"])


class Client:
    """Asks below ``vaibify/`` with the token."""

    def __init__(self, fetch: Any, ws_fetch: Any) -> None:
        self._fetch, self._ws_fetch = fetch, ws_fetch

    async def ask(
        self,
        method: str,
        address: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request."""
        data = None if body is None else body if isinstance(body, str) else json.dumps(body)
        found: HTTPResponse = await self._fetch(
            "vaibify",
            *address.split("/"),
            method=method,
            body=data if data is not None or method in ("GET", "DELETE") else "",
            params=dict(params or {}),
            headers=dict(headers or {}),
            raise_error=False,
            request_timeout=60,
        )
        return Reply(found.code, found.headers, found.body)

    async def get(self, address: str, **more: Any) -> Reply:
        return await self.ask("GET", address, **more)

    async def post(self, address: str, body: Any = None, **more: Any) -> Reply:
        return await self.ask("POST", address, body, **more)

    async def id(self, number: int = 0) -> str:
        """Return a project's id."""
        return str((await self.get("projects")).json["projects"][number]["id"])

    async def status(self, identity: str) -> Any:
        """Return what the poll says."""
        return (await self.get(f"projects/{identity}/file-status")).json

    async def steps(self, identity: str) -> dict[str, Any]:
        """Return the poll's steps by slug."""
        return {one["slug"]: one for one in (await self.status(identity))["steps"]}

    async def run(self, identity: str, **asked: Any) -> list[dict[str, Any]]:
        """Start a run and follow its journal to the end."""
        started = await self.post(f"projects/{identity}/runs", asked)
        assert started.status == 202, started
        return await self.follow(f"projects/{identity}/runs/{started.json['run_id']}/journal")

    async def socket(
        self, address: str, headers: Mapping[str, str] | None = None, **params: str
    ) -> Any:
        """Open a websocket; with the token unless other headers are given."""
        more = {} if headers is None else {"headers": {"Authorization": "", **headers}}
        return await self._ws_fetch("vaibify", *address.split("/"), params=params, **more)

    async def cookie(self) -> str:
        """Return the cookies of a browser that is logged in and has seen a page."""
        jar: SimpleCookie = SimpleCookie()
        for page, headers in (("api", {}), ("login", {"Authorization": ""})):
            found = await self._fetch(page, headers=headers, follow_redirects=False)
            for line in found.headers.get_list("Set-Cookie"):
                jar.load(line)
        return "; ".join(f"{name}={one.value}" for name, one in jar.items())

    async def follow(self, address: str, after: int = 0) -> list[dict[str, Any]]:
        """Read a websocket's messages until the server closes it."""
        socket = await self.socket(address, after=str(after))
        found = []
        while (text := await asyncio.wait_for(socket.read_message(), 60)) is not None:
            found.append(json.loads(text))
        return found
