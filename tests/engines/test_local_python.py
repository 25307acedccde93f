"""The Python of a step: made from the lock, once, whole, and without running what it installs."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from vaibify_lab.core.errors import CannotCheck, ToolFailed, ToolMissing
from vaibify_lab.engines.local import uvtool, venvs
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.engines.local.packages import installed
from vaibify_lab.engines.local.python import asked_for, environment_for, visible
from vaibify_lab.files import uvprogram

from .conftest import TIERS, Lab

VERSION = "1.1.1"  # of iniconfig; pytest's own environment holds a later one
SHOW = "python -c 'import importlib.metadata as m; print(m.version(\"iniconfig\"))'"


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("lock")
    (folder / "requirements.in").write_text(f"iniconfig=={VERSION}\n")
    command = [uvtool.program(), "pip", "compile", "--quiet", "--generate-hashes"]
    env = uvprogram.surroundings()
    subprocess.run([*command, "requirements.in", "-o", "lock"], cwd=folder, env=env, check=True)
    return (folder / "lock").read_bytes()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a cache folder for the tests that only use an environment."""
    yield tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("tier", TIERS)
def test_a_step_sees_the_package_that_only_the_lock_has(
    lock: bytes, kept: Path, tmp_path: Path, tier: str
) -> None:
    python = environment_for(lock, cache=kept)
    lab = Lab(LocalEngine(tier, python), tmp_path)  # type: ignore[arg-type]
    ran = lab.run(f"{SHOW}; python -c 'import filelock'")
    assert ran.out.decode() == f"{VERSION}\n"
    assert b"No module named 'filelock'" in ran.err
    described = lab.engine.describe()["python"]
    digest = hashlib.sha256(lock).hexdigest()
    assert described == {"version": platform.python_version(), "source": "lock", "lock": digest}
    assert Lab(LocalEngine(tier), tmp_path / "own").run(SHOW).out.decode() != f"{VERSION}\n"  # type: ignore[arg-type]


def test_what_is_installed_has_byte_code_already(lock: bytes, kept: Path) -> None:
    python = environment_for(lock, cache=kept)
    assert list(python.prefix.glob("lib/python*/site-packages/iniconfig/__pycache__/*.pyc"))


def test_without_a_lock_it_is_the_starter_s() -> None:
    python = environment_for(None)
    assert (python.source, python.lock_hash) == ("starter", None)
    assert (python.prefix, python.python) == (Path(sys.prefix), Path(sys.executable))
    assert python.version == platform.python_version()


def test_a_wrong_hash_names_the_package(lock: bytes, tmp_path: Path) -> None:
    wrong = re.sub(rb"sha256:[0-9a-f]{64}", b"sha256:" + b"0" * 64, lock)
    with pytest.raises(ToolFailed, match=r"^requirements\.lock: iniconfig: .*[Hh]ash") as caught:
        environment_for(wrong, cache=tmp_path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ToolFailed, match="iniconfig"):  # half an environment is none
        environment_for(wrong, cache=tmp_path)


def test_a_package_without_a_hash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match=r"requirements\.lock: iniconfig: .*hash"):
        environment_for(b"iniconfig==2.0.0\n", cache=tmp_path)


def test_a_lock_without_packages_is_an_empty_environment(tmp_path: Path) -> None:
    python = environment_for(b"# nothing\n", cache=tmp_path)
    done = subprocess.run(
        [python.python, "-c", "import iniconfig"], capture_output=True, text=True, check=False
    )
    assert "No module named 'iniconfig'" in done.stderr


def making(lock: bytes, cache: Path) -> list[str]:
    said: list[str] = []
    environment_for(lock, cache=cache, progress=said.append)
    return [line for line in said if "Python environment" in line]


def test_it_is_made_once(lock: bytes, tmp_path: Path) -> None:
    assert making(lock, tmp_path) == ["making the Python environment of requirements.lock"]
    assert making(lock, tmp_path) == []


def test_two_at_once_make_it_once(lock: bytes, tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(lock)
    code = (
        "import sys; from pathlib import Path\n"
        "from vaibify_lab.engines.local.python import environment_for\n"
        "folder = Path(sys.argv[1])\n"
        "env = environment_for((folder / 'lock').read_bytes(), cache=folder / 'cache',"
        " progress=print)\n"
        "print('at', env.prefix)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate()[0].splitlines() for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert said[0][-1] == said[1][-1]
    flat = [line for lines in said for line in lines]
    assert flat.count("making the Python environment of requirements.lock") == 1


def add(prefix: Path) -> None:
    (packages(prefix) / "sneaked.py").write_text("x = 1\n")


def alter(prefix: Path) -> None:
    target = packages(prefix) / "iniconfig/__init__.py"
    text = target.read_text()
    target.unlink()  # it may be one file with uv's cache
    target.write_text(text + "\n")


def lose(prefix: Path) -> None:
    shutil.rmtree(packages(prefix) / "iniconfig")


def unfinish(prefix: Path) -> None:
    (prefix / venvs.MARKER).unlink()


def orphan(prefix: Path) -> None:
    (prefix / "bin/python").unlink()
    (prefix / "bin/python").symlink_to("/nonexistent/python")


def packages(prefix: Path) -> Path:
    return next(prefix.glob("lib/python*/site-packages"))


@pytest.mark.parametrize("harm", [add, alter, lose, unfinish, orphan])
def test_a_broken_one_is_made_anew(lock: bytes, tmp_path: Path, harm: object) -> None:
    prefix = environment_for(lock, cache=tmp_path).prefix
    harm(prefix)  # type: ignore[operator]
    assert len(making(lock, tmp_path)) == 1
    assert venvs.whole(prefix)
    assert not (packages(prefix) / "sneaked.py").exists()
    done = subprocess.run(
        [prefix / "bin/python", "-c", "import iniconfig; print(iniconfig.IniConfig.__name__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "IniConfig\n"


def test_use_does_not_break_it(lock: bytes, tmp_path: Path) -> None:
    prefix = environment_for(lock, cache=tmp_path).prefix
    shutil.rmtree(packages(prefix) / "iniconfig/__pycache__")
    subprocess.run([prefix / "bin/python", "-c", "import iniconfig"], check=True)
    assert making(lock, tmp_path) == []


def wheel(folder: Path, files: dict[str, str]) -> bytes:
    """Make a wheel by hand and return the lock that names it."""
    info = "evil-1.0.dist-info"
    everything = files | {
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, text in everything.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{name},sha256={digest.decode()},{len(text)}\n"
    place = folder / "evil-1.0-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as archive:
        for name, text in everything.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return named(place)


def named(place: Path) -> bytes:
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    return f"evil @ {place.as_uri()} --hash=sha256:{digest}\n".encode()


def test_nothing_that_is_installed_runs_on_the_host(tmp_path: Path) -> None:
    """A ``.pth`` file runs whenever that Python starts; ours must not start it."""
    trace = tmp_path / "ran"
    line = f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n"
    evil = wheel(tmp_path, {"evil.pth": line, "evil.py": "x = 1\n"})
    python = environment_for(evil, cache=tmp_path / "cache")
    assert environment_for(evil, cache=tmp_path / "cache") == python
    assert (packages(python.prefix) / "evil.pth").exists()
    assert not trace.exists()
    lab = Lab(LocalEngine("bwrap", python), tmp_path / "lab")
    lab.run("python -c 'import evil'")
    assert not trace.exists()
    subprocess.run([python.python, "-c", "pass"], check=True)
    assert trace.exists()  # so the test can fail


def test_source_packages_are_not_built_on_the_host(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    setup = f"open({str(trace)!r}, 'w'); from setuptools import setup; setup(name='evil')"
    place = tmp_path / "evil-1.0.tar.gz"
    with tarfile.open(place, "w:gz") as archive:
        for name, text in (("setup.py", setup), ("PKG-INFO", "Name: evil\nVersion: 1.0\n")):
            entry = tarfile.TarInfo(f"evil-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    with pytest.raises(ToolFailed, match=r"requirements\.lock: evil: .*build"):
        environment_for(named(place), cache=tmp_path / "cache")
    assert not trace.exists()


@pytest.mark.parametrize(
    ("head", "version"),
    [
        ("# vaibify: python 3.12 linux-x86_64\n# more", "3.12"),
        ("# made by\n#    uv pip compile --python-version 3.13.1 x.in", "3.13.1"),
        ("#    uv pip compile --python-version=3.10 x.in", "3.10"),
        ("# uv pip compile x.in", None),
        ("six==1\n# vaibify: python 3.12 x", None),
        ("\n\n# vaibify: python 3.9 x", "3.9"),
    ],
)
def test_the_version_that_a_lock_asks_for(head: str, version: str | None) -> None:
    assert asked_for(f"{head}\nsix==1.17.0 --hash=sha256:00\n".encode()) == version


def test_the_version_asked_for_is_used_or_named(lock: bytes, tmp_path: Path) -> None:
    own = ".".join(platform.python_version_tuple()[:2])
    for header in (own, platform.python_version()):
        told = f"# vaibify: python {header} linux\n".encode() + lock
        assert environment_for(told, cache=tmp_path).version == platform.python_version()
    later = b"# vaibify: python 3.99 linux\n" + lock
    with pytest.raises(ToolFailed, match=r"asks for Python 3\.99, which is not installed here"):
        environment_for(later, cache=tmp_path)
    with pytest.raises(ToolFailed, match=r"Python 3\.98"):
        environment_for(lock, cache=tmp_path, python="3.98")


def test_without_uv_the_error_says_what_to_do(
    lock: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolMissing, match="python -m pip install uv"):
        environment_for(lock, cache=tmp_path)


def test_a_cache_that_cannot_be_written_is_said(lock: bytes, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CannotCheck, match="cannot be made: "):
        environment_for(lock, cache=tmp_path / "cache")


def test_the_user_s_cache_folder_is_the_place(
    lock: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    prefix = environment_for(lock).prefix
    assert prefix.parent == tmp_path / "vaibify_lab/venvs"
    assert prefix.name.startswith(hashlib.sha256(lock).hexdigest())


def test_links_that_lead_to_an_interpreter_are_kept(tmp_path: Path) -> None:
    """As uv's own Pythons have them: a folder link beside the real one, a link in ~/bin."""
    real = tmp_path / "cpython-3.12.9"
    (real / "bin").mkdir(parents=True)
    (real / "bin/python3.12").touch()
    (tmp_path / "cpython-3.12").symlink_to(real.name)
    (tmp_path / "home/bin").mkdir(parents=True)
    shortcut = tmp_path / "home/bin/python"
    shortcut.symlink_to(tmp_path / "cpython-3.12/bin/python3.12")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(shortcut)
    base = tmp_path / "cpython-3.12"
    folders, links = visible(venv, base, venv / "bin/python")
    assert folders == (venv, base, real)
    assert links == ((str(shortcut), os.readlink(shortcut)),)


def test_packages_are_those_that_python_finds() -> None:
    found = installed(environment_for(None))
    known = {(canonicalize_name(one.name), one.version) for one in distributions()}
    assert {one.split("==")[0] for one in found if "==" in one} <= {name for name, _ in known}
    listed = {tuple(one.split("==")) for one in found if "==" in one}
    direct = {one.split(" @ ")[0] for one in found if " @ " in one}
    assert {one for one in known if one[0] not in direct} == listed
    assert "vaibify-lab" in direct, "an editable install says where from"
