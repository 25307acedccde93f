"""The magics in kernels: interrupted, poorly equipped, headless, and in plain IPython."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from tests.apps.front import surroundings
from tests.engines.conftest import wait_for
from tests.kills.checks import living
from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.magics.kernel import LOAD, new_project, notebook, run, started
from vaibify_lab.envelope.environment import NAME, EnvironmentFile

SLEEPER = """%%vaibify step Sleep --output out/s.txt
import pathlib, time
print("asleep", flush=True)
time.sleep(600)
pathlib.Path("out/s.txt").write_text("awake")"""


@contextmanager
def live(root: Path, **env: str) -> Iterator[tuple[Any, BlockingKernelClient]]:
    """Give a kernel with the extension loaded."""
    with started(root, **env) as (manager, client):
        client.execute_interactive(LOAD, timeout=60)
        yield manager, client


def test_an_interrupt_of_the_kernel_stops_the_step(tmp_path: Path) -> None:
    made = new_project(tmp_path / "napping-in-a-cell")
    said: list[dict[str, Any]] = []
    with live(made.root) as (manager, client):

        def hear(message: dict[str, Any]) -> None:
            said.append(message)
            if "asleep" in message["content"].get("text", ""):
                manager.interrupt_kernel()

        reply = client.execute_interactive(SLEEPER, timeout=90, output_hook=hear)
        alive = client.execute_interactive("print(1)", timeout=60)
    assert reply["content"]["status"] == "error" and alive["content"]["status"] == "ok"
    assert reply["content"]["ename"] == "StepFailed"
    assert (
        "stopped on request; not finished, with what they had before: sleep"
        in (reply["content"]["evalue"])
    )
    assert made.steps()["sleep"].run == "interrupted"
    assert not (made.root / "out/s.txt").exists()
    wait_for(lambda: living(b"napping-in-a-cell") == [])


def test_two_cells_that_are_one_step_are_told(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    said: dict[str, str] = {}
    with live(made.root) as (_, client):
        for at, (cell, code) in enumerate([("a", 1), ("b", 1), ("a", 2), ("a", 3), ("", 4)]):
            message = client.session.msg(
                "execute_request",
                {
                    "code": f"%%vaibify step One --declare-only\n{code}",
                    "silent": False,
                    "store_history": True,
                    "user_expressions": {},
                    "allow_stdin": False,
                },
                metadata={"cellId": cell} if cell else None,
            )
            client.shell_channel.send(message)
            while (heard := client.get_iopub_msg(timeout=60))["content"].get(
                "execution_state"
            ) != "idle" or heard["parent_header"]["msg_id"] != message["header"]["msg_id"]:
                said[f"{at}{cell}"] = said.get(f"{at}{cell}", "") + heard["content"].get("text", "")
    told = {which for which, text in said.items() if "another cell with other code" in text}
    assert told == {"2a"}


def test_help_and_completion(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p", [{"sName": "Clean it", "saDataCommands": ["true"]}])
    offered = {
        "%%vaibify st": ["step"],
        "%%vaibify step Cl": [],
        "%%vaibify step ": ["clean-it"],
        "%%vaibify step X --inp": ["--input"],
        "%%vaibify step X --input da": ["data/"],
        "%%vaibify step X --input data/": ["data/in.txt"],
        "%%vaibify step X --depends cl": ["clean-it"],
        "%%vaibify step X --language ": ["python", "bash", "R", "julia"],
        "%vaibify sta": ["status", "start"],
        "%vaibify run cl": ["clean-it"],
        "%vaibify run --stal": ["--stale"],
    }
    with live(made.root) as (_, client):
        for line, expected in offered.items():
            found = client.complete(line, reply=True, timeout=60)["content"]["matches"]
            kept = found if line[-1] not in " /" else [one for one in found if one in expected]
            assert set(kept) == set(expected), line
        page = client.execute_interactive("%vaibify?", timeout=60)["content"]["payload"]
        heard: list[str] = []
        for line in ("%%vaibify step --help\n\n", "%vaibify --help", "%vaibify run --help"):
            reply = client.execute_interactive(
                line, timeout=60, output_hook=lambda one: heard.append(str(one["content"]))
            )
            assert reply["content"]["status"] == "ok", reply
    assert "%%vaibify step NAME [--input P]" in page[0]["data"]["text/plain"]
    told = "".join(heard)
    assert "usage: %%vaibify step" in told and "list the runs kept" in told
    assert "usage: jupyter vaibify run" in told


FIT = "%%vaibify step Fit --input data/in.txt --no-tests --output out/f.txt\nopen('out/f.txt', 'w')"
IMAGE = f"sha256:{'ab' * 32}"
NOWHERE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


def pinned(root: Path) -> Made:
    """Make a project whose steps run in an image that nobody here has."""
    made = new_project(root)
    made.write(NAME, EnvironmentFile(config_digest=IMAGE).to_bytes())
    return made


def test_a_kernel_without_docker_and_server_declares_and_says_who_runs_it(tmp_path: Path) -> None:
    made = pinned(tmp_path / "p")
    (tmp_path / "none").mkdir()
    for name in ("docker", "jupyter_server", "nbclient"):
        text = f"raise ModuleNotFoundError({name!r}, name={name!r})\n"
        (tmp_path / f"none/{name}.py").write_text(text)
    check = "import sys; print([m for m in ('docker', 'jupyter_server') if m in sys.modules])"
    ran = run(made.root, FIT, check, on=True, PYTHONPATH=str(tmp_path / "none"))
    said = ran.text(0)
    assert "declared, not run here: the Python package docker is not installed" in said
    assert "by the badge at the cell, in the panel, or with jupyter vaibify run fit" in said
    assert ran.text(1) == "[]\n"
    name, text = ran.error(0)  # nobody is there to run it
    assert name == "StepFailed"
    assert text.startswith("step 'fit' was not run, and is never-run: the Python package docker")
    assert made.steps()["fit"].run == "never-run"


@pytest.mark.parametrize(
    ("cell", "questions", "status"),
    [("c1", True, "ok"), ("c1", False, "error"), ("", True, "error")],
)
def test_only_a_front_end_that_is_surely_there_may_leave_a_step_unrun(
    tmp_path: Path, cell: str, questions: bool, status: str
) -> None:
    made = pinned(tmp_path / "p")
    with live(made.root, **NOWHERE) as (_, client):
        content = {
            "code": FIT,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": questions,
        }
        metadata = {"cellId": cell} if cell else {}
        message = client.session.msg("execute_request", content, metadata=metadata)
        client.shell_channel.send(message)
        while (reply := client.get_shell_msg(timeout=120))["parent_header"]["msg_id"] != (
            message["header"]["msg_id"]
        ):
            pass
    assert reply["content"]["status"] == status, reply


def test_no_headless_runner_ends_well_over_a_step_that_was_not_run(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    made.write("n.ipynb", json.dumps(notebook(LOAD, FIT)))
    assert run(made.root, FIT).stopped is None
    made.write(NAME, EnvironmentFile(config_digest=IMAGE).to_bytes())
    papermill = ("papermill", "n.ipynb", "done.ipynb")
    done = command(made.root, *papermill, **NOWHERE)
    assert done.returncode == 1
    assert "step 'fit' was not run, and is stale: no container engine" in done.stderr
    made.write("run.ipy", f"{LOAD}\ncell = {FIT!r}\n{RUN}\n")
    plain = command(made.root, "IPython", "--no-banner", "--colors=NoColor", "run.ipy", **NOWHERE)
    assert plain.returncode == 1 and "and is stale: no container engine" in plain.stdout
    # ran elsewhere, in that image: then there is nothing to run
    path = ".vaibify/records/workflow/fit.json"
    made.write(path, json.dumps(made.fact(path) | {"image": IMAGE}))
    assert made.steps()["fit"].run == "current"
    done = command(made.root, *papermill, **NOWHERE)
    assert done.returncode == 0, done.stderr
    assert "not run here, and current as it is: no container engine" in made.read("done.ipynb")


BAD = "%%vaibify step Bad --output out/b.txt\nraise SystemExit(4)"
WRONG = "%%vaibify step Bad --otput out/b.txt\n1"


def command(root: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment in the project."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=root,
        env=surroundings(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_plain_ipython_runs_it_and_fails_by_it(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    good = "%%vaibify step Fit --output out/f.txt\nopen('out/f.txt', 'w').write('1')\nprint('hi')"
    made.write("run.ipy", f"{LOAD}\nfor cell in {[good, BAD]!r}:\n    {RUN}\nprint('on')\n")
    done = command(made.root, "IPython", "--no-banner", "--colors=NoColor", "run.ipy")
    assert done.returncode == 1, done
    assert "hi\n" in done.stdout and "fit: not verified yet\n  ✓ run current" in done.stdout
    assert "StepFailed: step 'bad' ended with exit status 4" in done.stdout
    assert "Traceback" not in done.stdout and "on\n" not in done.stdout
    assert made.read("out/f.txt") == "1"


RUN = "get_ipython().run_cell(cell).raise_error()"


def test_headless_runners_stop_at_a_failing_or_mistaken_cell(tmp_path: Path) -> None:
    """Case N10: an error by any way a runner hears of."""
    made = new_project(tmp_path / "p")
    for name, cell in (("bad", BAD), ("wrong", WRONG)):
        made.write(f"{name}.ipynb", json.dumps(notebook(LOAD, cell, "open('went-on', 'w')")))
    found = [
        command(made.root, "papermill", "bad.ipynb", "done.ipynb"),
        command(made.root, "papermill", "wrong.ipynb", "done.ipynb"),
        command(made.root, "jupyter", "execute", "bad.ipynb"),
    ]
    assert [one.returncode for one in found] == [1, 1, 1], found
    assert "StepFailed: step 'bad' ended with exit status 4" in found[0].stderr
    assert "UsageError: there is no option '--otput' here" in found[1].stderr
    assert "StepFailed: step 'bad' ended with exit status 4" in found[2].stderr
    assert not (made.root / "went-on").exists()


def test_pins_and_lineage_in_cells(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", CHAIN, CHAIN_FILES)
    made.run()
    lines = ("pins use", "lineage use", "lineage use --format svg")
    ran = run(made.root, *(f"%vaibify {line}" for line in lines))
    assert ran.stopped is None
    assert "Everything is as it was pinned" in ran.text(0)
    assert "read  out/a.txt, version 1, made by make" in ran.text(1)
    (picture,) = ran.shown(2)
    assert picture["image/svg+xml"].startswith("<svg ") and picture["text/plain"] == "[picture]"
    made.write("data/in.txt", "2\n")
    broken = run(made.root, "%vaibify pins use")
    assert "make: input data/in.txt is modified" in broken.text()
    assert broken.error()[0] == "NotPassed" and "breaks first at make" in broken.error()[1]
