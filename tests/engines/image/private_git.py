"""A git server on loopback that asks for a name and a password."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.serving import on_loopback


@contextmanager
def served(folder: Path, user: str, password: str) -> Iterator[str]:
    """Serve the repositories below a folder by git's own ``http-backend``; give the URL."""
    wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="test"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        do_POST = do_GET

        def _answer(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            asked = {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_GLOBAL": "/dev/null",
            }
            done = subprocess.run(
                ["git", "http-backend"],
                env=os.environ | asked,
                input=body,
                capture_output=True,
                check=True,
            )
            head, _, data = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in (fields | {"Content-Length": str(len(data))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with on_loopback(Handler) as url:
        yield url
