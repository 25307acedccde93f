"""A helper that hashes: ``python -I -S sharer.py ROOT``, lists of paths in, their states out."""

import marshal
import os
import sys
from pathlib import Path
from typing import IO, Any

PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
COUNT = 8  # bytes that say how long a list is


def main(root: str) -> None:
    """Answer lists of paths until there are no more."""
    sys.path.append(PACKAGES)
    from vaibify_lab.files.descent import Descent
    from vaibify_lab.files.hashing import hash_small

    with Descent(Path(root)) as descent:
        while piece := _next():
            answer = [
                (path, state and (state.kind, state.sha256, state.size, state.detail))
                for path, state in hash_small(descent, piece)
            ]
            write(sys.stdout.buffer, answer)
    os._exit(0)


def write(stream: IO[bytes], values: Any) -> None:
    """Send a list."""
    data = marshal.dumps(values)
    stream.write(len(data).to_bytes(COUNT, "little") + data)
    stream.flush()


def read(stream: IO[bytes]) -> Any:
    """Receive a list.

    Raises
    ------
    EOFError, ValueError
        It did not come, or not whole.
    """
    return marshal.loads(stream.read(int.from_bytes(stream.read(COUNT), "little")))  # noqa: S302


def _next() -> list[str]:
    try:
        return list(read(sys.stdin.buffer))
    except EOFError:
        return []


if __name__ == "__main__":
    main(sys.argv[1])
