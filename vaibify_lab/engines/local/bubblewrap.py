"""The strongest tier: a step in namespaces of its own, by ``bwrap``.

It sees the system's programs, its Python, the project at ``/workspace/<name>`` and a private
/tmp; of the project it can write the folders it was given, never ``.git`` and ``.vaibify``.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from glob import glob

from vaibify_lab.core.paths import PROTECTED
from vaibify_lab.engines.base import Launch
from vaibify_lab.engines.local import relay
from vaibify_lab.engines.local.environment import certificates
from vaibify_lab.engines.local.python import PythonEnvironment

WORKSPACE = "/workspace"
EXCHANGE = "/vaibify-exchange"
PREAMBLE = "/vaibify-preamble"
RELAY = "/vaibify-relay.py"
NAMESPACES = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
)
HOLD = ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Read-only pieces of the host: programs, the loader, names, time, fonts, settings that programs
# cannot do without. Each costs about a third of a millisecond, a link nothing.
SYSTEM = (
    "/usr",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/passwd",
    "/etc/group",
    "/etc/localtime",
    "/etc/os-release",
    "/etc/fonts",
    "/etc/R",
    "/etc/texmf",
    "/etc/ssl/openssl.cnf",
    "/var/cache/fontconfig",
    "/sys/devices/system",
)
SYSTEM_PATTERNS = ("/etc/java*", "/etc/ImageMagick*")
NETWORK = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/gai.conf",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
)


@functools.cache
def problem() -> str:
    """Return why bubblewrap does not work here, "" when it does. Tried once for each process."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap (bwrap) is not installed"
    # Not the whole of "/": a container engine's mounts there come and go, and one that goes while
    # bwrap looks at it would speak against bwrap.
    places = [*system(network=False), "--proc", "/proc", "--dev", "/dev"]
    trial = ["--unshare-net", *places, "/bin/sh", "-c", ":"]
    command = [program, *NAMESPACES, *HOLD, *trial]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except subprocess.TimeoutExpired:
        return "bubblewrap did not answer within 20 s"
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").split("\n")[0]
        return f"bubblewrap does not work here: {words or f'exit status {done.returncode}'}"
    return ""


def seen_at(project_name: str) -> str:
    """Return where a step sees the project."""
    return f"{WORKSPACE}/{project_name}"


def options(
    launch: Launch,
    python: PythonEnvironment,
    environment: dict[str, str],
    temporary: str,
    shown: list[str],
) -> list[str]:
    """Return bubblewrap's program and all its options for one step.

    Parameters
    ----------
    launch : Launch
        The step; its paths have been checked.
    python : PythonEnvironment
        What must be visible beside the system.
    environment : dict
        The step's whole environment.
    temporary : str
        Host folder that becomes the step's /tmp.
    shown : list of str
        What ``system`` said.
    """
    place = seen_at(launch.project_name)
    return [
        shutil.which("bwrap") or "bwrap",
        *NAMESPACES,
        *HOLD,
        *([] if launch.network else ["--unshare-net"]),
        *shown,
        *("--proc", "/proc", *_kernel_settings()),
        *("--dev", "/dev", "--bind", temporary, "/tmp"),  # noqa: S108
        *("--symlink", "/tmp", "/var/tmp", "--dir", "/run"),  # noqa: S108
        *_graphics(bool(launch.resources.gpus)),
        *_python(python),
        *_project(launch, place),
        *(("--bind", str(launch.exchange), EXCHANGE) if launch.exchange else ()),
        *(("--ro-bind", str(launch.preamble), PREAMBLE) if launch.preamble else ()),
        *(("--ro-bind", relay.__file__, RELAY) if launch.for_terminals else ()),
        *("--remount-ro", "/", "--clearenv"),
        *(word for item in environment.items() for word in ("--setenv", *item)),
        *("--chdir", f"{place}/{launch.directory}".rstrip("/")),
    ]


def bare(python: PythonEnvironment, shown: list[str], environment: dict[str, str]) -> list[str]:
    """Return bubblewrap's program and options for a helper of ours that reads what is not trusted.

    Programs, its Python and ``shown`` are read-only, there is no network and nothing to write.
    """
    return [
        shutil.which("bwrap") or "bwrap",
        *NAMESPACES,
        *HOLD,
        "--unshare-net",
        *system(network=False),
        *("--proc", "/proc", *_kernel_settings(), "--dev", "/dev"),
        *_python(python),
        *_read_only([one for one in shown if not one.startswith("/usr/")]),
        *("--remount-ro", "/", "--clearenv"),
        *(word for item in environment.items() for word in ("--setenv", *item)),
        *("--chdir", "/"),
    ]


def system(network: bool) -> list[str]:
    """Return the options that show the host's programs; the same for all steps of a run."""
    matching = [path for pattern in SYSTEM_PATTERNS for path in sorted(glob(pattern))]
    wanted = [*SYSTEM, *matching]
    if network:
        # the whole of /etc/ssl takes the place of the one file of it
        wanted = [path for path in wanted if not path.startswith("/etc/ssl/")]
        wanted += [*NETWORK, *certificates(network).values()]
    return _read_only([*filter(os.path.lexists, TOP), *wanted])


def _read_only(paths: list[str]) -> list[str]:
    """Show host paths at their own places; a link into /usr stays a link."""
    words = []
    for path in dict.fromkeys(paths):
        target = os.path.realpath(path)
        if os.path.islink(path) and target.startswith("/usr/"):
            words += ["--symlink", target, path]
        elif os.path.exists(path):
            words += ["--ro-bind", path, path]
    return words


def _kernel_settings() -> list[str]:
    """Close /proc to root: the kernel asks only who owns /proc/sys, and inside it is still root."""
    return [] if os.geteuid() else ["--remount-ro", "/proc"]


def graphics_devices() -> list[str]:
    """Return the device files of graphics cards on this machine."""
    return sorted(glob("/dev/nvidia*")) + [
        path for path in ("/dev/dri", "/dev/kfd") if os.path.exists(path)
    ]


def _graphics(wanted: bool) -> list[str]:
    devices = graphics_devices() if wanted else []
    return [word for path in devices for word in ("--dev-bind", path, path)]


def _python(python: PythonEnvironment) -> list[str]:
    """Show the Python and what it stands on, also where a home folder hides the rest."""
    folders = [str(folder) for folder in python.folders if not folder.is_relative_to("/usr")]
    links = [word for place, target in python.links for word in ("--symlink", target, place)]
    return _read_only(folders) + links


def _project(launch: Launch, place: str) -> list[str]:
    """Lay the project: read-only, then what may be written, then what never may."""
    tree = str(launch.tree)
    words = ["--bind" if "" in launch.writable else "--ro-bind", tree, place]
    for path in sorted(filter(None, launch.writable)):
        words += ["--bind", f"{tree}/{path}", f"{place}/{path}"]
    for path, source in sorted(launch.read_only.items()):
        words += ["--ro-bind", str(source), f"{place}/{path}"]
    for name in PROTECTED:
        if os.path.exists(f"{tree}/{name}") and not os.path.islink(f"{tree}/{name}"):
            words += ["--ro-bind", f"{tree}/{name}", f"{place}/{name}"]
    return words
