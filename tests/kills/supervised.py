"""A step's supervisor that meets a fault: one of the first Python that a run starts for them."""

from __future__ import annotations

from pathlib import Path

from tests.kills.apart import Work
from vaibify_lab.engines.local import start, starter

# It must be called as the real one is, or nobody would take it for a supervisor.
PROGRAM = """\
import os, sys
sys.path[:0] = [{root!r}]
from tests.kills.faults import MODES, Fault
from vaibify_lab.engines.local import start

depth = 0
error, lasting = MODES[{mode!r}]
met = os.open({met!r}, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
write = os.write


class InOne(Fault):
    def _fits(self, what):
        return depth == {depth} and super()._fits(what)


def deeper():
    global depth
    depth += 1


os.register_at_fork(after_in_child=deeper)
if not os.fstat(met).st_size:
    write(met, b"begun\\n")
    fault = InOne({nth}, error, lasting)
    fault.said = lambda what: write(met, f"FAULT at {{what}}\\n".encode())
    fault.install()
start.main()
"""


def with_fault(work: Work, place: Path, depth: int, mode: str, nth: int) -> Work:
    """Return work in which the first supervisor meets a fault.

    ``depth`` says which process: 0 the starter, 2 the supervisor, 3 the step's before it is one.
    """
    script = place / "engines" / "local" / "start.py"
    script.parent.mkdir(parents=True)
    root = str(Path(__file__).parents[2])
    met = str(place / "met")
    script.write_text(PROGRAM.format(root=root, mode=mode, met=met, depth=depth, nth=nth))

    def run() -> int:
        fake = type(start)("start")
        fake.__dict__.update(vars(start), __file__=str(script))
        vars(starter)["start"] = fake
        return work()

    return run


def said_by(place: Path) -> str:
    """Return what the supervisor's fault said before it happened."""
    met = place / "met"
    return met.read_text() if met.exists() else ""
