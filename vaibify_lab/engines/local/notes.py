"""The supervisor's files: who it is, how the step ended. Supervisor side: few imports."""

from __future__ import annotations

import os

from vaibify_lab.engines.local import processes

RESERVE = 4096  # bytes set aside at the start, so that a full disk does not cost the status

Scalars = dict[str, int | float | str | None]


def record(step: int, pipes: list[int]) -> bytes:
    """Write ``supervisor.json``, so that another process can find the step again; return it.

    Parameters
    ----------
    step : int
        The step's first process.
    pipes : list of int
        Its output pipes; by them its processes are known should the supervisor be killed.
    """
    me = os.getpid()
    values: Scalars = {
        "pid": me,
        "start_time": processes.start_time(me),
        "boot_id": processes.boot_id(),
        "step_pid": step,
        "pipes": " ".join(f"pipe:[{os.fstat(one).st_ino}]" for one in pipes),
    }
    data = _write("supervisor.json.new", values)
    os.rename("supervisor.json.new", "supervisor.json")
    return data


def reserve() -> None:
    """Take the room that the status will need."""
    with open("status.json.new", "wb") as stream:
        stream.write(b" " * RESERVE)


def write_status(status: Scalars) -> None:
    """Write ``status.json`` over the reserve, then give it its name: whole or not at all."""
    _write("status.json.new", status)
    os.rename("status.json.new", "status.json")


def grace_asked() -> float | None:
    """Return the seconds of grace that a ``stop`` file names, None when there is none."""
    try:
        with open("stop", encoding="ascii", errors="replace") as stream:
            return max(0.0, float(stream.read(20)))
    except (FileNotFoundError, ValueError):
        return None


def _write(name: str, values: Scalars) -> bytes:
    lines = ",\n".join(f'  "{key}": {_json(value)}' for key, value in sorted(values.items()))
    data = f"{{\n{lines}\n}}\n".encode("utf-8", "replace")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(handle, data)
    os.ftruncate(handle, len(data))
    os.close(handle)
    return data


def _json(value: float | str | None) -> str:
    """Write one JSON scalar; ``json`` itself would cost every step 10 ms."""
    if value is None:
        return "null"
    if not isinstance(value, str):
        return repr(value).lower()
    shown = (f"\\u{ord(c):04x}" if c < " " or c in '"\\' else c for c in value)
    return f'"{"".join(shown)}"'
