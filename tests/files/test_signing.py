"""Signatures by real keys, real ssh-keygen and a real agent."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaibify_lab.core.errors import ToolFailed, ToolMissing
from vaibify_lab.files.signing import NAMESPACE, Signed, check, sign

CONTENT = b'{"verdict": "passed"}\n'


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    size = ["-b", "2048"] if kind == "rsa" else []
    command = ["ssh-keygen", "-q", "-t", kind, *size, "-N", passphrase, "-C", "me", "-f", path]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


def public(path: Path) -> str:
    return " ".join(path.with_suffix(".pub").read_text().split()[:2])


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("keys") / "id")


@pytest.fixture(scope="module")
def signed(key: Path) -> Signed:
    return sign(CONTENT, str(key))


@pytest.fixture
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    socket = Path(f"/tmp/vl-{os.getpid()}-{time.monotonic_ns()}")  # a socket's path must be short
    with subprocess.Popen(
        ["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        until = time.monotonic() + 10
        while not socket.exists() and time.monotonic() < until:
            time.sleep(0.01)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        yield
        process.terminate()


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_a_signature_is_valid_for_its_bytes_and_its_key(tmp_path: Path, kind: str) -> None:
    path = make_key(tmp_path / "id", kind)
    made = sign(CONTENT, str(path))
    assert made.key == public(path)
    assert check(CONTENT, made.signature, made.key) == "valid"
    assert check(CONTENT, made.signature, made.key + " a comment") == "valid"


def test_ssh_keygen_verify_by_hand_accepts_the_same_bytes(tmp_path: Path, signed: Signed) -> None:
    (tmp_path / "allowed").write_text(f"ada@example.org {signed.key}\n")
    (tmp_path / "signature").write_text(signed.signature)
    command = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "ada@example.org"]
    command += ["-n", NAMESPACE, "-s", "signature"]
    good = subprocess.run(command, input=CONTENT, cwd=tmp_path, check=False)
    edited = subprocess.run(command, input=CONTENT + b" ", cwd=tmp_path, check=False)
    assert (good.returncode, edited.returncode) == (0, 255)


def test_edited_content_is_invalid(signed: Signed) -> None:
    assert check(CONTENT.replace(b"passed", b"failed"), signed.signature, signed.key) == "invalid"


def test_another_key_is_invalid(signed: Signed, tmp_path: Path) -> None:
    other = public(make_key(tmp_path / "other"))
    assert check(CONTENT, signed.signature, other) == "invalid"


def test_another_namespace_is_invalid(key: Path) -> None:
    made = sign(CONTENT, str(key), "git")
    assert check(CONTENT, made.signature, made.key) == "invalid"
    assert check(CONTENT, made.signature, made.key, "git") == "valid"


def test_a_key_line_cannot_smuggle_another_signer(signed: Signed, tmp_path: Path) -> None:
    other = public(make_key(tmp_path / "other"))
    for line in (f"{other}\nsigner {signed.key}", f"cert-authority {signed.key}", "", "* *"):
        assert check(CONTENT, signed.signature, line) == "invalid"


def test_a_changed_signature_is_invalid(signed: Signed) -> None:
    lines = signed.signature.split("\n")
    body = lines[-3]
    lines[-3] = ("A" if body[0] != "A" else "B") + body[1:]
    assert check(CONTENT, "\n".join(lines), signed.key) == "invalid"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.hex()))
def test_no_text_is_a_valid_signature_or_breaks_the_check(text: str) -> None:
    armoured = f"-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n"
    for signature in (text, armoured):
        assert check(CONTENT, signature, "ssh-ed25519 AAAA") == "invalid"


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=200).filter(lambda data: data != CONTENT))
def test_no_other_bytes_are_valid(signed: Signed, content: bytes) -> None:
    assert check(content, signed.signature, signed.key) == "invalid"


def test_a_passphrase_is_a_reason_and_no_hang(tmp_path: Path, no_agent: None) -> None:
    path = make_key(tmp_path / "id", passphrase="secret")
    begun = time.monotonic()
    with pytest.raises(ToolFailed) as caught:
        sign(CONTENT, str(path))
    assert str(caught.value) == (
        f"{path}: the signing key has a passphrase, and no ssh-agent holds it; ssh-add {path}"
    )
    with pytest.raises(ToolFailed, match="has a passphrase, and no ssh-agent holds it"):
        sign(CONTENT, f"{path}.pub")
    assert time.monotonic() - begun < 60


def test_no_dialog_is_opened_for_a_passphrase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_agent: None
) -> None:
    path = make_key(tmp_path / "id", passphrase="secret")
    dialog = tmp_path / "dialog"
    dialog.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho secret\n")
    dialog.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(dialog))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.setenv("DISPLAY", ":99")
    with pytest.raises(ToolFailed, match="has a passphrase"):
        sign(CONTENT, str(path))
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("form", ["{key}.pub", "key::{public}", "{public}"])
def test_an_agent_signs_when_only_the_public_key_is_here(
    tmp_path: Path, agent: None, form: str
) -> None:
    path = make_key(tmp_path / "id", passphrase="")
    line = public(path)
    subprocess.run(["ssh-add", "-q", path], check=True, stdin=subprocess.DEVNULL)
    path.unlink()
    made = sign(CONTENT, form.format(key=path, public=line))
    assert (made.key, check(CONTENT, made.signature, line)) == (line, "valid")


@pytest.mark.parametrize("form", ["{key}.pub", "key::{public}"])
def test_only_a_public_key_and_no_agent_is_a_reason(
    tmp_path: Path, no_agent: None, form: str
) -> None:
    path = make_key(tmp_path / "id")
    given_key = form.format(key=path, public=public(path))
    path.unlink()
    with pytest.raises(ToolFailed) as caught:
        sign(CONTENT, given_key)
    assert str(caught.value) == (
        f"{given_key}: only the public key is here, and no ssh-agent holds the private one; "
        "ssh-add the private key"
    )


def test_a_public_key_beside_its_private_one_signs(key: Path, no_agent: None) -> None:
    assert sign(CONTENT, f"{key}.pub").key == public(key)


def test_a_relative_path_and_a_home_path(
    key: Path, monkeypatch: pytest.MonkeyPatch, no_agent: None
) -> None:
    monkeypatch.setenv("HOME", str(key.parent))
    assert sign(CONTENT, "id", root=key.parent).key == public(key)
    assert sign(CONTENT, "~/id").key == public(key)


def test_a_key_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed) as caught:
        sign(CONTENT, str(tmp_path / "none"))
    assert str(caught.value) == (
        f"{tmp_path}/none: the signing key that git names (user.signingkey) does not exist; "
        "correct it: git config user.signingkey"
    )


def test_a_file_that_is_no_key_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("not a key\n")
    with pytest.raises(ToolFailed, match=r"ssh-keygen could not sign: .*id"):
        sign(CONTENT, str(tmp_path / "id"))


def test_without_ssh_keygen(
    signed: Signed, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="ssh-keygen is not installed; install OpenSSH's client"):
        sign(CONTENT, str(key))
    assert check(CONTENT, signed.signature, signed.key) == "unchecked"
    assert check(CONTENT, "no signature", signed.key) == "invalid"


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def fake(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "ssh-keygen"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_one_that_waits_for_ever_is_ended_with_its_children(
    signed: Signed, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, f"sleep 300 & echo $! >> {tmp_path}/child; wait", monkeypatch)
    begun = time.monotonic()
    with pytest.raises(ToolFailed) as caught:
        sign(CONTENT, str(key), seconds=3)  # in which it has begun on a busy machine as well
    assert str(caught.value) == (
        "ssh-keygen did not answer within 3 s (a key may want to be touched)"
    )
    assert check(CONTENT, signed.signature, signed.key, seconds=3) == "unchecked"
    assert time.monotonic() - begun < 60
    children = [int(one) for one in (tmp_path / "child").read_text().split()]
    assert len(children) >= 2
    until = time.monotonic() + 10
    while any(map(is_running, children)) and time.monotonic() < until:
        time.sleep(0.01)
    assert [child for child in children if is_running(child)] == []


def test_one_that_is_too_old_to_verify_leaves_it_unchecked(
    signed: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, 'case "$1" in -Y) echo "unknown option -- Y" >&2; exit 1;; esac', monkeypatch)
    assert check(CONTENT, signed.signature, signed.key) == "unchecked"


def test_a_key_type_that_it_does_not_know_is_unchecked(
    signed: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "echo 'is not a public key file' >&2; exit 255", monkeypatch)
    assert check(CONTENT, signed.signature, signed.key) == "unchecked"


def test_a_signature_that_does_not_verify_is_never_returned(
    signed: Signed, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_text(signed.signature)
    real = shutil.which("ssh-keygen")
    fake(tmp_path, f'[ "$2" = sign ] && cat {tmp_path}/old || exec {real} "$@"', monkeypatch)
    with pytest.raises(ToolFailed, match="a signature that it does not accept itself"):
        sign(b"other bytes", str(key))


def test_nothing_is_left_behind(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    made = sign(CONTENT, str(key))
    check(CONTENT, made.signature, made.key)
    assert list(tmp_path.iterdir()) == []
