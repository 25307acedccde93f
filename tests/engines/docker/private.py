"""A container engine that a test may kill, in mount, network and process namespaces of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import docker

from ..conftest import wait_for

# The shell is init there: when it goes, so does all that the engine has started.
MANAGER = r"""
base=$1 hidden=$2 product=$3; shift 3
docker() {
  rm -f "$base/pid" "$base/exec/containerd/containerd.pid"
  exec dockerd --host "unix://$base/s" --data-root "$base/data" --exec-root "$base/exec" \
    --pidfile "$base/pid" --bridge none --iptables=false "$@"
}
podman() {
  printf '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n' \
    >"$base/conf"
  CONTAINERS_CONF=$base/conf exec "${as[@]}" podman --root "$base/data" --runroot "$base/exec" \
    --storage-driver vfs "$@" system service -t 0 "unix://$base/s"
}
rootless() {  # Podman as nobody, who is root inside
  as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  export HOME=$base/home XDG_RUNTIME_DIR=$base/home
  mkdir -m 700 "$HOME"
  chown 65534:65534 "$base" "$HOME"
  podman "$@"
}
as=()
mount -t tmpfs none /run || exit 1
[ -z "$hidden" ] || mount -t tmpfs none "$hidden" || exit 1
while read -r word; do
  if [ "$word" = start ]; then
    $product "$@" >>"$base/log" 2>&1 </dev/null &
    number=$!
  else
    kill -KILL $number
    wait $number 2>/dev/null
  fi
  echo "$word done"
done
"""


class PrivateEngine:
    """An engine with one small image.

    Parameters
    ----------
    data : bytes
        A tar of the image's files.
    options : str
        More words for it.
    hidden : Path, optional
        A folder of this machine that the engine does not see.
    product : {"docker", "podman", "rootless"}
        The last is Podman as a plain user, nobody.
    """

    def __init__(
        self, data: bytes, *options: str, hidden: Path | None = None, product: str = "docker"
    ) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="vd-", dir="/tmp"))  # a socket's path is short
        self.url = f"unix://{self.base}/s"
        place = [str(self.base), str(hidden or ""), product]
        apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc"]
        self._manager = subprocess.Popen(
            [*apart, "bash", "-c", MANAGER, "manager", *place, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.base,  # conmon leaves a file where it runs
            start_new_session=True,
        )
        self.start()
        client = docker.DockerClient(base_url=self.url)
        said = client.api.import_image_from_data(data)
        self.image = said.split('"status":"')[1].split('"')[0]
        client.close()

    def start(self) -> None:
        """Start it, or start it anew."""
        self._tell("start")
        wait_for(self.answers, 60)

    def kill(self) -> None:
        """Kill it; what it started goes on."""
        self._tell("kill")

    def close(self) -> None:
        """End it and all that it started."""
        assert self._manager.stdin is not None
        self._manager.stdin.close()
        self._manager.wait(30)
        shutil.rmtree(self.base, ignore_errors=True)

    def _tell(self, word: str) -> None:
        assert self._manager.stdin is not None
        assert self._manager.stdout is not None
        self._manager.stdin.write(f"{word}\n".encode())
        self._manager.stdin.flush()
        assert self._manager.stdout.readline() == f"{word} done\n".encode()

    def answers(self) -> bool:
        """Tell whether it answers."""
        try:
            client = docker.DockerClient(base_url=self.url, timeout=5)
            return bool(client.ping())
        except (docker.errors.DockerException, OSError):
            return False
