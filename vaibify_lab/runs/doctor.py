"""``doctor``: what this machine has of what is needed; one line each, with the remedy."""

from __future__ import annotations

import platform
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vaibify_lab import __version__
from vaibify_lab.core.errors import NotARepository, VaibifyError
from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.engines.local import bubblewrap, tiers
from vaibify_lab.engines.local.environment import search_path
from vaibify_lab.engines.local.uvtool import program as uv_program
from vaibify_lab.files import signing
from vaibify_lab.files.cachefile import cache_folder
from vaibify_lab.files.git import Repository
from vaibify_lab.files.trust import ChangeTimes
from vaibify_lab.runs.cache_state import cache_state

OLDEST_GIT = (2, 30)
LOW_DISK, LITTLE_DISK = 200 * 10**6, 2 * 10**9
_SIGNING_SECONDS = 5.0


def doctor(root: Path | None = None, *, path: str | None = None) -> list[Finding]:
    """Look at the machine.

    Parameters
    ----------
    root : Path, optional
        Any folder of the repository that is asked about; the working directory when absent.
    path : str, optional
        Where steps look for programs; the local engine's own when absent.
    """
    place = root or Path.cwd()
    git = _git()
    found = [_version(), _python(), git]
    found += _repository(place) if git.level != "error" else []
    found += [_bash(path or search_path(Path(sys.prefix))), _uv(), _tier(), _container()]
    found += [*_by_hand(), _disk(place), *_times(place), _cache(), _outputs(), _jupyter()]
    return found


def _version() -> Finding:
    return Finding("ok", "version", f"vaibify_lab {__version__}")


def _python() -> Finding:
    return Finding("ok", "python", f"Python {platform.python_version()} ({sys.executable})")


def _git() -> Finding:
    program = shutil.which("git")
    if program is None:
        return Finding("error", "git", "git is not installed", action="install git")
    said = _ask([program, "--version"])
    version = re.search(r"\d+\.\d+(?:\.\d+)*", said)
    if version is None:
        text = f"git does not say its version: {said[:80]!r}"
        return Finding("error", "git", text, action="install git anew")
    if tuple(map(int, version[0].split(".")[:2])) < OLDEST_GIT:
        text = f"git {version[0]} is too old; 2.30 or later is needed"
        return Finding("error", "git", text, action="install a newer git")
    return Finding("ok", "git", f"git {version[0]}")


def _repository(place: Path) -> Iterator[Finding]:
    try:
        repository = Repository.find(place)
    except NotARepository as error:
        text = f"{place} {error.text}"
        yield Finding("warning", "repository", text, action=error.action or "git init")
        return
    except VaibifyError as error:
        yield Finding("error", "repository", f"{place}: {error.text}", action=error.action)
        return
    yield Finding("ok", "repository", f"git repository {repository.root}")
    identity = repository.identity()
    if identity is None:
        text = "git knows no name and address of yours, which a sign-off needs"
        action = 'git config user.name "Your Name" && git config user.email you@example.org'
        yield Finding("warning", "identity", text, action=action)
    else:
        yield Finding("ok", "identity", f"sign-offs are by {identity}")
    yield _signing(repository)


def _signing(repository: Repository) -> Finding:
    """Say whether sign-offs will be signed, by signing something."""
    key = repository.signing_key()
    if key is None:
        text = "git has no SSH signing key, so sign-offs will not be signed"
        action = "git config gpg.format ssh && git config user.signingkey ~/.ssh/id_ed25519.pub"
        return Finding("warning", "signing", text, action=action)
    try:
        signed = signing.sign(
            b"doctor\n", key, "vaibify-doctor", root=repository.root, seconds=_SIGNING_SECONDS
        )
    except VaibifyError as error:
        text = f"sign-offs will not be signed: {error.where or 'ssh-keygen'}: {error.text}"
        return Finding("warning", "signing", text, action=error.action)
    return Finding("ok", "signing", f"sign-offs are signed with {signed.key[:60]}")


def _bash(path: str) -> Finding:
    program = shutil.which("bash", path=path)
    if program is None:
        text = f"bash is not installed where steps look for it ({path})"
        return Finding("error", "bash", text, action="install bash; steps run in it")
    return Finding("ok", "bash", f"bash ({program})")


def _uv() -> Finding:
    try:
        program = uv_program()
    except VaibifyError as error:
        return Finding("error", "uv", error.text, action=error.action)
    return Finding("ok", "uv", _ask([program, "--version"]) or f"uv ({program})")


def _tier() -> Finding:
    tier = tiers.choose("auto")
    if tier == "bwrap":
        return Finding("ok", "tier", "steps are held by bubblewrap")
    why = bubblewrap.problem() if sys.platform == "linux" else "this is not Linux"
    held = "steps are held by Landlock only" if tier == "landlock" else "steps are not held at all"
    worst = tiers.cannot_prevent(tier)[0]["text"]
    action = "install bubblewrap" if sys.platform == "linux" else "use Linux for untrusted code"
    return Finding("warning", "tier", f"{held} ({why}): {worst}", action=action)


def _container() -> Finding:
    """Ask the container engine for its name; without one steps run outside a container."""
    from vaibify_lab.engines.image.client import connect

    try:
        version = connect().version()
    except VaibifyError as error:
        text = f"{error.text}; steps run outside a container"
        return Finding("warning", "container", text, action=error.action)
    return Finding("ok", "container", f"container engine {version.get('Version', '')}".strip())


def _by_hand() -> Iterator[Finding]:
    """Look for the programs by which a reviewer verifies without us."""
    if shutil.which("ssh-keygen") is None:
        text = "ssh-keygen is not installed: signatures are neither made nor checked"
        yield Finding("warning", "ssh-keygen", text, action="install OpenSSH's client")
    else:
        yield Finding("ok", "ssh-keygen", f"ssh-keygen ({shutil.which('ssh-keygen')})")
    names = ("sha256sum", "gsha256sum", "shasum")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        text = "sha256sum is not installed: the manifest cannot be verified by hand"
        yield Finding("warning", "sha256sum", text, action="install GNU coreutils")
    else:
        yield Finding("ok", "sha256sum", f"sha256sum ({program})")


def _disk(place: Path) -> Finding:
    free = shutil.disk_usage(place).free
    text = f"{free / 10**9:.1f} GB free at {place}"
    level: Level = "error" if free < LOW_DISK else "warning" if free < LITTLE_DISK else "ok"
    return Finding(level, "disk", text, action=None if level == "ok" else "free some space")


def _times(place: Path) -> Iterator[Finding]:
    """Warn of a file system by whose stamps nobody can tell whether a file was changed."""
    if not ChangeTimes().are_kept_on(place.stat().st_dev):
        text = f"the file system of {place} keeps no time of change: every look reads every file"
        yield Finding("warning", "times", text, action="keep the repository on a local disk")


def _cache() -> Finding:
    folder = cache_folder() / "vaibify_lab"
    trial = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        trial.write_bytes(b"x")
    except OSError as error:
        text = f"the cache folder {folder} cannot be written ({error.strerror}): no Python can be "
        text += "made for requirements.lock, and every file is hashed at every look"
        return Finding("error", "cache", text, action="make it writable, or set XDG_CACHE_HOME")
    finally:
        with suppress(OSError):
            trial.unlink()
    return Finding("ok", "cache", f"cache folder {folder}")


def _outputs() -> Finding:
    """Say what the cache of outputs holds; one that is not to be used costs time alone."""
    try:
        return Finding("ok", "outputs", cache_state().text)
    except VaibifyError as error:
        where = f"{error.where}: " if error.where else ""
        text = f"outputs of runs are not cached: {where}{error.text}"
        return Finding("warning", "outputs", text, action=error.action)


def _jupyter() -> Finding:
    """Say whether ``jupyter vaibify`` runs this installation."""
    own = Path(sys.prefix, "bin")
    activate = f"put {own} first on PATH (activate its environment)"
    jupyter = shutil.which("jupyter")
    if jupyter is None:
        text = "the jupyter command is not on PATH"
        return Finding("warning", "jupyter", text, action=activate)
    beside = str(Path(jupyter).parent)
    search = f"{Path(jupyter).resolve().parent}:{beside}"
    program = shutil.which("jupyter-vaibify", path=search) or shutil.which("jupyter-vaibify")
    if program is None:
        text = f"{jupyter} does not find jupyter-vaibify"
        return Finding("warning", "jupyter", text, action=activate)
    if Path(program).parent.resolve() != own.resolve():
        text = f"jupyter vaibify runs another installation ({program})"
        return Finding("warning", "jupyter", text, action=activate)
    return Finding("ok", "jupyter", f"jupyter vaibify runs {program}")


def _ask(command: list[str]) -> str:
    """Return the first line that a program says; empty when it says nothing or does not run."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().split("\n")[0]
