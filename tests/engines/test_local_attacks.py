"""Ways to write what no step may write, each tried from inside the bubblewrap tier."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vaibify_lab.engines.local.bubblewrap import seen_at
from vaibify_lab.engines.local.engine import LocalEngine

from .conftest import Lab

EVIL = "echo evil > "
LIBC = "import ctypes, os, sys; c = ctypes.CDLL(None, use_errno=True); "
SEEN = seen_at("project")
FAIL = "sys.exit(os.strerror(ctypes.get_errno()) if r else 0)"
ATTACKS = {
    "write a hook": f"{EVIL}.git/hooks/post-checkout",
    "write a marker": f"{EVIL}.vaibify/marker.json",
    "append to git's settings": "echo evil >> .git/config",
    "truncate": "truncate -s 0 .git/config",
    "rename .git": "mv .git elsewhere",
    "rename .vaibify": "mv .vaibify elsewhere",
    "remove .git": "rm -rf .git",
    "remove a folder below": "rmdir .git/hooks",
    "put a folder over .vaibify": "mkdir x; mv -T x .vaibify",
    "put a file over .git": "touch x; mv -T x .git",
    "exchange two names": f"mkdir x; python -c '{LIBC}"
    f'r = c.renameat2(-100, b"x", -100, b".vaibify", 2); {FAIL}\'',
    "rename the project": "mv /workspace/project /workspace/other",
    "rename the workspace": "mv /workspace /other",
    "hard link to settings": "ln .git/config linked && echo evil > linked",
    "hard link to a marker": "ln .vaibify/marker.json linked && echo evil > linked",
    "symbolic link and through it": f"ln -s .vaibify/marker.json linked; {EVIL}linked",
    "change a mode": "chmod 777 .vaibify/marker.json",
    "change an owner": "chown 12345 .git/config",
    "change times": "touch .vaibify/marker.json",
    "set an attribute": "setfattr -n user.evil -v 1 .git/config || exit 1",
    "remount writable": "mount -o remount,rw,bind /workspace/project/.git",
    "unmount": "umount /workspace/project/.git || umount -l /workspace/project/.git",
    "bind without what lies over it": "mkdir -p /tmp/z; mount --bind /workspace/project /tmp/z"
    " && echo evil > /tmp/z/.git/hooks/x",
    "a user namespace, unmount": "unshare -Urm sh -c 'umount /workspace/project/.git"
    " && echo evil > .git/hooks/x'",
    "a user namespace, bind": "unshare -Urm sh -c 'mkdir -p /tmp/z"
    " && mount --bind /workspace/project /tmp/z && echo evil > /tmp/z/.git/hooks/x'",
    "through init's root": f"{EVIL}/proc/1/root{SEEN}/.git/hooks/x",
    "through init's working folder": f"{EVIL}/proc/1/cwd/.git/hooks/x",
    "through the host's path": f'{EVIL}"$HOST_TREE"/.git/hooks/x',
    "make a block device": "mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk",
    "open by handle": f'python -c \'{LIBC}import struct; f = os.open("/workspace", 0);'
    'b = ctypes.create_string_buffer(struct.pack("IiII", 8, 1, 2, 0) + bytes(64));'
    f"r = c.open_by_handle_at(f, b, 0) < 0; {FAIL}'",
    "load a module": "mkdir -p /tmp/m; insmod /tmp/m/x.ko || modprobe x || exit 1",
    "write a kernel setting": "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern",
    "write another": "cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness",
    "open the kernel's trigger": "exec 3> /proc/sysrq-trigger",
    "write the system": f"{EVIL}/usr/bin/evil",
    "write the settings": f"{EVIL}/etc/passwd",
}


def snapshot(tree: Path) -> dict[str, object]:
    """Return what an attack must not change: names, bytes, modes, owners, times."""
    seen: dict[str, object] = {}
    for top in (".git", ".vaibify"):
        for folder, names, files in os.walk(tree / top):
            for name in [*names, *files, "."]:
                path = Path(folder, name)
                status = path.lstat()
                content = path.read_bytes() if path.is_file() else b""
                seen[str(path)] = (content, status.st_mode, status.st_uid, status.st_mtime_ns)
    return seen


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("writable", ["", "out"])
def test_denied(walled: Lab, attack: str, writable: str) -> None:
    before = snapshot(walled.tree)
    ran = walled.run(
        ATTACKS[attack], writable=(writable,), environment={"HOST_TREE": str(walled.tree)}
    )
    assert ran.ended.lost is False
    assert ran.ended.returncode != 0
    assert snapshot(walled.tree) == before
    assert walled.tree.is_dir()


@pytest.mark.parametrize(
    "attack",
    [
        "write a hook",
        "write a marker",
        "truncate",
        "rename .git",
        "remove .git",
        "exchange two names",
        "hard link to settings",
        "symbolic link and through it",
        "through the host's path",
        "make a block device",
        "a user namespace, bind",
        "write a kernel setting",
        "open the kernel's trigger",
        "write the system",
        "remount writable",
    ],
)
def test_denied_by_landlock(tmp_path: Path, attack: str) -> None:
    lab = Lab(LocalEngine("landlock"), tmp_path)
    before = snapshot(lab.tree)
    script = ATTACKS[attack].replace("/workspace/project", str(lab.tree))
    ran = lab.run(
        f"cp -al .git .vaibify out/ 2>/dev/null; {script}",
        environment={"HOST_TREE": str(lab.tree)},
    )
    assert ran.ended.lost is False
    assert ran.ended.returncode != 0
    assert snapshot(lab.tree) == before


def test_under_landlock_root_makes_no_device_and_keeps_no_power(tmp_path: Path) -> None:
    lab = Lab(LocalEngine("landlock"), tmp_path)
    ran = lab.run("mknod out/disk b 254 0; mknod out/null c 1 3; grep CapEff /proc/self/status")
    assert os.listdir(lab.tree / "out") == []
    held = int(ran.out.split()[1], 16)
    assert held & ~0b11011 == 0


def test_the_snapshot_sees_what_the_attacks_want(bare: Lab) -> None:
    """The same attacks succeed where nothing holds them, so the test above can fail."""
    for attack in ("write a hook", "change a mode", "change times", "exchange two names"):
        before = snapshot(bare.tree)
        assert bare.run(ATTACKS[attack]).ended.returncode == 0
        assert snapshot(bare.tree) != before
