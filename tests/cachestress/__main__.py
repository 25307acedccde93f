"""``python -m tests.cachestress [--entries 10000] [--kills 100] [--seed N]``."""

from __future__ import annotations

import argparse
import secrets
import shutil
import tempfile
import time
from pathlib import Path

from tests.cachestress.driver import Stress


def main() -> None:
    """Make one trial and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="vaibify-cachestress-"))
    began = time.monotonic()
    try:
        stress = Stress(folder, given.seed, given.entries, given.kills)
        found = stress.run()
    finally:
        shutil.rmtree(folder)
    print(f"{given.entries} entries, {given.kills} kills, {time.monotonic() - began:.0f} s")
    print(f"spoilt: {dict(sorted(stress.spoilt.items()))}")
    print(", ".join(f"{what} {count}" for what, count in sorted(found.items())))
    print("no wrong byte was handed out")


if __name__ == "__main__":
    main()
