"""A JupyterLab server of a test's own: free port, real token, folders of its own."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

NO_NEWS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
SETTINGS = "lab/api/settings"
NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}


@dataclass
class Lab:
    """A running server: where it is, what it serves, how to ask it."""

    url: str
    token: str
    root: Path
    process: subprocess.Popen[bytes]
    log: Path

    def page(self, path: str = "lab", **query: str) -> str:
        """Return the address of a page, with the token."""
        return f"{self.url}{path}?{urlencode({**query, 'token': self.token})}"

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """Ask an address; return its JSON."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def theme(self, name: str) -> None:
        """Set the theme that the next page shows."""
        self.setting("@jupyterlab/apputils-extension:themes", theme=name)

    def setting(self, plugin: str, **values: Any) -> None:
        """Set what a person sets in JupyterLab's settings."""
        self.ask(f"{SETTINGS}/{plugin}", "PUT", {"raw": json.dumps(values)})

    def stop(self) -> None:
        """End the server."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing of this account is read or written."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_"))}
    places = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    return kept | {name: str(place) for name, place in places.items()}


def start(
    home: Path,
    root: Path,
    *options: str,
    port: int = 0,
    token: str = "",
    variables: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
) -> Lab:
    """Start JupyterLab on ``root``; return it when it answers.

    ``command`` starts it otherwise than by this Python, and itself chooses where it stands.
    """
    (home / "config" / "labconfig").mkdir(parents=True, exist_ok=True)
    (home / "config" / "labconfig" / "page_config.json").write_text(json.dumps(NO_NEWS))
    token = token or secrets.token_hex(16)
    here = (sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}")
    said = [*(command or here), "--no-browser", "--allow-root"]
    said += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    said += [f"--IdentityProvider.token={token}", "--LabApp.expose_app_in_browser=True"]
    said += ["--ServerApp.allow_unauthenticated_access=False"]
    said += ["--LabApp.extension_manager=readonly"]
    log = home / "lab.log"
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*said, *options],
            env=environment(home) | dict(variables or {}),
            cwd=root,
            stdout=out,
            stderr=out,
        )
    told = home / "runtime" / f"jpserver-{process.pid}.json"
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        try:
            url = json.loads(told.read_text())["url"].replace("localhost", "127.0.0.1")
            lab = Lab(url, token, root, process, log)
            lab.ask("api/status")
        except (OSError, ValueError):
            time.sleep(0.05)
        else:
            return lab
    process.kill()
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-4000:]}")
