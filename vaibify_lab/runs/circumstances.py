"""What surrounds a run: the machine, its processors, and what belongs to somebody."""

from __future__ import annotations

import os
import platform
import socket
from contextlib import suppress

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.runs import enveloping
from vaibify_lab.runs.context import Circumstance, Protected
from vaibify_lab.runs.engine_choice import Chosen
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.processes import machine_id


def circumstance(person: str, look: Look, epoch: int, chosen: Chosen) -> Circumstance:
    """Return what every record of the run keeps of the world."""
    system = platform.uname()
    return Circumstance(
        person=person,
        machine={"host": socket.gethostname(), "id": machine_id()},
        host={
            "system": system.system,
            "kernel": system.release,
            "machine": system.machine,
            "cpus": str(os.cpu_count() or 1),
            "usable_cpus": str(processors()),
            "libc": " ".join(platform.libc_ver()).strip(),
        },
        epoch=epoch,
        lock=chosen.lock,
        image=look.world.image,
        components=chosen.standing.components,
        locale=chosen.standing.locale,
    )


def cores(asked: int) -> int:
    """Return what ``{iNumberOfCores}`` stands for: as asked, else all processors but one."""
    return max(1, processors() - 1) if asked < 1 else asked


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def protected(opened: Opened) -> Protected:
    """Return what no step may write unless it declares it: workflows, envelope, all that is named.

    Of every workflow of the repository; one that cannot be read protects itself alone.
    """
    files = set(opened.workflow_paths()) | {enveloping.MANIFEST, *enveloping.ALONGSIDE}
    folders: set[str] = set()
    for path in opened.workflow_paths():
        with suppress(VaibifyError):
            workflow = opened.workflow(path)
            reach = opened.reach(workflow)
            for step in workflow.steps:
                declared = (*step.outputs, *step.declared_inputs)
                folders.update(one for one in declared if one.endswith("/"))
                files.update(one for one in declared if not one.endswith("/"))
                files.update(reach.code[step.slug].files)
                files.update(reach.tests[step.slug])
    return Protected(frozenset(files), tuple(sorted(folders)))
