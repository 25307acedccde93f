"""Gives shells to terminals, inside the sandbox of a step that a person does.

``python -I -S relay.py BASH PROMPT NUMBER``, in the step's own Python: no import of ours. Who
connects to the listening socket with that number passes one end of a terminal of theirs, and what
kind it is; a shell of the step begins on it. Bytes and window sizes go through the terminal itself,
and a terminal that was closed hangs up its shell: the kernel sees to both.
"""

import fcntl
import os
import signal
import socket
import sys
import termios
import time

SHORTLY = 5.0  # seconds that a caller has to say what it wants
PARTING = 0.5  # ... and that shells and their programs have to end, when the step does
LONGEST = 64
MARK = 99  # a shell keeps the step's output open as this, by which its processes are known
shells: set[int] = set()


def main(bash: str, prompt: str, number: int) -> None:
    """Give shells until the step is stopped."""
    listener = socket.socket(fileno=number)
    listener.setblocking(True)
    listener.set_inheritable(False)
    signal.signal(signal.SIGCHLD, reap)
    signal.signal(signal.SIGTERM, part)
    while True:
        caller, _ = listener.accept()
        with caller:
            caller.settimeout(SHORTLY)
            try:
                kind, handles, _, _ = socket.recv_fds(caller, LONGEST, 1)
            except OSError:  # it went away
                continue
            for handle in handles:
                begin(bash, handle, {"TERM": os.fsdecode(kind), "PS1": prompt})
                os.close(handle)


def begin(bash: str, terminal: int, own: dict[str, str]) -> None:
    """Begin a shell on a terminal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    try:
        pid = os.fork()
        if not pid:
            become(bash, terminal, own)
        shells.add(pid)
    except OSError as error:  # no more processes: the terminal ends, and says why
        os.write(terminal, f"no shell: {error.strerror}\r\n".encode())
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})


def become(bash: str, terminal: int, own: dict[str, str]) -> None:
    """Be that shell: in a session of its own, with this terminal and nothing else of the relay."""
    try:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        os.dup2(1, MARK)
        for number in range(3):
            os.dup2(terminal, number)
        os.close(terminal)
        for one in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM):
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(bash, ["bash"], {**os.environ, **own})  # noqa: S606
    except OSError as error:
        os.write(1, f"no shell: {error.strerror}\r\n".encode())
    finally:
        os._exit(127)


def reap(*_: object) -> None:
    """Collect the shells that ended."""
    try:
        while ended := os.waitpid(-1, os.WNOHANG)[0]:
            shells.discard(ended)
    except ChildProcessError:
        shells.clear()


def part(*_: object) -> None:
    """Let the shells end as if their terminals were closed, and end."""
    for pid in tuple(shells):  # one that ends now is collected in the midst of this
        if pid in shells:
            os.kill(pid, signal.SIGHUP)
    if shells:
        time.sleep(PARTING)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
