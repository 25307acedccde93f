"""How fast, against the plain tools, on this machine: ``python benchmarks/run.py [--quick]``.

Every figure is measured in the same run as its reference, in alternating order, with warm caches;
the table holds medians, and the range of the ratio over the rounds. The answers of both sides are
compared before any time is printed: a fast wrong answer ends the run with exit 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cells
import hashing
import looks
import machine
import running
from measure import Differ, Row, rows_of

HEAD = "| what | ours | reference | found | goal | reached |\n|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    files: int = 20_000
    bytes: int = 9_000
    mebibytes: int = 2048
    steps: int = 10_000
    idle: int = 100
    contained: int = 200
    growing: tuple[int, ...] = (100, 1_000, 10_000)
    running: tuple[int, ...] = (100, 500)
    rounds: int = 5


QUICK = Sizes(500, 9_000, 32, 100, 5, 4, (10, 50), (5, 15), 3)


def main() -> int:
    """Measure, print the tables; 1 when an answer differs from the reference's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, in seconds")
    parser.add_argument("--rounds", type=int, help="rounds of each pair")
    parser.add_argument("--directory", help="where the files are made (default: the system's)")
    parser.add_argument("--image", help="an image with bash that the container engine holds")
    given = parser.parse_args()
    sizes = QUICK if given.quick else Sizes()
    rounds = given.rounds or sizes.rounds
    print(f"{rounds} rounds, warm caches. {machine.described()}\n", flush=True)
    if given.quick:
        print("A quick look: the goals are those of the full sizes.\n")
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="vaibify-bench-", dir=given.directory) as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second start compiles nothing
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"  # nothing is left in the user's
        try:
            for row in rows(Path(folder), sizes, rounds, given.image):
                print(row.line() if isinstance(row, Row) else row, flush=True)
        except Differ as pair:
            print(f"different answers, so nothing was timed: {pair}", file=sys.stderr)
            return 1
    return 0


def rows(folder: Path, sizes: Sizes, rounds: int, image: str | None) -> Iterator[Row | str]:
    """Yield the rows of the first table, then the tables of growth."""
    files = hashing.pairs(folder, sizes.files, sizes.bytes, sizes.mebibytes)
    yield from rows_of(files, rounds)
    yield from rows_of([hashing.starting()], 3 * rounds)
    yield from looks.rows(folder / f"grow-{sizes.steps}", sizes.steps, rounds)
    yield from running.local_rows(folder, sizes.idle)
    yield from cells.rows(folder / "cells", rounds)
    image = image or running.image_here()
    if image is None:
        yield "| steps in containers | not measured: no engine, or no --image | | | | |"
    else:
        yield from running.container_rows(folder, sizes.contained, image)
    yield "\n" + looks.curve(folder, sizes.growing)
    yield "\n" + running.curve(folder, sizes.running)


if __name__ == "__main__":
    sys.exit(main())
