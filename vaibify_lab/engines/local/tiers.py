"""The three tiers of the local engine, and what each cannot prevent."""

from __future__ import annotations

import sys
from typing import Literal

from vaibify_lab.core.errors import ToolMissing
from vaibify_lab.engines.local import bubblewrap, landlock

Tier = Literal["bwrap", "landlock", "plain"]
Wanted = Literal["auto", Tier]

_ALWAYS = {
    "memory": "a memory limit holds for each process, not for the step (RLIMIT_AS, best effort)",
    "resources": "processors, the number of processes and the disk are not limited",
}
_BWRAP = {
    "local-services": "with the network on, services of this machine on loopback, and those that"
    " listen on abstract sockets (some desktops'), can be reached",
    "new-git": "where the whole project is writable and has no .git or .vaibify, one can be made",
    "leftover-count": "processes that a step leaves behind end with it and are seldom counted",
}
_LANDLOCK = {
    "read": "every file of this machine that the user may read can be read",
    "metadata": "modes, times and attributes of files outside the project can be changed",
    "git": "where the whole project is writable, .git and .vaibify are writable too",
    "shared-memory": "the user's shared memory (/dev/shm) can be written",
    "sockets": "UDP and sockets in the file system can be used, also with the network off: what"
    " listens there (a container engine, an ssh-agent, other services) may do more than a step",
    "keys": "keys that the kernel keeps for the user can be read",
    "processes": "other processes of the user can be seen",
    "links": "inputs laid read-only are symbolic links",
}
_SINCE = (
    (3, "truncate", "files outside the project can be cut to nothing"),
    (4, "tcp", "TCP can be used, also with the network off"),
    (6, "signals", "signals can be sent to other processes of the user"),
)
_PLAIN = {
    "write": "every file that the user may write can be written, .git and .vaibify too",
    "read": _LANDLOCK["read"],
    "network": "the network can be used, also where it is off for the step",
    "processes": "other processes of the user can be seen, signalled and read",
    "keys": _LANDLOCK["keys"],
    "links": _LANDLOCK["links"],
}
_NOT_LINUX = {"escape": "processes that leave the step's process group are not ended with it"}


def choose(wanted: Wanted) -> Tier:
    """Return the tier to use: the one wanted, or the strongest that works here.

    Raises
    ------
    ToolMissing
        The wanted one does not work here, and why.
    """
    if wanted == "plain":
        return "plain"
    reason = bubblewrap.problem() if sys.platform == "linux" else "this is not Linux"
    if wanted != "landlock" and not reason:
        return "bwrap"
    if wanted == "bwrap":
        action = "install bubblewrap, or let the tier be chosen"
        raise ToolMissing(reason, where="the bubblewrap tier", action=action)
    if sys.platform == "linux" and landlock.version():
        return "landlock"
    if wanted == "landlock":
        text = "this kernel offers no Landlock"
        raise ToolMissing(text, where="the Landlock tier", action="let the tier be chosen")
    return "plain"


def cannot_prevent(tier: Tier) -> list[dict[str, str]]:
    """Return what a step in this tier can do that a record should tell."""
    said = dict({"bwrap": _BWRAP, "landlock": _LANDLOCK, "plain": _PLAIN}[tier])
    if tier == "landlock":
        offered = landlock.version()
        said |= {code: text for since, code, text in _SINCE if offered < since}
    if sys.platform != "linux":
        said |= _NOT_LINUX
    return [{"code": code, "text": text} for code, text in (said | _ALWAYS).items()]
