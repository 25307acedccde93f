"""The lock made by real uv from the real index, of packages of a few kilobytes."""

import re
import subprocess
import sys
import tarfile
from contextlib import suppress

import pytest
import uv

from vaibify_lab.core.errors import InvalidFile, MissingFile, QuestionError, ToolFailed, UsageError
from vaibify_lab.envelope.lock import parse_lock, source_digest
from vaibify_lab.envelope.lock_compile import compile_lock, find_uv, this_platform

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_a_lock_says_for_what_and_from_what_it_was_made(tmp_path):
    source = b"# ours\niniconfig<2.2\n"
    (tmp_path / "requirements.in").write_bytes(source)
    said = []

    lock = compile_lock(tmp_path, "requirements.in", progress=said.append)

    assert lock == compile_lock(tmp_path, "requirements.in")
    pattern = (
        rf"# vaibify: python {HERE} {this_platform()}\n"
        rf"# source-sha256: {source_digest(source)}\n"
        r"# made from requirements.in by: jupyter vaibify envelope --only lock\n"
        r"iniconfig==2\.1\.0 \\\n    --hash=sha256:[0-9a-f]{64} \\\n"
        r"    --hash=sha256:[0-9a-f]{64}\n"
    )
    assert re.fullmatch(pattern, lock.decode())
    assert any("Resolved 1 package" in one for one in said)
    read = parse_lock(lock)
    assert (read.python, read.platform, read.problems) == (HERE, this_platform(), ())
    assert read.matches_source(source) is True
    assert [(one.name, one.version, len(one.hashes)) for one in read.packages] == [
        ("iniconfig", "2.1.0", 2)
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.in"]


def test_l04_lock_made_on_one_platform(tmp_path):
    (tmp_path / "requirements.in").write_text("iniconfig<2.2\ncolorama ; sys_platform == 'win32'\n")

    lock = parse_lock(compile_lock(tmp_path, "requirements.in", "3.12"))

    # Measured: uv leaves out what no marker of this platform asks for; the header tells.
    assert [one.name for one in lock.packages] == ["iniconfig"]
    assert (lock.python, lock.platform) == ("3.12", this_platform())


def test_l04_without_uv_making_is_a_question_that_was_wrong(tmp_path, monkeypatch):
    (tmp_path / "requirements.in").write_text("iniconfig\n")

    def gone():
        raise FileNotFoundError("uv")

    monkeypatch.setattr(uv, "find_uv_bin", gone)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(QuestionError) as caught:
        compile_lock(tmp_path, "requirements.in")

    assert caught.value.exit_code == 2
    assert str(caught.value) == (
        "uv is not installed, and only uv makes requirements.lock; python -m pip install uv"
    )


def test_l04_without_uv_reading_is_unaffected():
    code = (
        "import sys; sys.modules['uv'] = None\n"
        "from vaibify_lab.envelope.lock import parse_lock\n"
        f"print(parse_lock(b'a==1 --hash=sha256:{'a' * 64}').problems)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "()\n"


def test_uv_on_path_is_found_when_the_package_has_none(tmp_path, monkeypatch):
    program = tmp_path / "uv"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_uv() == str(program)


def test_earlier_versions_are_kept_and_earlier_hashes_are_not(tmp_path):
    (tmp_path / "requirements.in").write_text("iniconfig<2.2\nsix\n")
    earlier = f"iniconfig==2.0.0 --hash=sha256:{'0' * 64}\n".encode()

    lock = parse_lock(compile_lock(tmp_path, "requirements.in", keep=earlier))

    versions = {one.name: one.version for one in lock.packages}
    assert versions["iniconfig"] == "2.0.0"
    assert sorted(versions) == ["iniconfig", "six"]
    assert all("0" * 64 not in one.hashes and one.hashes for one in lock.packages)


def test_from_pyproject(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["iniconfig==2.0.0"]\n'
    )

    lock = parse_lock(compile_lock(tmp_path, "pyproject.toml"))

    assert [(one.name, one.version) for one in lock.packages] == [("iniconfig", "2.0.0")]


def test_nothing_asked_for_is_a_lock_without_packages(tmp_path):
    (tmp_path / "requirements.in").write_text("")

    lock = compile_lock(tmp_path, "requirements.in")

    assert parse_lock(lock, declared_none=True).problems == ()
    assert [problem.code for problem in parse_lock(lock).problems] == ["no-packages"]


def test_l03_a_source_that_names_a_folder_of_this_machine(tmp_path):
    package = tmp_path / "thing"
    package.mkdir()
    (package / "pyproject.toml").write_text(
        '[project]\nname = "thing"\nversion = "1"\ndependencies = []\n'
    )
    (tmp_path / "requirements.in").write_text("thing @ file://" + str(package) + "\n")

    with pytest.raises(InvalidFile) as caught:
        compile_lock(tmp_path, "requirements.in")

    assert caught.value.where == "requirements.in"
    assert "asks for what a lock cannot hold" in caught.value.text
    assert "not installable elsewhere" in caught.value.text


def test_what_cannot_be_resolved_is_said_in_one_line(tmp_path):
    (tmp_path / "requirements.in").write_text("iniconfig==2.0.0\niniconfig==2.1.0\n")

    with pytest.raises(ToolFailed) as caught:
        compile_lock(tmp_path, "requirements.in")

    assert caught.value.exit_code == 1
    assert str(caught.value).startswith("requirements.in: uv could not make the lock:")
    assert "iniconfig==2.0.0" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_route_to_the_index(tmp_path, monkeypatch):
    (tmp_path / "requirements.in").write_text("iniconfig\n")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")

    with pytest.raises(ToolFailed) as caught:
        compile_lock(tmp_path, "requirements.in")

    assert "uv could not make the lock" in caught.value.text


def test_questions_that_are_wrong(tmp_path):
    with pytest.raises(UsageError):
        compile_lock(tmp_path, "setup.py")
    with pytest.raises(MissingFile) as caught:
        compile_lock(tmp_path, "requirements.in")
    assert caught.value.where == "requirements.in"


SETUP = (
    "open({ran!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='evil', version='1')\n"
)
BACKEND = "open({ran!r}, 'w').close()\n"
DYNAMIC = """
[project]
name = "x"
dynamic = ["version", "dependencies"]
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


@pytest.mark.parametrize("way", ["a folder", "an archive", "pyproject.toml"])
def test_no_code_of_a_package_or_of_the_repository_runs_on_the_host(tmp_path, way):
    """Whoever wrote the source may be a stranger; what a build needs is asked of the build."""
    ran, root = tmp_path / "ran", tmp_path / "clone"
    (root / "pk").mkdir(parents=True)
    (root / "pk/setup.py").write_text(SETUP.format(ran=str(ran)))
    with tarfile.open(tmp_path / "evil-1.tar.gz", "w:gz") as tar:
        tar.add(root / "pk", "evil-1")
    source = "requirements.in"
    if way == "pyproject.toml":
        source = way
        (root / "backend.py").write_text(BACKEND.format(ran=str(ran)))
        (root / source).write_text(DYNAMIC)
    else:
        place = root / "pk" if way == "a folder" else tmp_path / "evil-1.tar.gz"
        (root / source).write_text(f"evil @ {place.as_uri()}\n")

    with pytest.raises(ToolFailed) as caught:
        compile_lock(root, source)

    assert caught.value.where == source
    assert caught.value.action == (
        "name one that has a wheel, or run its build code here: "
        "jupyter vaibify envelope --only lock --allow-build"
    )
    assert not ran.exists()
    with suppress(ToolFailed, InvalidFile):  # what it makes is nothing to lock
        compile_lock(root, source, allow_build=True)
    assert ran.exists(), "somebody who asks for it gets it"


def test_settings_for_uv_in_the_repository_are_not_looked_at(tmp_path):
    root = tmp_path / "clone"
    root.mkdir()
    (root / "requirements.in").write_text("iniconfig==2.0.0\n")
    (root / "uv.toml").write_text(f'cache-dir = "{tmp_path}/anywhere"\n')

    lock = parse_lock(compile_lock(root, "requirements.in"))

    assert [one.version for one in lock.packages] == ["2.0.0"]
    assert not (tmp_path / "anywhere").exists()


def test_a_source_may_include_another_beside_it(tmp_path):
    (tmp_path / "requirements.in").write_text("-r more.txt\n")
    (tmp_path / "more.txt").write_text("iniconfig==2.0.0\n")

    lock = parse_lock(compile_lock(tmp_path, "requirements.in"))

    assert [one.name for one in lock.packages] == ["iniconfig"]
