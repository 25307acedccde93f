"""How fast, against the plain tools, on this machine: ``python benchmarks/run.py [--quick]``.

Every pair is timed in the same run, round by round in alternating order, with warm caches; the
table holds medians and the range of the ratio over the rounds. Digests are compared before any
time is printed: a fast wrong answer ends the run with exit 1.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree

MEBIBYTE = 2**20
PER_FOLDER = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is measured: how many small files of how many bytes, one large file, rounds."""

    small_files: int = 20_000
    small_bytes: int = 9_000
    large_mebibytes: int = 2048
    rounds: int = 7


QUICK = Sizes(small_files=2_000, large_mebibytes=128, rounds=3)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ways to the same end; both return what they found, so that it can be compared."""

    what: str
    theirs_name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]


def main() -> int:
    """Measure, print the table; 1 when a digest differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, three rounds")
    parser.add_argument("--rounds", type=int, help="rounds of each pair")
    parser.add_argument(
        "--directory", help="where the files to hash are made (default: the system's)"
    )
    given = parser.parse_args()
    sizes = QUICK if given.quick else Sizes()
    rounds = given.rounds or sizes.rounds
    with tempfile.TemporaryDirectory(prefix="vaibify-bench-", dir=given.directory) as folder:
        pairs = [*hashing(Path(folder), sizes), starting()]
        wrong = [pair.what for pair in pairs if pair.ours() != pair.theirs()]
        if wrong:
            print(f"different answers, so nothing was timed: {', '.join(wrong)}", file=sys.stderr)
            return 1
        print(table(pairs, rounds))
    print(f"\n{rounds} rounds, warm caches. {machine()}")
    return 0


def hashing(folder: Path, sizes: Sizes) -> Iterator[Pair]:
    """Make the files; yield the pairs that hash them."""
    small = make_small_files(folder / "small", sizes)
    large = make_large_file(folder / "large", sizes.large_mebibytes)
    cores = os.cpu_count() or 1
    count = f"{sizes.small_files:,} files of {sizes.small_bytes:,} bytes"
    for processes in sorted({1, cores}):
        yield Pair(
            count,
            f"`xargs -P {processes} sha256sum`",
            lambda: ours_hashes(folder / "small", small),
            lambda processes=processes: sha256sum(folder / "small", small, processes),
        )
    yield Pair(
        f"one file of {sizes.large_mebibytes:,} MiB",
        "`sha256sum`",
        lambda: ours_hashes(folder / "large", large),
        lambda: sha256sum(folder / "large", large, 1),
    )


def starting() -> Pair:
    """Return the pair that starts the command line and a bare interpreter."""
    script = shutil.which("jupyter-vaibify", path=str(Path(sys.executable).parent))
    if script is None:
        sys.exit("jupyter-vaibify is not installed beside this Python; run make bench")
    return Pair(
        "`jupyter-vaibify --help`",
        "`python -c pass`",
        lambda: (
            subprocess.run([script, "--help"], check=True, stdout=subprocess.DEVNULL).returncode
        ),
        lambda: subprocess.run([sys.executable, "-c", "pass"], check=True).returncode,
    )


def make_small_files(folder: Path, sizes: Sizes) -> list[str]:
    """Write files of distinct random bytes, a hundred a folder; return their paths below it."""
    names = []
    for number in range(sizes.small_files):
        name = f"{number // PER_FOLDER:04d}/{number:06d}.dat"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(os.urandom(sizes.small_bytes))
        names.append(name)
    return names


def make_large_file(folder: Path, mebibytes: int) -> list[str]:
    """Write one file, really on disk (no hole), a mebibyte of random bytes over and over."""
    folder.mkdir()
    block = os.urandom(MEBIBYTE)
    with (folder / "large.dat").open("wb") as stream:
        for _ in range(mebibytes):
            stream.write(block)
    return ["large.dat"]


def ours_hashes(root: Path, names: list[str]) -> Mapping[str, str | None]:
    """Hash by this project, every byte read, no stat cache."""
    return {name: state.sha256 for name, state in hash_many(Tree(root), names).items()}


def sha256sum(root: Path, names: list[str], processes: int) -> Mapping[str, str | None]:
    """Hash by coreutils, as many processes at once as said."""
    command = ["xargs", "-0", "-P", str(processes), "-n", "1000", "sha256sum"]
    listed = "\0".join(names).encode()
    done = subprocess.run(command, input=listed, cwd=root, capture_output=True, check=True)
    return {line[66:]: line[:64] for line in done.stdout.decode().splitlines()}


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call took."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(pair: Pair, rounds: int) -> list[tuple[float, float]]:
    """Return (ours, theirs) of each round; who is first alternates."""
    times = []
    for number in range(rounds):
        if number % 2:
            theirs = seconds(pair.theirs)
            times.append((seconds(pair.ours), theirs))
        else:
            times.append((seconds(pair.ours), seconds(pair.theirs)))
    return times


def table(pairs: list[Pair], rounds: int) -> str:
    """Return the Markdown table."""
    lines = ["| what | ours | theirs | with | ours/theirs (range) |", "|---|---|---|---|---|"]
    for pair in pairs:
        times = measure(pair, rounds)
        ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
        ratios = sorted(mine / other for mine, other in times)
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        lines.append(
            f"| {pair.what} | {ours:.3f} s | {theirs:.3f} s | {pair.theirs_name} | {spread} |"
        )
    return "\n".join(lines)


def machine() -> str:
    """Return what the figures depend on, in one line."""
    coreutils = subprocess.run(
        ["sha256sum", "--version"], capture_output=True, text=True, check=True
    )
    version = coreutils.stdout.splitlines()[0].split()[-1]
    return (
        f"{os.cpu_count()} CPUs ({cpu()}), {platform.system()}, "
        f"Python {platform.python_version()}, coreutils {version}."
    )


def cpu() -> str:
    """Return the processor's name as the system gives it."""
    for line in (
        Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ()
    ):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
