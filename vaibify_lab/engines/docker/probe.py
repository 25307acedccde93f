"""What an engine really gives, found out with one throw-away container before any step runs.

A throw-away container is told the same as a step's and then looks for itself: what an engine says
of itself (``/info``) is not believed. Cases D06, D07, D10.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from threading import Timer

from vaibify_lab.core import disk, jsonio
from vaibify_lab.core.errors import EngineUnfit, InvalidFile, ToolMissing, VaibifyError
from vaibify_lab.engines.base import Resources
from vaibify_lab.engines.docker.config import LABEL, PROCESSES, Order, config_of
from vaibify_lab.engines.docker.daemon import STREAMS, Daemon
from vaibify_lab.engines.docker.inspected import About, Container, Image, Mount
from vaibify_lab.engines.docker.mounts import TEMPORARY, WORKSPACE
from vaibify_lab.engines.local import processes
from vaibify_lab.engines.orphans import asker
from vaibify_lab.engines.scratch import remove_tree
from vaibify_lab.files.cachefile import cache_folder, load_cache, save_cache

PROBE = LABEL + "probe"
MEGABYTES = 64
PATIENCE = 60.0  # seconds
A_DAY = 86400.0
STATUS = 3
_ODD_BYTES = b"\xff\xfe\xc3("
# Nothing but bash: an image need not hold more. A child takes twice the memory that there is.
_SCRIPT = r"""
say() { echo "$1=$2"; }
say token "$(<token)"
(: > refused) 2>/dev/null && say open .
(: > out/kept/refused) 2>/dev/null && say open out/kept
(: > /refused) 2>/dev/null && say open /
(echo "$(<token)" > out/said) 2>/dev/null
for one in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
  [ -r $one ] && say memory "$(<$one)"; done
for one in /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max; do
  [ -r $one ] && say processes "$(<$one)"; done
( LC_ALL=C; x=x; for n in {1..26}; do x=$x$x; done ) 2>/dev/null
if [ -r /proc/net/route ]; then
  { read -r _; while read -r name _; do say route "$name"; done; } < /proc/net/route; fi
if [ -r /proc/net/ipv6_route ]; then
  while read -r -a all; do [ "${all[-1]}" = lo ] || say route "${all[-1]}"
  done < /proc/net/ipv6_route; fi
while read -r name value; do say "$name" "$value"; done < /proc/self/status
printf 'bytes=\xff\xfe\xc3('
exit 3
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """What was seen to hold; False where it was not."""

    same_files: bool = False
    written: bool = False
    owned: bool = False
    read_only: bool = False
    no_privileges: bool = False
    no_network: bool = False
    memory_limit: bool = False
    memory_kill: bool = False
    process_limit: bool = False
    exit_status: bool = False
    exact_log: bool = False


def require_fit(probe: Probe, where: str) -> None:
    """Refuse an engine that would not run steps as promised.

    Raises
    ------
    EngineUnfit
    """
    for name, (text, action) in _NEEDED.items():
        if not getattr(probe, name):
            raise EngineUnfit(text, where=where, action=action)


_ELSEWHERE = (
    "the container engine does not see this machine's files:"
    " it is on another machine, or shares none of this folder"
)
_NO_SOURCE = ("bind source path does not exist", "mounts denied", "statfs ")
_FOREIGN = "files that a step makes by this container engine would not belong to you"
_NEEDED = {
    "same_files": (_ELSEWHERE, "use an engine on this machine, or steps without a container"),
    "written": (
        "a step in this container engine could not write into the project",
        "use an engine that maps your user, as rootless Podman or the system's Docker do",
    ),
    "owned": (_FOREIGN, "use an engine without a user namespace of its own"),
    "read_only": ("this container engine does not keep read-only folders read-only", None),
    "no_privileges": ("this container engine does not take a step's privileges away", None),
    "exit_status": ("this container engine reports a wrong exit status", "update it"),
}


def kept_or_made(key: tuple[str, ...], make: Callable[[], Probe]) -> Probe:
    """Return what was found within the last day under ``key``, else what ``make`` finds now.

    A finding that an engine lacks something is not kept: it may be mended within the minute.
    """
    label = "\0".join((*key, processes.boot_id(), str(os.geteuid()), _SCRIPT))
    name = sha256(label.encode()).hexdigest()[:16]
    place = cache_folder() / "vaibify_lab" / "engines" / name
    body = load_cache(place, label)
    found = None if body is None else _parse(body)
    if found is not None:
        return found
    made = make()
    if all(getattr(made, name) for name in _NEEDED):
        save_cache(place, label, [jsonio.dumps({"at": time.time(), **asdict(made)})])
    return made


def _parse(body: bytes) -> Probe | None:
    try:
        value = jsonio.loads(body, "probe")
        if not 0 <= time.time() - float(value["at"]) < A_DAY:
            return None
        return Probe(**{one.name: value[one.name] is True for one in fields(Probe)})
    except (InvalidFile, KeyError, TypeError, ValueError):
        return None


def probe(
    daemon: Daemon, about: About, image: Image, place: Path, owner: tuple[int, int], host_uid: int
) -> Probe:
    """Run the throw-away container in the folder ``place``, which is made and removed.

    ``owner`` is user and group inside; on the host its files should belong to ``host_uid``.

    Raises
    ------
    ToolMissing
        The image has no bash.
    EngineUnfit
        The engine cannot run the image.
    DiskFull, CannotCheck
        The folder cannot be made.
    """
    token = secrets.token_hex(16)
    try:
        _lay_out(place, token, host_uid)
        ended, out = _run(daemon, _order(place, image, owner), about)
        return _judged(place, token, host_uid, ended, out)
    except EngineUnfit as refusal:
        found = _refused(refusal, image, about)
        if found is None:
            return Probe()
        raise found from None
    finally:
        remove_tree(str(place))


def _lay_out(place: Path, token: str, host_uid: int) -> None:
    remove_tree(str(place))  # somebody may have died here
    try:
        (place / "out" / "kept").mkdir(parents=True)
        (place / "tmp").mkdir()
        (place / "token").write_text(token)
        if os.geteuid() == 0:
            for one in ("out", "out/kept", "tmp"):
                os.chown(place / one, host_uid, -1)
    except OSError as error:
        text = "no folder to try the container engine in"
        raise disk.failure(error, text, str(place)) from None


def _order(place: Path, image: Image, owner: tuple[int, int]) -> Order:
    seen = f"{WORKSPACE}/probe"
    return Order(
        image=image.identity,
        script=_SCRIPT,
        directory=seen,
        mounts=(
            Mount(seen, str(place), False),
            Mount(f"{seen}/out", str(place / "out"), True),
            Mount(f"{seen}/out/kept", str(place / "out" / "kept"), False),
            Mount(TEMPORARY, str(place / "tmp"), True),
        ),
        environment={},
        owner=owner,
        network=False,
        resources=Resources(memory_megabytes=MEGABYTES),
        labels={PROBE: asker()},
        log_limit=2**20,
    )


def _run(daemon: Daemon, order: Order, about: About) -> tuple[Container, bytes]:
    name = f"vaibify-probe-{secrets.token_hex(8)}"
    container = daemon.create(name, config_of(order, about)) or name
    limit = Timer(PATIENCE, daemon.remove, [container])
    limit.daemon = True
    try:
        daemon.start(container)
        limit.start()
        daemon.wait(container)
        limit.cancel()
        ended = daemon.inspect_after_kill(container)
        if ended is None:
            text = f"the container engine did not end a small container within {PATIENCE:g} s"
            raise EngineUnfit(text)
        heard = list(daemon.logs(container, follow=False))
        out, err = (b"".join(piece.get(one, b"") for piece in heard) for one in STREAMS)
        _require_bash(out, err)
        return ended, out
    finally:
        daemon.remove(container)


def _require_bash(out: bytes, err: bytes) -> None:
    if not out and b"exec bash failed" in err:  # says docker's init
        raise EngineUnfit(err.decode("utf-8", "replace"))


def _judged(place: Path, token: str, uid: int, ended: Container, out: bytes) -> Probe:
    head, _, tail = out.rpartition(b"bytes=")
    pairs = [line.partition("=") for line in head.decode("utf-8", "replace").splitlines()]
    said = {name.rstrip(":"): value for name, _, value in pairs}
    return Probe(
        same_files=said.get("token") == token,
        exit_status=ended.exit_code == STATUS,
        exact_log=tail == _ODD_BYTES,
        read_only="token" in said and "open" not in said,
        no_network="token" in said and "route" not in said,
        memory_limit=said.get("memory") == str(MEGABYTES * 2**20),
        memory_kill=ended.out_of_memory,
        process_limit=said.get("processes") == str(PROCESSES),
        no_privileges=_is_powerless(said),
        **_written(place / "out" / "said", token, uid),
    )


def _is_powerless(said: Mapping[str, str]) -> bool:
    held = [said.get(name, "1") for name in ("CapEff", "CapPrm", "CapBnd", "CapInh")]
    return not any(one.strip("0") for one in held) and said.get("NoNewPrivs") == "1"


def _written(path: Path, token: str, uid: int) -> dict[str, bool]:
    try:
        return {"written": path.read_text() == f"{token}\n", "owned": path.stat().st_uid == uid}
    except OSError:
        return {}


def plainly(refusal: EngineUnfit) -> EngineUnfit:
    """Say in plain words what an engine means that does not see our files, or has no such device.

    Other refusals stay as they are.
    """
    if any(one in refusal.text for one in _NO_SOURCE):
        text, action = _NEEDED["same_files"]
        return EngineUnfit(text, action=action)
    if "could not select device driver" in refusal.text:
        text = "this container engine has no graphics cards to give"
        action = "install what gives it them (nvidia-container-toolkit), or ask for no iGpus"
        return EngineUnfit(text, action=action)
    return refusal


def _refused(refusal: EngineUnfit, image: Image, about: About) -> VaibifyError | None:
    """Say in plain words why it did not start; None when the engine lacks our files."""
    if any(one in refusal.text for one in _NO_SOURCE):
        return None
    if "exec format error" in refusal.text.lower():
        said = f"the image is for {image.platform}, and this engine runs {about.platform} only"
        return EngineUnfit(said, where=image.identity[:19])
    if "executable file not found" in refusal.text or "exec bash failed" in refusal.text:
        action = "build it with bash among its system packages; steps run in bash"
        return ToolMissing("the image has no bash", where=image.identity[:19], action=action)
    return refusal
