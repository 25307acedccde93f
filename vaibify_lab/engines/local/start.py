"""Where supervisors come from: ``python -I -S start.py``, orders on standard input.

Python is started once for all steps of an engine; each order is a fork of it. The answer to an
order is the supervisor's record, or why there is none. A supervisor is in a session of its own and
nobody's child, so that it outlives whoever asked for it and nobody has to wait for it.
"""

import os
import sys

PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
COUNT = 8  # bytes that say how long an order or an answer is
FAILED = b"!"  # begins an answer that is no record


def main() -> None:
    """Answer orders until there are no more."""
    sys.path.append(PACKAGES)
    # What supervisors and steps need is loaded once, before them.
    import ctypes  # noqa: F401
    import gc
    import resource  # noqa: F401

    from vaibify_lab.engines.local import landlock, places, supervisor  # noqa: F401

    gc.disable()
    gc.freeze()  # no fork has to copy what is there already
    while order := read(0):
        write(1, _answer(order))
    os._exit(0)


def read(handle: int) -> bytes:
    """Read one order or answer; b"" where there are no more."""
    return _exactly(handle, int.from_bytes(_exactly(handle, COUNT), "little"))


def write(handle: int, data: bytes) -> None:
    """Write one order or answer."""
    left = memoryview(len(data).to_bytes(COUNT, "little") + data)
    while left:
        left = left[os.write(handle, left) :]


def _exactly(handle: int, size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := os.read(handle, size - len(data))):
        data += piece
    return data if len(data) == size else b""


def _answer(order: bytes) -> bytes:
    """Fork a supervisor; return its record once its step may begin."""
    reader, writer = os.pipe()
    between = os.fork()
    if not between:
        if not os.fork():
            os.close(reader)
            os.setsid()
            _supervise(order, writer)
        os._exit(0)
    os.close(writer)
    os.waitpid(between, 0)
    answer = os.read(reader, 4096)
    os.close(reader)
    return answer or FAILED + b"no reason given"


def _supervise(order: bytes, ready: int) -> None:
    """Begin a step and see it to its end; what fails before it begins goes to who asked."""
    from vaibify_lab.engines.local import supervisor
    from vaibify_lab.engines.local.order import load

    try:
        asked = load(order)
        os.chdir(asked.state)
        watch = supervisor.begin(asked, ready)
    except BaseException as error:
        os.write(ready, FAILED + repr(error).encode("utf-8", "replace")[:4000])
        os._exit(1)
    supervisor.finish(asked, watch)
    os._exit(0)


if __name__ == "__main__":
    main()
