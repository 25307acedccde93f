"""A port for a server that a test starts in a process of its own."""

from __future__ import annotations

import random
import socket

LOWEST, HIGHEST = 10_000, 30_000  # below those that the kernel gives to whoever names none


def free_port() -> int:
    """Return a port that nothing listens at, and that nobody is given before the server has it."""
    for port in random.sample(range(LOWEST, HIGHEST), 100):
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("all of a hundred ports were taken")
