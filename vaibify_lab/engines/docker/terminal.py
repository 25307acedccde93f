"""A terminal in a step's container, by the engine's API: docker's own command is not needed."""

from __future__ import annotations

import os
import shlex
import uuid
from contextlib import suppress
from typing import Any

from vaibify_lab.core.errors import EngineLost
from vaibify_lab.engines.base import PROMPT
from vaibify_lab.engines.docker.config import BEFORE
from vaibify_lab.engines.docker.daemon import Daemon
from vaibify_lab.engines.docker.mounts import TEMPORARY

_CHUNK = 2**16
_PIECE = 2**10  # what a connection that can take anything takes at once
# The shell begins once it gets an empty line: what it says before we listen would be lost, and its
# terminal has the right size by then. It notes who it is, to be told when its terminal is closed.
_SHELL = f'{BEFORE}read -rs; echo $$ >"$0"; export PS1={shlex.quote(PROMPT)}; exec bash'
_HANG_UP = 'read -r pid <"$0" && kill -HUP "$pid" && kill -CONT "$pid"'


class DockerTerminal:
    """A shell that the engine started in a container, and the connection to it."""

    def __init__(self, daemon: Daemon, container: str, note: str, started: tuple[str, Any]) -> None:
        self._daemon = daemon
        self._container = container
        self._note = note
        self._execution, self._connection = started
        self._socket: Any = getattr(self._connection, "_sock", self._connection)  # not with TLS
        self._socket.settimeout(None)
        self._has_ended = False

    @classmethod
    def open(
        cls, daemon: Daemon, container: str, kind: str, size: os.terminal_size
    ) -> DockerTerminal:
        """Open a shell as the step's user, where its commands run.

        Raises
        ------
        EngineUnfit, EngineLost
        """
        note = f"{TEMPORARY}/.vaibify-terminal-{uuid.uuid4().hex[:12]}"
        command = ["bash", "-c", _SHELL, note]
        found = cls(daemon, container, note, daemon.exec_terminal(container, command, kind))
        found.resize(size)
        found.write(b"\n")
        return found

    def fileno(self) -> int:
        """Return the descriptor to wait on for something to read."""
        return int(self._socket.fileno())

    def read(self) -> bytes:
        """Return what the shell wrote; b"" once it has ended."""
        data = bytes(self._socket.recv(_CHUNK))
        self._has_ended = not data
        return data

    def write(self, data: bytes) -> int:
        """Pass on what a person typed; return how much of it was taken."""
        return int(self._socket.send(data[:_PIECE]))

    def resize(self, size: os.terminal_size) -> None:
        """Tell the shell how large its terminal is now."""
        self._daemon.resize(self._execution, size.lines, size.columns)

    def close(self) -> None:
        """Hang up; an engine does not do that by itself when its caller goes."""
        if not self._has_ended:
            with suppress(EngineLost):
                self._daemon.execute(self._container, ["bash", "-c", _HANG_UP, self._note])
        self._connection.close()
