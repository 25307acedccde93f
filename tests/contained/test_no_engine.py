"""D07, D08: engines that cannot be used, as the command line tells of them."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.apps.front import SCRIPT, Done, surroundings
from tests.contained.pinned import Image, pinned
from tests.engines.docker.private import PrivateEngine
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from vaibify_lab.engines.docker.client import connect
from vaibify_lab.engines.image.registry import local_image

Kind = Callable[[Path], AbstractContextManager["Trouble"]]
# Root that may not pass over permissions, as everybody else.
PLAIN = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@dataclass
class Trouble:
    """How an engine is not to be had, and what is said of it."""

    said: str
    environment: Mapping[str, str]
    before: tuple[str, ...] = ()


@contextmanager
def listening(place: Path) -> Iterator[socket.socket]:
    """Give a socket in the file system; its path is short."""
    here = os.getcwd()
    os.chdir(place.parent)
    try:
        with socket.socket(socket.AF_UNIX) as found:
            found.bind(place.name)
            found.listen()
            os.chdir(here)
            yield found
    finally:
        os.chdir(here)


@contextmanager
def absent(place: Path) -> Iterator[Trouble]:
    text = f"no container engine: {place}/s (named by DOCKER_HOST) is not there; unset DOCKER_HOST"
    yield Trouble(text, {"DOCKER_HOST": f"unix://{place}/s"})


@contextmanager
def forbidden(place: Path) -> Iterator[Trouble]:
    with listening(place / "s"):
        os.chown(place / "s", 65534, 65534)
        os.chmod(place / "s", 0o660)
        text = f"you may not use the container engine at {place}/s (named by DOCKER_HOST)"
        text += "; sudo usermod -aG "
        yield Trouble(text, {"DOCKER_HOST": f"unix://{place}/s"}, PLAIN)


@contextmanager
def odd(place: Path) -> Iterator[Trouble]:
    """Somebody else's socket."""

    def answer() -> None:
        while True:
            try:
                caller, _ = waiting.accept()
            except OSError:
                return
            with suppress(OSError), caller:  # who only knocks is gone before
                caller.sendall(b"220 mail ready\r\n")

    with listening(place / "s") as waiting:
        threading.Thread(target=answer, daemon=True).start()
        text = f"what answers at {place}/s (named by DOCKER_HOST) is no container engine: "
        yield Trouble(text, {"DOCKER_HOST": f"unix://{place}/s"})
        waiting.shutdown(socket.SHUT_RDWR)


@contextmanager
def desktop(place: Path) -> Iterator[Trouble]:
    """Docker Desktop is what the context names, and does not run."""
    name = "desktop-linux"
    folder = place / "contexts/meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    endpoints = {"docker": {"Host": f"unix://{place}/s", "SkipTLSVerify": False}}
    meta = {"Name": name, "Metadata": {}, "Endpoints": endpoints}
    (folder / "meta.json").write_text(json.dumps(meta))
    (place / "config.json").write_text(json.dumps({"currentContext": name}))
    text = f"no container engine: {place}/s (named by the docker context 'desktop-linux')"
    text += " is not there; start Docker Desktop (or what it belongs to)"
    yield Trouble(text, {"DOCKER_CONFIG": str(place)})


@contextmanager
def nowhere(place: Path) -> Iterator[Trouble]:
    text = "no container engine answers at tcp://127.0.0.1:9 (named by DOCKER_HOST)"
    text += ": Connection refused; unset DOCKER_HOST"
    yield Trouble(text, {"DOCKER_HOST": "tcp://127.0.0.1:9"})


def asked(made: Made, trouble: Trouble, *words: str) -> Done:
    """Run a verb in the trouble."""
    done = subprocess.run(
        [*trouble.before, str(SCRIPT), *words],
        cwd=made.root,
        env={
            name: value
            for name, value in surroundings(**trouble.environment).items()
            if name in trouble.environment or not name.startswith("DOCKER_")
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, image: Image) -> Made:
    """A project that ran in its image and was committed."""
    made = pinned(tmp_path_factory.mktemp("made") / "p", image, CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    made.commit("results")
    return made


@pytest.mark.parametrize("kind", [absent, forbidden, odd, desktop, nowhere])
def test_d08_each_verb_says_which_engine_was_asked_why_it_is_none_and_what_to_do(
    made: Made, tmp_path: Path, kind: Kind
) -> None:
    place = tmp_path / "d"
    place.mkdir()
    with kind(place) as trouble:
        for verb in ("run", "build", "start"):
            done = asked(made, trouble, verb, *(["--all"] if verb == "run" else []))
            assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), (verb, done)
            assert trouble.said in done.err, verb
        done = asked(made, trouble, "reproduce")
    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0].endswith(" OK")
    assert "[2/4] Reproducing Python env (requirements.lock) ... none declared" in lines
    (third,) = [one for one in lines if one.startswith("[3/4]")]
    kept = trouble.said.partition(";")[0]
    assert third.startswith(f"[3/4] Pulling pinned container image ... not checkable here: {kept}")
    assert git(made.root, "status", "--porcelain") == ""
    assert {one.run for one in made.steps().values()} == {"current"}


def test_d07_an_engine_elsewhere_is_refused_before_anything_is_moved(
    tmp_path: Path,
    image: Image,
    private: Callable[..., PrivateEngine],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = private(hidden=tmp_path)
    monkeypatch.setenv("DOCKER_HOST", engine.url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = Image(local_image(connect().api, engine.image), image.inside)
    made = pinned(tmp_path / "p", own, CHAIN, CHAIN_FILES | {"out/a.txt": "old\n"})
    done = asked(made, Trouble("", {"DOCKER_HOST": engine.url}), "run")
    assert done.code == 1
    assert "does not see this machine's files: it is on another machine" in done.err
    assert "use an engine on this machine, or steps without a container" in done.err
    assert made.read("out/a.txt") == "old\n"
    assert git(made.root, "status", "--porcelain") == ""
