"""Writes an image made of this machine's own Debian packages, as ``docker load`` reads it.

``host_image.py ARCHIVE NAME`` writes; ``host_image.py --key`` prints a name for what that makes.
Same packages, same image id, whatever the day and whatever the machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
from pathlib import Path

WANTED = [
    "base-files",
    "bash",
    "coreutils",
    "dash",
    "debianutils",
    "findutils",
    "git",
    "grep",
    "gzip",
    "hostname",
    "libc-bin",
    "mawk",
    "mount",
    "openssl",
    "procps",
    "python3",
    "sed",
    "tar",
    "util-linux",
]
UNWANTED = re.compile(
    r"perl|liberror-perl|git-man|debconf|dpkg|install-info|media-types|tzdata|lsb-base"
    r"|mailcap|mime-support|init-system-helpers|sysvinit-utils|sensible-utils"
)
DROPPED = re.compile(
    r"/usr/share/(?:doc|man|locale|info|lintian|bug|i18n|perl5|gitweb|common-licenses)/"
    r"|/gconv/|/(?:var|boot|run)/|/__pycache__/|/idle_test/"
)
INFO = Path("/var/lib/dpkg/info")
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
TRUST = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
FOLDERS = {"tmp": 0o1777, "var/tmp": 0o1777, "root": 0o700} | dict.fromkeys(
    ("proc", "sys", "dev", "run", "home", "workspace", "usr/local/bin"), 0o755
)
TIME = 1_672_531_200
CREATED = "2023-01-01T00:00:00Z"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def packages() -> dict[str, str]:
    """Return the wanted packages and all that they depend on, with their versions."""
    form = r"${Package}\t${Version}\t${Pre-Depends}, ${Depends}\t${Provides}\t${db:Status-Status}\n"
    listing = subprocess.run(
        ["dpkg-query", "-W", "-f", form], check=True, capture_output=True, text=True
    ).stdout
    needs, versions, providers = {}, {}, {}
    for line in listing.splitlines():
        name, version, depends, provides, status = line.split("\t")
        if status != "installed":
            continue
        versions[name], needs[name] = version, depends
        for virtual in re.findall(r"([a-z0-9.+-]+)(?: \([^)]*\))?", provides):
            providers.setdefault(virtual, name)
    found: dict[str, str] = {}
    waiting = list(WANTED)
    while waiting:
        name = waiting.pop()
        name = name if name in versions else providers.get(name, "")
        if not name or name in found or UNWANTED.match(name):
            continue
        found[name] = versions[name]
        for alternatives in needs[name].split(","):
            names = [one.split()[0].split(":")[0] for one in alternatives.split("|") if one.strip()]
            waiting += [one for one in names if one in versions or one in providers][:1]
    return found


def key(chosen: dict[str, str]) -> str:
    """Return a short name for the image that these packages make."""
    told = json.dumps([sorted(chosen.items()), Path(__file__).read_text()])
    digest = hashlib.sha256(told.encode() + Path(BUNDLE).read_bytes())
    return digest.hexdigest()[:16]


class Root:
    """The files of the image: each name with its mode and what makes it."""

    def __init__(self) -> None:
        self.members: dict[str, tuple[int, bytes, object]] = {}
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if os.path.islink(f"/{name}"):
                self.members[name] = (0o777, tarfile.SYMTYPE, os.readlink(f"/{name}"))

    def folder(self, name: str, mode: int = 0o755) -> None:
        """Put a folder, and those above it."""
        if name and name not in self.members:
            self.folder(os.path.dirname(name))
            self.members[name] = (mode, tarfile.DIRTYPE, None)

    def text(self, name: str, content: bytes) -> None:
        """Put a file of ours."""
        self.folder(os.path.dirname(name))
        self.members[name] = (0o644, tarfile.REGTYPE, content)

    def host(self, listed: str) -> None:
        """Put a file of this machine under its one true path; of a link also what it leads to."""
        path = os.path.join(os.path.realpath(os.path.dirname(listed)), os.path.basename(listed))
        name = path.lstrip("/")
        if name in self.members:
            return
        if os.path.islink(path):
            self.folder(os.path.dirname(name))
            self.members[name] = (0o777, tarfile.SYMTYPE, os.readlink(path))
            target = os.path.realpath(path)
            if os.path.isfile(target):
                self.host(target)
        elif os.path.isdir(path):
            self.folder(name)
        elif os.path.isfile(path):
            self.folder(os.path.dirname(name))
            self.members[name] = (os.stat(path).st_mode & 0o755, tarfile.REGTYPE, Path(path))

    def write(self, place: Path) -> str:
        """Write the layer; return its digest."""
        with tarfile.open(place, "w", format=tarfile.GNU_FORMAT) as layer:
            for name, (mode, kind, content) in sorted(self.members.items()):
                entry = tarfile.TarInfo(name)
                entry.mode, entry.mtime, entry.type = mode, TIME, kind
                data = b""
                if kind == tarfile.SYMTYPE:
                    entry.linkname = str(content)
                elif kind == tarfile.REGTYPE:
                    data = content if isinstance(content, bytes) else content.read_bytes()
                entry.size = len(data)
                layer.addfile(entry, io.BytesIO(data))
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def root_of(chosen: dict[str, str]) -> Root:
    """Return the files of these packages and what a root needs besides."""
    root = Root()
    for name in sorted(chosen):
        for listing in sorted({*INFO.glob(f"{name}.list"), *INFO.glob(f"{name}:*.list")}):
            for path in listing.read_text().splitlines():
                if not DROPPED.search(f"{path}/") and path not in ("", "/."):
                    root.host(path)
    for folder, mode in FOLDERS.items():
        root.folder(os.path.dirname(folder))
        root.members[folder] = (mode, tarfile.DIRTYPE, None)
    for name, text in TEXTS.items():
        root.text(name, text.encode())
    root.text(BUNDLE.lstrip("/"), Path(BUNDLE).read_bytes())
    root.members["usr/bin/awk"] = (0o777, tarfile.SYMTYPE, "mawk")
    return root


def write(archive: Path, name: str) -> None:
    """Write the archive of an image with one layer."""
    layer = archive.with_suffix(".layer")
    digest = root_of(packages()).write(layer)
    config = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "created": CREATED,
        "config": {
            "Env": [f"PATH={PATH}", "LANG=C.UTF-8", *(f"{one}={BUNDLE}" for one in TRUST)],
            "Cmd": ["bash"],
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": CREATED, "created_by": "host_image.py"}],
    }
    data = json.dumps(config, sort_keys=True).encode()
    label = f"{hashlib.sha256(data).hexdigest()}.json"
    manifest = [{"Config": label, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(archive, "w") as image:
        for inner, content in ((label, data), ("manifest.json", json.dumps(manifest).encode())):
            entry = tarfile.TarInfo(inner)
            entry.size = len(content)
            image.addfile(entry, io.BytesIO(content))
        image.add(layer, "layer.tar")
    layer.unlink()


if __name__ == "__main__":
    if sys.argv[1] == "--key":
        sys.stdout.write(key(packages()) + "\n")
    else:
        write(Path(sys.argv[1]), sys.argv[2])
