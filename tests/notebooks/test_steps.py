"""Notebooks as steps, run by real kernels on the local engine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from tests.notebooks.books import book, code, step
from vaibify_lab.ceremony.rerun import rerun
from vaibify_lab.notebooks import runner
from vaibify_lab.runs.opened import Opened

RUNNER = str(runner.__file__)


def made(root: Path, text: str, files: dict[str, str] | None = None, **keys: Any) -> Made:
    return Made.new(root / "p", [step(**keys)], {"nb/fit.ipynb": text, **(files or {})})


def why(one: Made) -> tuple[str, str]:
    """Run; return code and text of the failure."""
    event = next(event for event in one.events() if event["event"] == "stepFail")
    return event["code"], event["text"]


def test_a_notebook_runs_and_its_executed_copy_is_an_output(tmp_path: Path) -> None:
    text = book(
        "import os\nprint(os.path.basename(os.getcwd()))",
        "1.5 + 1",
        code("x = 3", name="kept"),
        "open('../out/a.txt', 'w').write('a')",
        code("1/0", tags=["raises-exception"]),
        "await __import__('asyncio').sleep(0)\n!true",
    )
    one = made(tmp_path, text, saDataFiles=["out/a.txt"])
    assert one.run()["outcome"] == "passed"
    assert one.read("nb/fit.ipynb") == text
    copy = json.loads(one.read("out/fit.ipynb"))
    assert [cell["id"] for cell in copy["cells"]] == ["c1", "c2", "kept", "c4", "c5", "c6"]
    assert copy["cells"][0]["outputs"][0]["text"] == ["nb\n"]
    assert copy["cells"][1]["outputs"][0]["data"]["text/plain"] == ["2.5"]
    assert [cell["execution_count"] for cell in copy["cells"]] == [1, 2, 3, 4, 5, 6]
    assert not any("execution" in cell["metadata"] for cell in copy["cells"])
    assert one.states()["fit"][0] == "current"
    first = one.read("out/fit.ipynb")
    assert one.run("fit")["outcome"] == "passed"
    assert one.read("out/fit.ipynb") == first
    one.write("nb/fit.ipynb", text.replace("1.5", "1.6"))
    assert one.states()["fit"][0] == "stale"


def alone(tmp_path: Path, text: str) -> tuple[int, str]:
    """Run a notebook by the runner alone, as a step's script does; return status and last line."""
    (tmp_path / "fit.ipynb").write_text(text)
    done = subprocess.run(
        [sys.executable, RUNNER, "fit.ipynb", "copy.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    # libzmq, and ipykernel's threads, in a kernel that is shut down, at times
    lines = [one for one in done.stderr.splitlines() if "signaler.cpp" not in one] or [""]
    return done.returncode, "" if lines[-1].startswith("zmq.error.ZMQError: Socket") else lines[-1]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1", "1/0", "2"], "cell 2 (2 of 3 with code): ZeroDivisionError: division by zero"),
        (["import sys", "sys.exit(0)", "2"], "SystemExit: 0"),
        (["1", "quit()"], "it told the kernel to leave"),
        (["import os", "os._exit(0)", "2"], "cell 2 (2 of 3 with code): the kernel died"),
    ],
)
def test_early_ends_are_failures(tmp_path: Path, cells: list[str], said: str) -> None:
    status, line = alone(tmp_path, book(*cells))
    assert status == 1 and said in line, line


def test_a_failed_notebook_leaves_no_output_and_its_cause_is_named(tmp_path: Path) -> None:
    one = made(tmp_path, book("1", "exec('import surely_not_there')"))
    found = why(one)
    assert found[0] == "missing-module" and "imports 'surely_not_there'" in found[1]
    assert not (one.root / "out/fit.ipynb").exists()
    assert one.states()["fit"][0] == "failed"


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        (["!true\n!exit 3\n!true"], "its command !exit 3 ended with exit status 3"),
        (["def f(word):\n    !test {word} = a\nf('a')\nf('b')"], "!test b = a ended with exit"),
        (["!false || true", "%%bash\nfalse | tee log\necho done", "%%bash\nfalse"], "Called"),
    ],
)
def test_n03_shell_commands_that_fail(tmp_path: Path, sources: list[str], said: str) -> None:
    status, line = alone(tmp_path, book(*sources))
    assert status == 1 and said in line, line
    assert f"cell {len(sources)} " in line


def test_n03_a_cell_may_say_that_it_fails(tmp_path: Path) -> None:
    text = book(code("!false", tags=["raises-exception"]), "!true\nx = !false")
    assert alone(tmp_path, text)[0] == 0


@pytest.mark.parametrize("cell", ["n = input('n? ')", "import getpass\ngetpass.getpass('key? ')"])
def test_n04_a_cell_that_asks_for_input(tmp_path: Path, cell: str) -> None:
    one = made(tmp_path, book(cell))
    assert why(one)[0] == "asked-for-input"
    assert why(one)[1].startswith("asked for input; a step runs without a terminal")


@pytest.mark.parametrize("old", [False, True], ids=["4.4", "3.0"])
def test_n05_old_formats_run_and_are_not_rewritten(tmp_path: Path, old: bool) -> None:
    cells = [{"cell_type": "code", "input": "print(1)", "outputs": [], "metadata": {}}]
    value = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    text = json.dumps(value) if old else book("print(1)", minor=4)
    assert alone(tmp_path, text) == (0, "")
    first = (tmp_path / "copy.ipynb").read_text()
    assert (tmp_path / "fit.ipynb").read_text() == text
    assert alone(tmp_path, text) == (0, "") and (tmp_path / "copy.ipynb").read_text() == first


def test_n05_ids(tmp_path: Path) -> None:
    value = json.loads(book("print(1)", "print(2)"))
    del value["cells"][1]["id"]
    assert alone(tmp_path, json.dumps(value)) == (0, "")
    ids = [cell["id"] for cell in json.loads((tmp_path / "copy.ipynb").read_text())["cells"]]
    assert ids[0] == "c1" and len(ids[1]) == 8
    value["cells"][1]["id"] = "c1"
    for number, (text, said) in enumerate(
        [(json.dumps(value), "cells 1 and 2 have one id"), ("", "is an empty notebook")]
    ):
        one = made(tmp_path / f"bad{number}", text)
        refused = one.events()[-1]
        assert refused["event"] == "runRefused" and said in refused["text"], refused


def test_n09_a_name_that_only_a_live_kernel_had(tmp_path: Path) -> None:
    one = made(tmp_path, book("y = 1", "for _ in [1]:\n    print(x + y)"))
    assert why(one)[1].endswith(
        "cell 2 (2 of 2 with code): NameError: name 'x' is not defined "
        "(no cell before it has it: it was defined only in a live kernel)"
    )


ODD = """
import json, sys
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Odd(Kernel):
    implementation = implementation_version = banner = "odd"
    language_info = {"name": "odd", "mimetype": "text/plain", "file_extension": ".odd"}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, **more):
        error = {"ename": "Odd", "evalue": code, "traceback": []}
        if code == "said":
            self.send_response(self.iopub_socket, "error", error)
        status = {"status": "error", **error} if code == "meant" else {
            "status": "ok", "payload": [], "user_expressions": {}}
        return {"execution_count": self.execution_count, **status}

IPKernelApp.launch_instance(kernel_class=Odd)
"""


@pytest.mark.parametrize(("source", "passes"), [("said", False), ("meant", False), ("ok", True)])
def test_n10_either_word_of_a_kernel_is_enough(tmp_path: Path, source: str, passes: bool) -> None:
    files = {
        "share/jupyter/kernels/odd/kernel.json": json.dumps(
            {
                "argv": ["python", "../odd.py", "-f", "{connection_file}"],
                "display_name": "Odd",
                "language": "odd",
            }
        ),
        "odd.py": ODD,
    }
    spec = {"name": "odd", "language": "odd", "display_name": "Odd"}
    text = book(source, kernelspec=spec)
    one = made(tmp_path, text, files, dictEnvironment={"JUPYTER_PATH": "../share/jupyter"})
    if passes:
        assert one.run()["outcome"] == "passed"
    else:
        assert f"Odd: {source}" in why(one)[1]


def test_n11_what_one_notebook_writes_another_reads_after_it(tmp_path: Path) -> None:
    steps = [
        step(sName="Use", sNotebook="use.ipynb", saOutputFiles=["o/use.ipynb"])
        | {"bNoInputData": False, "saInputDataFiles": ["d/a.txt"]},
        step(sName="Make", sNotebook="make.ipynb", saOutputFiles=["d/a.txt", "m/make.ipynb"]),
    ]
    files = {
        "use.ipynb": book("print(open('d/a.txt').read())"),
        "make.ipynb": book("open('d/a.txt', 'w').write('one')"),
    }
    one = Made.new(tmp_path / "p", steps, files)
    assert one.run()["steps"] == {"make": "passed", "use": "passed"}
    assert "one" in one.read("o/use.ipynb")
    one.write("make.ipynb", book("open('d/a.txt', 'w').write('two')"))
    assert one.run()["steps"] == {"make": "passed", "use": "passed"}
    assert "two" in one.read("o/use.ipynb")


def test_a_kernel_of_another_name_is_this_pythons(tmp_path: Path) -> None:
    spec = {"name": "my-env", "language": "python", "display_name": "My"}
    one = made(tmp_path, book("1", kernelspec=spec))
    assert one.run()["outcome"] == "passed"
    none = made(tmp_path / "r", book("1", kernelspec={"name": "ir", "language": "R"}))
    refused = none.events()[-1]
    assert refused["event"] == "runRefused"
    assert "asks for the kernel 'ir', which is not on this machine" in refused["text"]
    status, line = alone(tmp_path, book("1", kernelspec={"name": "ir", "language": "R"}))
    assert status == 1 and "there is no kernel 'ir' here" in line


@pytest.mark.parametrize("tier", ["bwrap", "landlock", "plain"])
def test_every_tier_without_network(tmp_path: Path, tier: str) -> None:
    files = {"vaibify.yml": "projectName: p\nnetworkIsolation: true\n"}
    one = made(tmp_path, book("print(1)", "!echo 2"), files)
    assert one.run(tier=tier)["outcome"] == "passed"
    outputs = [cell["outputs"] for cell in json.loads(one.read("out/fit.ipynb"))["cells"]]
    assert "".join(outputs[1][0]["text"]).split() == ["2"]


def test_a_notebook_that_hangs_is_stopped_with_its_kernel(tmp_path: Path) -> None:
    one = made(
        tmp_path,
        book("import time\ntime.sleep(600)"),
        fTimeoutSeconds=8,
        dictEnvironment={"TOKEN": str(tmp_path)},
    )
    assert why(one)[0] == "time-out"
    token = f"TOKEN={tmp_path}".encode()
    assert not [place for place in Path("/proc").glob("[0-9]*/environ") if token in readable(place)]


def readable(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_rerun_looks_into_executed_copies(tmp_path: Path) -> None:
    one = made(tmp_path, book("object()", "open('../w/x', 'w').write('1')"), saDataFiles=["w/x"])
    assert one.run()["outcome"] == "passed"
    opened = Opened(one.root, cached=False)
    found = rerun(opened, opened.workflow("workflow.json"), "Ada")
    assert {part.path: part.verdict for part in found.outputs} == {
        "w/x": "identical",
        "out/fit.ipynb": "noise only",
    }
    assert found.passed and found.line.startswith("1 of 2 outputs identical, 1 the same in other")
    copy = json.loads(one.read("out/fit.ipynb"))
    copy["cells"][1]["outputs"][0]["data"]["text/plain"] = ["2"]
    one.write("out/fit.ipynb", json.dumps(copy))
    found = rerun(opened, opened.workflow("workflow.json"), "Ada")
    assert not found.passed and found.outputs[1].verdict == "different"
