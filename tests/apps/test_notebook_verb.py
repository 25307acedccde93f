"""``notebook run`` and ``notebook compare``, the real command with real kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.apps.front import vaibify
from tests.kit import Made, git
from tests.notebooks.books import book, code

CELLS = ("x = 0.1 + 0.2\nprint(x)", "object()", "import time; time.ctime()", "len('abc')")


def new(root: Path, text: str, **files: str) -> Made:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    made = Made(root)
    made.write("nb/fit.ipynb", text)
    for path, content in files.items():
        made.write(path.replace("__", "/"), content)
    return made


def stored(*cells: str, **changes: str) -> str:
    """Return a notebook with outputs as another machine stored them."""
    given = {
        CELLS[0]: "0.30000000000000010\n",
        CELLS[1]: "<object at 0x7f0000000010>",
        CELLS[2]: "'Sat Jan  3 10:11:12 2026'",
        CELLS[3]: "3",
    } | changes
    made = []
    for count, source in enumerate(cells, 1):
        output: dict[str, Any] = {
            "output_type": "stream",
            "name": "stdout",
            "text": given.get(source, ""),
        }
        if not source.endswith("print(x)"):
            data = {"text/plain": given.get(source, "")}
            output = {
                "output_type": "execute_result",
                "data": data,
                "metadata": {},
                "execution_count": count,
            }
        made.append(code(source, outputs=[output], execution_count=count + 4))
    return book(*made)


def test_a_notebook_is_run_and_compared_cell_by_cell(tmp_path: Path) -> None:
    text = stored(*CELLS)
    made = new(tmp_path / "p", text)
    done = vaibify(made.root / "nb", "notebook", "compare", "fit.ipynb", "--json")
    found = json.loads(done.out)
    assert (done.code, found["passed"]) == (0, True), done
    assert [cell["verdict"] for cell in found["cells"]] == [
        "within-tolerance",
        "noise-only",
        "noise-only",
        "identical",
    ]
    assert found["cells"][0]["largest_absolute"]["where"] == "stdout, line 1"
    assert [one["kind"] for one in found["ignored"]] == ["execution count"]
    assert made.read("nb/fit.ipynb") == text
    assert sorted(path.name for path in made.root.iterdir()) == [".git", "nb"]
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_what_differs_is_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    made = new(tmp_path / "p", stored(*CELLS[2:], **{CELLS[3]: "4"}))
    fresh = made.write(
        "fresh.ipynb", stored(*CELLS[2:], **{CELLS[2]: "'Sun Jan  4 01:01:01 2026'"})
    )
    done = vaibify(made.root, "notebook", "compare", "nb/fit.ipynb", str(fresh))
    assert done.code == 1
    assert done.out.splitlines() == [
        "✓ cell 1: noise only  import time; time.ctime()",
        "    ignored: 1 place (time)",
        "✗ cell 2: different  len('abc')",
        "    line 1: 4 is now 3",
        "    largest absolute difference 1 (line 1)",
        "    largest relative difference 0.25 (line 1)",
        "2 cells: 1 noise only, 1 different",
    ]
    assert done.err == "jupyter vaibify notebook compare: nb/fit.ipynb cell 2, line 1: 4 is now 3\n"
    strict = vaibify(
        made.root, "notebook", "compare", "nb/fit.ipynb", str(fresh), "--strict", "--json"
    )
    assert json.loads(strict.out)["counts"] == {"different": 2}


def test_the_projects_own_patterns_and_packages(tmp_path: Path) -> None:
    lock = "# vaibify: python 3.11 linux-x86_64\nnumpy=={} --hash=sha256:" + "0" * 64 + "\n"
    made = new(tmp_path / "p", stored("v", v="host=a 1.5"))
    made.write("requirements.lock", lock.format("1.26.4"))
    made.commit("one")
    made.write("requirements.lock", lock.format("2.4.0"))
    fresh = made.write("fresh.ipynb", stored("v", v="host=b np.float64(1.5)"))
    words = ("notebook", "compare", "nb/fit.ipynb", str(fresh), "--json")
    assert vaibify(made.root, *words).code == 1
    named = json.loads(vaibify(made.root, *words, "--ignore", r"host=\S+").out)
    assert named["passed"] and named["packages"] == ["numpy 1.26.4 -> 2.4.0"]
    assert named["cells"][0]["verdict"] == "printed-otherwise"
    made.write("vaibify.yml", "projectName: p\nignoredInOutputs:\n  host: 'host=\\w+'\n")
    found = json.loads(vaibify(made.root, *words).out)
    assert found["passed"] and found["cells"][0]["ignored"][0]["kind"] == "host"
    made.write("vaibify.yml", "projectName: p\nignoredInOutputs:\n  host: '('\n")
    assert vaibify(made.root, *words[:4]).code == 2


def test_a_run_that_fails_is_told_and_what_came_before_it_is_compared(tmp_path: Path) -> None:
    made = new(tmp_path / "p", stored(CELLS[3], "1/0", CELLS[3]))
    done = vaibify(made.root, "notebook", "compare", "nb/fit.ipynb", "--json")
    assert done.code == 1
    found = json.loads(done.out)
    assert [cell["verdict"] for cell in found["cells"]] == ["identical", "error", "not-run"]
    assert "ZeroDivisionError" in found["run"]["problems"][0]
    ran = vaibify(made.root, "notebook", "run", "nb/fit.ipynb", "--output", "out.ipynb")
    assert (ran.code, ran.out) == (1, "")
    assert "cell 2 (2 of 3 with code): ZeroDivisionError: division by zero" in ran.err
    kept = json.loads(made.read("out.ipynb"))
    assert kept["cells"][1]["outputs"][0]["ename"] == "ZeroDivisionError"


def test_questions_that_are_wrong(tmp_path: Path) -> None:
    made = new(tmp_path / "p", book("1"))
    made.write("empty.ipynb", "")
    made.write("steps.ipynb", book("%load_ext vaibify_lab", "%%vaibify step A\n1", "%%vaibify\n1"))
    outside = tmp_path / "x.ipynb"
    outside.write_text(book("1"))
    for words, said in [
        (("run", "gone.ipynb"), "there is no such notebook"),
        (("compare", "gone.ipynb", str(outside)), "there is no such notebook"),
        (("compare", "nb/fit.ipynb", "gone.ipynb"), "there is no such notebook"),
        (("run", "empty.ipynb"), "is an empty notebook"),
        (("run", "steps.ipynb"), "holds steps (cell 2), each of which runs in a container"),
        (("compare", "steps.ipynb"), "jupyter execute steps.ipynb"),
        (("run", str(outside)), "lies outside this repository"),
        (("run", "nb/fit.ipynb", str(outside)), "run takes one notebook"),
        (("run", "nb/fit.ipynb", "--output", "nb/fit.ipynb"), "is never rewritten"),
        (("compare", "nb/fit.ipynb", "--tolerance", "x"), "a tolerance is a number"),
        (("walk", "nb/fit.ipynb"), "walk"),
    ]:
        done = vaibify(made.root, "notebook", *words)
        assert done.code == 2 and said in done.err and "Traceback" not in done.err, done


def test_a_notebook_that_must_fail_is_compared_as_far_as_it_comes(tmp_path: Path) -> None:
    made = new(tmp_path / "p", stored(CELLS[3], "left_over"))
    done = vaibify(made.root, "notebook", "compare", "nb/fit.ipynb", "--json")
    found = json.loads(done.out)
    assert done.code == 1
    assert [cell["verdict"] for cell in found["cells"]] == ["identical", "error"], found
