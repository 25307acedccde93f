"""SSH signatures: made and checked by ``ssh-keygen -Y``, never with a question to anybody.

``ssh-keygen -Y verify`` with the recorded key as the only allowed signer says the same by hand.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vaibify_lab.core.errors import ToolFailed, ToolMissing
from vaibify_lab.core.paths import shown

NAMESPACE = "vaibify-sign-off"
SECONDS = 15.0
_SIGNER = "signer"
_LONGEST = 100_000
_ARMOUR = re.compile(
    r"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?"
)
_KEY = re.compile(r"([a-z0-9@.-]{1,100}) ([A-Za-z0-9+/]+=*)(?: [^\x00-\x1f\x7f]*)?")
_ASKING = frozenset({"DISPLAY", "WAYLAND_DISPLAY", "SSH_ASKPASS"})


@dataclass(frozen=True, slots=True)
class Signed:
    """An armoured SSH signature and the public key that made it (``type base64``)."""

    signature: str
    key: str


def sign(
    content: bytes,
    key: str,
    namespace: str = NAMESPACE,
    *,
    root: Path | None = None,
    seconds: float = SECONDS,
) -> Signed:
    """Sign bytes with an SSH key.

    Parameters
    ----------
    content, namespace : bytes, str
        What is signed, and what for: a signature for one purpose is none for another.
    key : str
        As git's ``user.signingkey``: a path to a private or public key, or ``key::`` and a public
        key itself. A public key is used through ssh-agent, or through the private one beside it.
    root : Path, optional
        What a relative path starts from, as in git: the top of the work tree.
    seconds : float
        How long to wait; a key may want to be touched.

    Raises
    ------
    ToolMissing
        There is no ssh-keygen.
    ToolFailed
        It cannot sign without asking, or at all, and why.
    """
    with tempfile.TemporaryDirectory(prefix="vaibify-sign-") as folder:
        path = _key_file(key, Path(folder), root or Path.cwd())
        done = _run(["-Y", "sign", "-n", namespace, "-f", str(path)], content, seconds)
    if done.returncode:
        raise _why_not_signed(path, key, done.stderr)
    signature = done.stdout.decode("ascii", "replace")
    signed = Signed(signature, _signer(signature, namespace) or "")
    if check(content, signature, signed.key, namespace) != "valid":
        raise ToolFailed("ssh-keygen made a signature that it does not accept itself", where=key)
    return signed


def check(
    content: bytes,
    signature: str,
    key: str,
    namespace: str = NAMESPACE,
    *,
    seconds: float = SECONDS,
) -> Literal["valid", "invalid", "unchecked"]:
    """Tell whether ``key`` signed exactly these bytes.

    ``unchecked``: ssh-keygen is missing, too old, does not know the key's type, or did not answer.
    """
    plain = _plain_key(key)
    if plain is None or _signer(signature, namespace) != plain:
        return "invalid"
    try:
        with _written(f"{_SIGNER} {plain}\n", plain, signature) as (allowed, public, armoured):
            verify = ["-Y", "verify", "-f", allowed, "-I", _SIGNER, "-n", namespace]
            done = _run([*verify, "-s", armoured], content, seconds)
            if done.returncode == 0:
                return "valid"
            can_tell = b"unknown option" not in done.stderr and b"illegal option" not in done.stderr
            known = _run(["-l", "-f", public], b"", seconds).returncode == 0
    except (ToolMissing, ToolFailed):
        return "unchecked"
    return "invalid" if can_tell and known else "unchecked"


def _key_file(key: str, folder: Path, root: Path) -> Path:
    """Return the file that holds the key; a literal one is written into ``folder``."""
    literal = key.removeprefix("key::")
    if literal != key or key.startswith("ssh-"):
        path = folder / "key.pub"
        path.write_text(literal.strip() + "\n", encoding="utf-8")
        return path
    path = root / Path(os.path.expanduser(key))
    if not path.is_file():
        text = "the signing key that git names (user.signingkey) does not exist"
        raise ToolFailed(text, where=shown(key), action="correct it: git config user.signingkey")
    return path


def _run(
    arguments: list[str], content: bytes, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen in a session of its own, so that it finds no terminal and no dialog."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise ToolMissing("ssh-keygen is not installed", action="install OpenSSH's client")
    inherited = {name: value for name, value in os.environ.items() if name not in _ASKING}
    with subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=inherited | {"SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"},
        start_new_session=True,
    ) as process:
        try:
            said = process.communicate(content, timeout=seconds)
        except subprocess.TimeoutExpired:
            text = f"ssh-keygen did not answer within {seconds:g} s (a key may want to be touched)"
            raise ToolFailed(text) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(arguments, process.returncode, *said)


def _why_not_signed(path: Path, key: str, stderr: bytes) -> ToolFailed:
    private = path.with_suffix("") if path.suffix == ".pub" else path
    said = stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
    add = f"ssh-add {shlex.quote(str(private))}"
    if not private.is_file():
        text = "only the public key is here, and no ssh-agent holds the private one"
        return ToolFailed(text, where=shown(key[:200]), action="ssh-add the private key")
    if any("passphrase" in line for line in said):
        text = "the signing key has a passphrase, and no ssh-agent holds it"
        return ToolFailed(text, where=shown(key), action=add)
    return ToolFailed(f"ssh-keygen could not sign: {shown(said[-1])}", where=shown(key))


@contextmanager
def _written(*texts: str) -> Iterator[list[str]]:
    """Give the paths of private temporary files that hold these texts."""
    with tempfile.TemporaryDirectory(prefix="vaibify-sign-") as folder:
        paths = [Path(folder, str(number)) for number, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="ascii")
        yield [str(path) for path in paths]


def _plain_key(key: str) -> str | None:
    """Return ``type base64`` of a public key line; None for anything that could mean more."""
    found = _KEY.fullmatch(key)
    return f"{found[1]} {found[2]}" if found and len(key) <= _LONGEST else None


def _signer(signature: str, namespace: str) -> str | None:
    """Return the public key inside a signature; None unless it is one for this namespace.

    The layout is OpenSSH's PROTOCOL.sshsig: magic, version, key, namespace, ...
    """
    found = _ARMOUR.fullmatch(signature) if len(signature) <= _LONGEST else None
    if found is None:
        return None
    try:
        blob = base64.b64decode(found[1].replace("\n", ""), validate=True)
    except binascii.Error:
        return None
    key, rest = _string(blob[10:])
    if blob[:6] != b"SSHSIG" or _string(rest)[0] != namespace.encode():
        return None
    kind = _string(key)[0].decode("ascii", "replace")
    return _plain_key(f"{kind} {base64.b64encode(key).decode('ascii')}")


def _string(data: bytes) -> tuple[bytes, bytes]:
    """Return the length-prefixed string that data begins with, and what follows it."""
    end = 4 + int.from_bytes(data[:4], "big")
    return data[4:end], data[end:]
