"""``python -m tests.trust``: as many random projects as asked for, and a table of what came out."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from random import Random

from tests.containers import SCRIPT, Registry
from tests.trust import inside, tallies
from tests.trust.verdicts import Tally
from vaibify_lab.engines.image.client import connect


def main() -> int:
    """Return 1 when a difference has no reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    parser.add_argument("--projects", type=int, default=500, help="of tier 1 (500)")
    parser.add_argument("--locks", type=int, default=60, help="of tier 2 (60)")
    parser.add_argument("--images", type=int, default=34, help="of tier 3 (34)")
    parser.add_argument("--inside", type=int, default=9, help="of tier 2 in the image (9)")
    parser.add_argument("--seed", type=int, default=Random().randrange(10**9))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = f"{place}/cache"
        folder, seed = Path(place), given.seed
        faults = show("sha256sum -c", tallies.of_files(folder, seed, given.projects))
        faults += show("pip", tallies.of_packages(folder, seed, given.locks))
        faults += with_engine(folder, given)
    print(f"{faults} differences without their reason")
    return 1 if faults else 0


def with_engine(folder: Path, given: argparse.Namespace) -> int:
    """Compare what needs a container engine."""
    done = subprocess.run([SCRIPT, "--pip"], stdout=subprocess.PIPE, text=True, check=True)
    room = dict(line.split("=", 1) for line in done.stdout.splitlines())
    client = connect()
    pip = inside.Room(client, room["VAIBIFY_TEST_PIP"], room["VAIBIFY_TEST_REGISTRY"])
    faults = show(
        "pip, ours inside the image",
        tallies.of_packages_inside(folder, given.seed, given.inside, pip),
    )
    with ExitStack() as stack:
        (folder / "registry").mkdir()
        registry = Registry(folder / "registry")
        stack.callback(registry.stop)
        found = tallies.of_images(folder, given.seed, given.images, client, registry)
        return faults + show("docker pull", found)


def show(tool: str, tally: Tally) -> int:
    """Print what came out beside one tool; return how many faults there are."""
    print(f"\n{sum(tally.seen.values())} projects beside {tool}")
    for name, count in sorted(tally.seen.items()):
        reason = tally.reasons.get(name)
        print(f"  {count:4}  {name:36} {f'differ: {reason}' if reason else 'agree'}")
    for fault in tally.faults:
        print(f"  FAULT {fault}")
    sys.stdout.flush()
    return len(tally.faults)


if __name__ == "__main__":
    sys.exit(main())
