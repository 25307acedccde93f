"""Containers that were made for one question, told from those whose asker died meanwhile."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vaibify_lab.engines.local import processes


def asker() -> str:
    """Return the name of this process, as the label of a container that it will remove."""
    pid = os.getpid()
    return " ".join([processes.boot_id(), _numbering(), str(pid), processes.start_time(pid)])


def orphans(labelled: Mapping[str, str]) -> list[str]:
    """Return the containers, of some with their askers, that nobody else will remove.

    An engine may serve other machines, and other process namespaces of this one: of their
    processes nobody here can know whether they live.
    """
    here = [processes.boot_id(), _numbering()]
    found = []
    for container, name in labelled.items():
        *place, pid, started = name.split(" ", 3) if name.count(" ") >= 3 else ("", "", "")
        if place == here and pid.isdecimal() and processes.start_time(int(pid)) != started:
            found.append(container)
    return found


def _numbering() -> str:
    """Return what tells in which namespace process numbers are meant (Linux)."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "-"
