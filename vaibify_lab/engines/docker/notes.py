"""What is kept of a container beside itself, and what a record tells of the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.engines import state_files
from vaibify_lab.engines.base import LOG_LIMIT, Launch
from vaibify_lab.engines.docker.inspected import About
from vaibify_lab.engines.docker.probe import Probe
from vaibify_lab.engines.docker.watch import Begun
from vaibify_lab.engines.local import processes
from vaibify_lab.files.tree import Tree

CONTAINER = "container.json"
_ALWAYS = {
    "disk": "what a step writes is not limited",
    "local-services": "with the network on, services of this machine can be reached",
    "new-git": "where the whole project is writable and has no .git or .vaibify, one can be made",
}
_UNLESS = {
    "memory_limit": ("memory", "this engine does not hold a memory limit"),
    "memory_kill": (
        "memory-kill",
        "this engine does not tell of a kill for want of memory: it shows as exit status 137 only",
    ),
    "process_limit": ("processes", "this engine does not limit the number of processes"),
    "no_network": ("network", "this engine does not keep the network from a step"),
    "exact_log": ("log", "should the runner die, bytes that are no text are lost from the log"),
}
_PODMAN = {
    "stop": "at a stop the shell alone is asked to end; its programs are killed",
}


def scratch_of(state: Path) -> Path:
    """Return the folder beside a step's state that holds its /tmp and /var/tmp."""
    return state.with_name(f"{state.name}.temporary")


def begin(container: str, launch: Launch, *, infer: bool) -> Begun:
    """Note in the state folder what a later process needs to find the step again.

    Parameters
    ----------
    container : str
        Its identity.
    launch : Launch
        The step.
    infer : bool
        The engine keeps no note of memory kills.

    Raises
    ------
    DiskFull, CannotCheck
    """
    begun = Begun(
        container=container,
        state=launch.state,
        scratch=scratch_of(launch.state),
        log_limit=launch.log_limit,
        kills=processes.out_of_memory_kills(),
        infer=infer,
    )
    values = {
        "container": container,
        "boot_id": processes.boot_id(),
        "kills": begun.kills,
        "infer": infer,
        "log_limit": begun.log_limit,
    }
    Tree(launch.state).write(CONTAINER, jsonio.dumps(values))
    return begun


def begun_before(container: str, state: Path, about: About) -> Begun:
    """Return what was noted of a container; should the note be missing, what is sure anyway."""
    sure = Begun(
        container=container,
        state=state,
        scratch=scratch_of(state),
        log_limit=LOG_LIMIT,
        kills=processes.out_of_memory_kills(),
        infer=about.product == "podman",
    )
    try:
        values = state_files.parsed(state_files.small(state / CONTAINER), CONTAINER)
        return replace(
            sure,
            log_limit=int(values["log_limit"]),
            kills=int(values["kills"]),
            infer=values["infer"] is True,
            same_boot=values["boot_id"] == processes.boot_id(),
        )
    except (InvalidFile, KeyError, TypeError, ValueError):
        return sure


def cannot_prevent(about: About, found: Probe | None) -> list[dict[str, str]]:
    """Return what a step in this engine can do that a record should tell."""
    said = dict(_ALWAYS)
    for name, (code, text) in _UNLESS.items():
        if found is not None and not getattr(found, name):
            said[code] = text
    if about.product == "podman":
        said |= _PODMAN
    return [{"code": code, "text": text} for code, text in said.items()]
