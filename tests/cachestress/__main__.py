"""``python -m tests.cachestress [--entries 10000] [--kills 100] [--seed N] [--image IMAGE]``.

With an image that the engine holds, real runs in containers are killed instead.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.cachestress.driver import Stress


def main() -> None:
    """Make one trial and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--image", help="runs in containers of this image, in place of users")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="vaibify-cachestress-"))
    began = time.monotonic()
    try:
        found = _trial(given, folder)
    finally:
        shutil.rmtree(folder)
    print(f"{given.kills} kills, {time.monotonic() - began:.0f} s")
    print(", ".join(f"{what} {count}" for what, count in sorted(found.items())))
    print("no wrong byte was handed out")


def _trial(given: argparse.Namespace, folder: Path) -> Counter[str]:
    if given.image is None:
        stress = Stress(folder, given.seed, given.entries, given.kills)
        return stress.run() + Counter({"spoilt": stress.spoilt.total(), "entries": given.entries})
    from tests.cachestress.runners import Runners

    return Runners(folder, given.image, given.seed, given.kills).run()


if __name__ == "__main__":
    main()
