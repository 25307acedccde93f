"""Messages between a process and its helper, over pipes: a length, then so many bytes."""

from __future__ import annotations

import os

COUNT = 8  # bytes of the length, the least significant first


def send(handle: int, data: bytes) -> None:
    """Write one message."""
    left = memoryview(len(data).to_bytes(COUNT, "little") + data)
    while left:
        left = left[os.write(handle, left) :]


def receive(handle: int, most: int | None = None) -> bytes:
    """Read one message; b"" where there are no more, it does not come whole or is over ``most``."""
    size = int.from_bytes(_exactly(handle, COUNT), "little")
    return b"" if most is not None and size > most else _exactly(handle, size)


def _exactly(handle: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := os.read(handle, size - len(data))):
        data += piece
    return bytes(data) if len(data) == size else b""
