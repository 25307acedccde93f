"""What this machine says of itself, beside what the system's own tools say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from vaibify_lab.engines import machine


def said(*command: str) -> str:
    """Return what a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_hardware_and_kernel_are_what_the_tools_say() -> None:
    found = machine.machine()
    assert found["kernel"] == said("uname", "-srv")
    assert found["architecture"] == said("uname", "-m")
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*: (.*)", text, re.MULTILINE)
    assert flags is not None
    if model is not None:
        assert found["cpu"] == model[1].strip()
    assert set(found["cpu_features"].split()) <= set(flags[1].split())
    assert {"sse2", "asimd"} & set(found["cpu_features"].split())


def test_the_system_below_python_is_what_the_tools_say() -> None:
    found = machine.system(preloads=False)
    assert found["libc"] == said("getconf", "GNU_LIBC_VERSION")
    assert found["ld_preload"] == "none"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('{"cuda" : {"name" : "CUDA SDK", "version" : "12.2.2"}, "nvcc": {}}', "12.2.2"),
        ("CUDA Version 10.1.243\n", "10.1.243"),
        ("", "none"),
        ("anything", "none"),
    ],
)
def test_cuda_is_read_from_its_own_file(text: str, version: str) -> None:
    assert machine.cuda(text) == version


def test_preloaded_libraries_are_on_one_line() -> None:
    assert machine.preload("/a/b.so\n\n /c.so \n") == "/a/b.so /c.so"
    assert machine.preload(" \n") == "none"


def test_a_bash_that_complains_of_the_locale_has_none(tmp_path: Path) -> None:
    assert machine.has_utf8("/bin/bash")
    other = tmp_path / "bash"
    other.write_text('#!/bin/sh\n[ "$LC_ALL" = C.UTF-8 ] && echo cannot change locale >&2\n')
    other.chmod(0o755)
    assert not machine.has_utf8(str(other))
