"""A terminal of ours whose other end a step's relay gets: the shell behind it is the step's.

The pair is made out here, so a step needs no rights to make one; it gets one end, passed through
the socket, and can do with it what a shell does: read what was typed and write what is shown.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import socket
import stat
import struct
import termios
import time
from contextlib import closing
from pathlib import Path

from vaibify_lab.core.errors import CannotCheck, NotPassed
from vaibify_lab.engines import state_files

SOCKET = "terminals"
BEGINNING = 5.0  # seconds that a step may take from its launch to its first terminal
_CHUNK = 2**16


class LocalTerminal:
    """The outer end of a terminal.

    Parameters
    ----------
    handle : int
        Its descriptor; closed with this.
    """

    def __init__(self, handle: int) -> None:
        os.set_blocking(handle, False)
        self._handle = handle

    @classmethod
    def open(cls, state: Path, kind: str, size: os.terminal_size) -> LocalTerminal:
        """Open a shell in the step of a state folder.

        Raises
        ------
        NotPassed
            No step waits for terminals there.
        CannotCheck
            The system gives no terminal.
        """
        with closing(_connected(state)) as relay:
            try:
                outer, inner = pty.openpty()
            except OSError as error:
                raise CannotCheck(f"there is no terminal to be had: {error.strerror}") from None
            terminal = cls(outer)
            try:
                terminal.resize(size)
                socket.send_fds(relay, [os.fsencode(kind) or b"dumb"], [inner])
            except OSError as error:
                terminal.close()
                raise _gone(state, error) from None
            finally:
                os.close(inner)
        return terminal

    def fileno(self) -> int:
        """Return the descriptor to wait on for something to read."""
        return self._handle

    def read(self) -> bytes:
        """Return what the shell wrote; b"" once it has ended."""
        select.select([self._handle], [], [])
        try:
            return os.read(self._handle, _CHUNK)
        except OSError as error:
            if error.errno == errno.EIO:  # nobody holds the other end any more
                return b""
            raise

    def write(self, data: bytes) -> int:
        """Pass on what a person typed; return how much of it was taken."""
        try:
            return os.write(self._handle, data)
        except BlockingIOError:
            return 0

    def resize(self, size: os.terminal_size) -> None:
        """Tell the shell how large its terminal is now."""
        packed = struct.pack("HHHH", size.lines, size.columns, 0, 0)
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, packed)

    def close(self) -> None:
        """Hang up."""
        os.close(self._handle)


def _connected(state: Path) -> socket.socket:
    """Connect to a step's relay: a socket in its state folder, through no link.

    By the folder's descriptor, since the address of a socket may not be long.
    """
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = -1
    try:
        folder = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        _wait_for_socket(state)
        if not stat.S_ISSOCK(os.lstat(SOCKET, dir_fd=folder).st_mode):
            raise FileNotFoundError(errno.ENOENT, "what is there is no socket")
        caller.connect(f"/proc/self/fd/{folder}/{SOCKET}")
    except OSError as error:
        caller.close()
        raise _gone(state, error) from None
    finally:
        if folder >= 0:
            os.close(folder)
    return caller


def _wait_for_socket(state: Path) -> None:
    """Wait while a step that was launched gets ready."""
    until = time.monotonic() + BEGINNING
    while not os.path.lexists(state / SOCKET):
        if state_files.ended(state) is not None or time.monotonic() > until:
            return
        time.sleep(0.02)


def _gone(state: Path, error: OSError) -> NotPassed:
    text = f"no step waits for a terminal here: {error.strerror or error}"
    return NotPassed(text, where=str(state))
