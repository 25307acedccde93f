"""``python -m tests.kills``: rounds of random deaths, or a death at every single change."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

APART = "VAIBIFY_KILLS_APART"


def main(words: Sequence[str]) -> int:
    """Play what is asked for; return 0 when nothing went wrong."""
    given = _parser().parse_args(words)
    place = Path(tempfile.mkdtemp(prefix="kills-", dir=given.place))
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    wrong = _points(given, place) if given.points is not None else _rounds(given, place)
    if not wrong:
        shutil.rmtree(place)
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how many rounds")
    parser.add_argument("--first", type=int, default=1, metavar="K", help="... from which on")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument(
        "--ground", choices=("processes", "disk", "containers", "all"), default="all"
    )
    parser.add_argument(
        "--points", nargs="*", metavar="SCENE", help="at every change, of all scenes"
    )
    parser.add_argument("--mode", action="append", help="kill, full, broken, ...; all by default")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th change only")
    parser.add_argument("--place", default=None, metavar="DIR", help="where (the temporary folder)")
    return parser


def _rounds(given: argparse.Namespace, place: Path) -> int:
    from tests.kills.grounds import Grounds
    from tests.kills.rounds import Round

    print(f"seed {given.seed}: {given.rounds} rounds from {given.first} on", flush=True)
    wrong = 0
    with Grounds(place, given.ground) as grounds:
        for number in range(given.first, given.first + given.rounds):
            wrong += not Round(given.seed, number, grounds.of(number)).play()
    print(f"seed {given.seed}: {given.rounds} rounds, {wrong} went wrong", flush=True)
    return wrong


def _points(given: argparse.Namespace, place: Path) -> int:
    from tests.kills.faults import MODES
    from tests.kills.points import Stage
    from tests.kills.scenes import SCENES

    wrong = 0
    stage = Stage(place)
    for name in given.points or SCENES:
        scene = stage.scene(name)
        changes = scene.count()
        for mode in given.mode or MODES:
            met, bad = scene.meet_all(mode, range(1, changes + 2, given.every))
            print(f"{name} {mode}: {met} of {changes} changes, {bad} went wrong", flush=True)
            wrong += bad
        scene.forget()
    return wrong


def _apart(words: Sequence[str]) -> None:
    """Go on in a mount namespace of our own, so that a small disk is nobody else's business."""
    os.environ[APART] = "1"
    command = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid():
        command.append("--map-root-user")
    os.execvp(command[0], [*command, sys.executable, "-m", "tests.kills", *words])


if __name__ == "__main__":
    if APART not in os.environ:
        _apart(sys.argv[1:])
    sys.exit(main(sys.argv[1:]))
