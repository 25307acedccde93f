"""The supervisor's start: ``python -I -S start.py STATE`` with an order on standard input.

The first process answers with the supervisor's record and ends; the supervisor proper is its child,
in a session of its own, so that it outlives whoever asked for it and nobody has to wait for it.
"""

import os
import sys

PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))


def main(state: str) -> None:
    """Hand the order on standard input to a supervisor; end 0 once its step is recorded."""
    sys.path.append(PACKAGES)
    from vaibify_lab.engines.local.order import load
    from vaibify_lab.engines.local.supervisor import run

    asked = load(sys.stdin.buffer.read())
    os.chdir(state)
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        record = os.read(reader, 4096)
        os.write(1, record)
        os._exit(0 if record else 1)
    os.close(reader)
    os.setsid()
    run(asked, writer)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
