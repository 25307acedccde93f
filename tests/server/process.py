"""A Jupyter Server as a process of its own, as a hub starts it; it can be killed and come back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from tests.ports import free_port

BASE = "/user/ana/"
TOKEN = "a-token-of-the-tests"
PATIENCE = 60.0


class Server:
    """One server on a folder; a restart keeps its port."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root, home
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.home.mkdir(exist_ok=True)
        own = {"HOME": str(self.home), "JUPYTER_TOKEN": TOKEN, "XDG_CACHE_HOME": str(self.home)}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
        with (self.home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root"),
                    "--ServerApp.jpserver_extensions={'vaibify_lab': True}",
                    f"--ServerApp.base_url={BASE}",
                    f"--ServerApp.root_dir={self.root}",
                    f"--ServerApp.port={self.port}",
                    "--ServerApp.port_retries=0",
                    "--ServerApp.allow_unauthenticated_access=False",
                ],
                env=kept | own,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.until(self._answers)
        except BaseException:
            self.kill()
            raise

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def ask(self, method: str, address: str, body: Any = None) -> tuple[int, Any]:
        """Send one request with the token; return status and JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{BASE}vaibify/{address}",
            data=data,
            method=method,
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as found:
                return found.status, json.loads(found.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def get(self, address: str) -> Any:
        """Return the JSON of an address."""
        status, found = self.ask("GET", address)
        assert status == 200, found
        return found

    def id(self, root: Path) -> str:
        """Return the id of the project at a place."""
        listed = self.get("projects")["projects"]
        return next(str(one["id"]) for one in listed if one["root"] == str(root))

    def follow(
        self,
        address: str,
        after: int = 0,
        until: Callable[[dict[str, Any]], bool] = lambda line: False,
    ) -> list[dict[str, Any]]:
        """Read a journal's websocket to its end, or until a line of a kind, then close it."""
        return asyncio.run(self._follow(f"{address}?after={after}", until))

    async def _follow(
        self, address: str, until: Callable[[dict[str, Any]], bool]
    ) -> list[dict[str, Any]]:
        url = f"ws://127.0.0.1:{self.port}{BASE}vaibify/{address}"
        request = HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"})
        connection = await websocket_connect(request)
        found: list[dict[str, Any]] = []
        while (text := await asyncio.wait_for(connection.read_message(), PATIENCE)) is not None:
            found.append(json.loads(text))
            if until(found[-1]):
                connection.close()
                break
        return found

    def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, (self.home / "log").read_text()[-3000:]
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "projects")[0] == 200
        except OSError:
            return False
