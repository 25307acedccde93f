"""Where supervisors come from: ``python -I -S start.py``, orders on standard input.

Python is started once for all steps of an engine; each order is a fork of it. The answer to an
order is the supervisor's record, or why there is none. A supervisor is in a session of its own and
nobody's child, so that it outlives whoever asked for it and nobody has to wait for it.
"""

import gc
import os
import sys
from importlib import import_module

PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
FAILED = b"!"  # begins an answer that is no record
LOADED = (  # what supervisors and steps need: once, before them
    "ctypes",
    "resource",
    "vaibify_lab.engines.local.landlock",
    "vaibify_lab.engines.local.places",
    "vaibify_lab.engines.local.supervisor",
)


def main() -> None:
    """Answer orders until there are no more."""
    sys.path.append(PACKAGES)
    from vaibify_lab.files import frames

    for name in LOADED:
        import_module(name)
    gc.disable()
    gc.freeze()  # no fork has to copy what is there already
    while order := frames.receive(0):
        frames.send(1, _answer(order))
    os._exit(0)


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
    except BaseException as error:  # whatever it is, this fork must not answer the next order
        os.write(ready, FAILED + repr(error).encode("utf-8", "replace")[:4000])
        os._exit(1)
    supervisor.finish(asked, watch)
    os._exit(0)


if __name__ == "__main__":
    main()
