"""What runs first in a deterministic step's Pythons: what it seeds, and that nothing else shows."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import KernelManager

from tests.magics.kernel import sockets
from vaibify_lab.core.fingerprint import FINGERPRINT_FORMAT
from vaibify_lab.runs.determinism import PREAMBLE

CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
NUMBER = re.compile(r"0\.[0-9]{6,}")


def run(folder: Path, *words: str, hook: bool = True, **more: str) -> dict[str, Any]:
    """Run this Python; return all that a caller sees of it."""
    environment = {**CLEAN, **more}
    if hook:
        path = [str(PREAMBLE.parent), more.get("PYTHONPATH", "")]
        environment |= {"VAIBIFY_SEED": "5", "PYTHONPATH": ":".join(filter(None, path))}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


def test_a_change_of_it_is_a_change_of_the_fingerprints_format() -> None:
    """Who changes what deterministic mode does raises the number: old runs are not today's."""
    assert FINGERPRINT_FORMAT == 2
    assert hashlib.sha256(PREAMBLE.read_bytes()).hexdigest() == (
        "f8c852fb839982cf86107ca3100b112760bd7d2cb5ccfb79227c4db468ecbdd6"
    )


SEEN = """
import sys, __main__
print(sys.argv, __name__, getattr(__main__, "__file__", None), __main__.__spec__ and "spec")
print(sys.path[0], [one for one in sys.path if "preamble" in one], sys.flags, sys.orig_argv[1:])
print(sorted(sys.modules))
def fails():
    raise ValueError("seen")
if "exit" in sys.argv:
    sys.exit(7)
fails()
"""


@pytest.mark.parametrize("how", ["script", "module", "code", "stdin-like"])
@pytest.mark.parametrize("end", ["raise", "exit"])
def test_the_program_sees_and_shows_what_it_would_without(
    tmp_path: Path, how: str, end: str
) -> None:
    (tmp_path / "seen.py").write_text(SEEN)
    words = {
        "script": ["seen.py"],
        "module": ["-m", "seen"],
        "code": ["-c", SEEN],
        "stdin-like": ["-W", "ignore", "-X", "utf8", str(tmp_path / "seen.py")],
    }[how]
    with_it = run(tmp_path, *words, "a b", end)
    assert with_it == run(tmp_path, *words, "a b", end, hook=False)
    assert with_it["code"] == (7 if end == "exit" else 1)
    assert os.listdir(tmp_path) == ["seen.py"]


@pytest.mark.parametrize("code", ["raise OSError('broken')", "import nosuch", "1 +"])
def test_an_import_that_fails_has_the_same_traceback(tmp_path: Path, code: str) -> None:
    (tmp_path / "torch.py").write_text(code)
    done = run(tmp_path, "-c", "import torch")
    assert done == run(tmp_path, "-c", "import torch", hook=False)
    assert done["code"] == 1


@pytest.mark.parametrize("name", ["random", "torch", "matplotlib"])
@pytest.mark.parametrize("code", ["MINE = 1", "MINE = 1\nseed = manual_seed = rcParams = None"])
def test_a_module_of_the_step_s_own_that_has_such_a_name_is_left_alone(
    tmp_path: Path, name: str, code: str
) -> None:
    (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "use.py").write_text(f"import os, {name}\nif not os.fork(): print({name}.MINE)")
    done = run(tmp_path, "use.py")
    assert done == run(tmp_path, "use.py", hook=False)
    assert (done["code"], done["err"]) == (0, "")


def test_the_customizing_modules_that_were_there_run_as_before(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys; sys.MINE = 1; print('site', __file__)")
    show = "import sys, sitecustomize; print(sys.MINE, sitecustomize.__file__, sys.path)"
    done = run(tmp_path, "-c", show, PYTHONPATH=str(own))
    assert done == run(tmp_path, "-c", show, hook=False, PYTHONPATH=str(own))
    assert done["out"].startswith(f"site {own}/sitecustomize.py\n1 {own}")
    (own / "sitecustomize.py").write_text("raise ValueError('mine')")
    done = run(tmp_path, "-c", "print(1)", PYTHONPATH=str(own))
    assert done == run(tmp_path, "-c", "print(1)", hook=False, PYTHONPATH=str(own))
    assert "mine" in done["err"]


def test_what_python_knows_of_a_seeded_module_is_its_own(tmp_path: Path) -> None:
    show = (
        "import importlib.util as u, inspect, random, multiprocessing.process as p;"
        "print(random.__loader__, random.__spec__, len(inspect.getsource(random)),"
        " u.find_spec('json').loader)"
    )
    found, plain = run(tmp_path, "-c", show), run(tmp_path, "-c", show, hook=False)
    assert re.sub("0x[0-9a-f]+", "", found["out"]) == re.sub("0x[0-9a-f]+", "", plain["out"])


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_where_it_cannot_work_it_does_no_harm(tmp_path: Path, flag: str) -> None:
    done = run(tmp_path, flag, "-c", "import random; print(random.random())")
    assert (done["code"], done["err"]) == (0, "")
    assert done["out"] != run(tmp_path, flag, "-c", "import random; print(random.random())")["out"]


WORKERS = """
import multiprocessing, os, random, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
def draw(found):
    import numpy
    found.put((random.random(), numpy.random.rand(), numpy.random.default_rng().random()))
def nothing(one):
    return one
if __name__ == "__main__":
    print(random.random())
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        for _ in range(2):
            found = context.SimpleQueue()
            worker = context.Process(target=draw, args=(found,))
            worker.start()
            print(method, *found.get())
            worker.join()
    sys.stdout.flush()
    child = [sys.executable, "-c", "import random; print(random.random())"]
    copy = dict(os.environ)
    for environment in (None, None, os.environ, copy, copy, {**os.environ, "X": "1"}):
        subprocess.run(child, env=environment, check=True)
    for _ in range(2):
        os.system(f"{sys.executable} -c 'import random; print(random.random())'")
        if not os.fork():
            print(random.random(), flush=True)
            os._exit(0)
        os.wait()
    print(random.random())
"""
DRAWS = 1 + 3 * 2 * 3 + 6 + 2 * 2 + 1


def test_no_two_workers_draw_the_same_and_two_runs_do(tmp_path: Path) -> None:
    (tmp_path / "workers.py").write_text(WORKERS)
    first = run(tmp_path, "workers.py")
    assert (first["code"], first["err"]) == (0, "")
    drawn = NUMBER.findall(first["out"])
    assert len(drawn) == len(set(drawn)) == DRAWS
    assert run(tmp_path, "workers.py") == first


SIDE_BY_SIDE = """
import random, sys
print(random.random())
"""


def test_programs_that_a_shell_starts_are_told_apart_by_arguments_and_not_by_places(
    tmp_path: Path,
) -> None:
    drawn = []
    for name in ("one", "other"):
        place = tmp_path / name
        place.mkdir()
        (place / "draw.py").write_text(SIDE_BY_SIDE)
        for words in (["1"], ["2"], [f"{place}/in.csv"], [f"--to={tmp_path}/tmp/{name}"]):
            done = run(place, f"{place}/draw.py", *words, TMPDIR=f"{tmp_path}/tmp")
            drawn.append(done["out"])
    assert drawn[:4] == drawn[4:], "where a clone lies, and temporary names, change nothing"
    assert len(set(drawn)) == 4


LIBRARIES = """
import json, sys
before = set(sys.modules)
import numpy, random
from sklearn.ensemble import RandomForestClassifier
x, y = numpy.random.rand(40, 3), numpy.arange(40) % 2
forest = RandomForestClassifier(n_estimators=3).fit(x, y)
print(json.dumps([
    random.random(), numpy.random.rand(), numpy.random.RandomState().rand(),
    numpy.random.default_rng().random(), numpy.random.default_rng().random(),
    numpy.random.Generator(numpy.random.PCG64()).random(),
    forest.predict_proba(x).ravel().tolist(), numpy.random.default_rng(7).random(),
]))
"""


def test_libraries_begin_with_what_follows_from_the_seed(tmp_path: Path) -> None:
    first, second = (run(tmp_path, "-c", LIBRARIES) for _ in range(2))
    assert (first["code"], first["err"]) == (0, "")
    assert first == second
    *free, forest, seeded = json.loads(first["out"])
    assert len(set(free)) == len(free)
    plain = json.loads(run(tmp_path, "-c", LIBRARIES, hook=False)["out"])
    assert plain[-1] == seeded, "a seed of the step's own stays its own"
    assert plain[:-2] != free
    assert forest == json.loads(second["out"])[-2]


TORCH = """
def manual_seed(number):
    print("torch", number)
"""


def test_what_the_step_does_not_import_is_not_imported(tmp_path: Path) -> None:
    show = "import sys; print(sorted(sys.modules)); import torch"
    (tmp_path / "torch.py").write_text(TORCH)
    done = run(tmp_path, "-c", show)
    modules, told = done["out"].splitlines()
    assert f"{modules}\n" == run(tmp_path, "-c", show, hook=False)["out"]
    assert re.fullmatch(r"torch [0-9]+", told)


def test_figures_have_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as p, hashlib, io\n"
        "def saved(kind):\n"
        "    f = io.BytesIO(); p.savefig(f, format=kind); return hashlib.sha256(f.getvalue())\n"
        "p.plot([1, 2], marker='o'); p.fill_between([1, 2], [1, 2], hatch='/')\n"
        "p.style.use('default')\n"
        "print([saved(one).hexdigest() for one in ('svg', 'pdf', 'png', 'ps')])\n"
    )
    more = {"SOURCE_DATE_EPOCH": "0", "PYTHONHASHSEED": "0", "MPLCONFIGDIR": str(tmp_path)}
    first, second = (run(tmp_path, "-c", code, **more) for _ in range(2))
    assert (first["code"], first["out"]) == (0, second["out"])
    assert run(tmp_path, "-c", code, hook=False, **more)["out"] != first["out"], "the salt of SVG"


DRAW = "(random.random(), numpy.random.rand(), numpy.random.default_rng().random())"


def _draw(manager: KernelManager, place: Path, before: int, found: list[str]) -> None:
    seeded = {"PYTHONPATH": str(PREAMBLE.parent), "VAIBIFY_SEED": "7", "TMPDIR": str(place)}
    manager.start_kernel(env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **seeded})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(120)
        drawn = "import random, numpy\n" + "random.random()\n" * before
        client.execute_interactive(drawn, silent=True)
        for _ in range(2):
            asked = {"drawn": DRAW}
            reply = client.execute_interactive("1", user_expressions=asked, timeout=60)
            found.append(reply["content"]["user_expressions"]["drawn"]["data"]["text/plain"])
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_kernel_draws_from_its_first_cell_on(tmp_path: Path) -> None:
    """However often it drew before, by the chance of when what came: two values were seen."""
    found: list[str] = []
    for before in (0, 3):
        place = tmp_path / f"kernel-{before}.json"
        with sockets() as reached:
            manager = KernelManager(kernel_name="python3", connection_file=str(place), **reached)
            _draw(manager, tmp_path, before, found)
    first, second, again, after = found
    assert (first, second) == (again, after)
    assert first != second
