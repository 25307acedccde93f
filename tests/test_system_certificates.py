"""A network whose own certificate authority is in the system's store and nowhere else."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from tests.apps.front import SCRIPT, surroundings
from tests.envelope.test_lock_pip import make_wheel
from tests.kit import Made

# What a machine's own store is, for this command only.
IN_STORE = 'mount --bind "$1" /etc/ssl/certs && shift && exec "$@"'


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, and no log."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def authority() -> trustme.CA:
    """Return a certificate authority that nobody knows."""
    return trustme.CA()


@pytest.fixture
def index(tmp_path: Path, authority: trustme.CA) -> Iterator[str]:
    """Give a package index with one package, over TLS with a certificate of the authority."""
    place = tmp_path / "index" / "simple" / "lonely"
    place.mkdir(parents=True)
    digest = make_wheel(place, "lonely", "1.0")
    wheel = "lonely-1.0-py3-none-any.whl"
    (place / "index.html").write_text(f'<a href="{wheel}#sha256={digest}">{wheel}</a>')
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "index"))
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}/simple/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def store(tmp_path: Path, authority: trustme.CA) -> Path:
    """Return a folder as /etc/ssl/certs: one bundle, and a link by the certificate's hash."""
    folder = tmp_path / "certs"
    folder.mkdir()
    bundle = folder / "ca-certificates.crt"
    authority.cert_pem.write_to_path(str(bundle))
    command = ["openssl", "x509", "-noout", "-hash", "-in", bundle]
    named = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    (folder / f"{named}.0").symlink_to(bundle.name)
    return folder


def test_uv_and_the_index_check_trust_whom_the_system_trusts(
    tmp_path: Path, index: str, store: Path
) -> None:
    made = Made.new(tmp_path / "made", [], {"requirements.in": "lonely\n"}, bNoPythonPackages=False)
    env = {
        name: value
        for name, value in surroundings(
            UV_DEFAULT_INDEX=index, UV_CACHE_DIR=str(tmp_path / "cache"), UV_HTTP_RETRIES="0"
        ).items()
        if "CERT" not in name and "CA_BUNDLE" not in name and "PIP" not in name
    }

    def ask(*words: str, trusted: bool) -> str:
        place = store if trusted else Path("/etc/ssl/certs")
        command = ["unshare", "-m", "sh", "-c", IN_STORE, "sh", place, SCRIPT, *words]
        done = subprocess.run(
            command, cwd=made.root, env=env, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    make = ("envelope", "--only", "lock")
    confirm = ("reproduce", "--skip-tier", "1", "--skip-tier", "3")
    tier = "[2/4] Reproducing Python env (requirements.lock) ... "
    assert "invalid peer certificate: UnknownIssuer" in ask(*make, trusted=False)
    assert "requirements.lock:" in ask(*make, trusted=True)
    assert "lonely==1.0" in made.read("requirements.lock")
    refused = f"{tier}structure only: 127.0.0.1 cannot be reached (SSLError)\n"
    assert refused in ask(*confirm, trusted=False)
    offered = f"{tier}hashes offered by the index (nothing downloaded)\n"
    assert offered in ask(*confirm, trusted=True)
