"""What a run read without declaring it: said, watched, and never taken for unchanged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit import Made, git
from tests.notebooks.books import book, code
from tests.runs.here import Ran, record, run_here, step
from vaibify_lab.runs import consuming

IN2 = "data/in2.csv"
FILES = {"data/in1.csv": "1\n", IN2: "2\n", "data/in3.txt": "3\n"}
DECLARED = {"saInputDataFiles": ["data/in1.csv"]}
READ = f"open('o', 'w').write(open('{IN2}').read())\n"


def project(tmp_path: Path, *commands: str, **files: str) -> Made:
    """Make a project with one step, of these commands."""
    named = {path.replace("__", "/").replace("_dot_", "."): text for path, text in files.items()}
    return Made.new(
        tmp_path / "p", [step("One", *commands, out="o", **DECLARED)], {**FILES, **named}
    )


def notes(made: Made, slug: str = "one") -> list[tuple[str, str | None]]:
    """Return what is noted of undeclared files: code and path."""
    [one] = [found for found in made.project().report().steps if found.slug == slug]
    return [(each.code, each.path) for each in one.notes if each.code.startswith("undeclared")]


def reasons(made: Made, slug: str = "one") -> list[str]:
    """Return why a step is not current."""
    [one] = [found for found in made.project().report().steps if found.slug == slug]
    return [each.text for each in one.reasons if each.code.startswith("read-")]


def warned(ran: Ran) -> list[str]:
    """Return the files that a run warned of."""
    return [one["path"] for one in ran.of("preflight") if one["code"] == "undeclared-input"]


READERS = {
    "script": ("python a.py", READ),
    "pandas": ("python a.py", f"import io\nwith io.open('{IN2}') as f:\n    t = f.read()\n"
               "open('o', 'w').write(t)\n"),
    "pattern": ("python a.py", "import glob\nt = [open(p).read() for p in glob.glob('data/*2.csv')]"
                "\nopen('o', 'w').write(t[0])\n"),
    "module": ("python a.py", "import lib\nopen('o', 'w').write(lib.TEXT)\n"),
    "command": (f"cat {IN2} > o", ""),
    "argument": (f"python a.py {IN2}", "import sys\n"
                 "open('o', 'w').write(open(sys.argv[1]).read())\n"),
    "words": ("cat data/*2.csv > o", ""),
    "value": ("D=data; cat $D/in2.csv > o", ""),
    "value in a pattern": ("D=data; cat $D/*2.csv > o", ""),
    "redirected": (f"cat < {IN2} > o", ""),
    "option": (f"python a.py --in={IN2}", "import sys\n"
               "open('o', 'w').write(open(sys.argv[1][5:]).read())\n"),
    "shell script": ("sh a.sh", "D=data\ncat $D/in2.csv > o\n"),
    "argument in a shell script": ("sh a.sh", f"# reads\ncp {IN2} \\\n  o\n"),
    "pattern in a shell script": ("sh a.sh", "if true; then echo 1; fi\ncat data/*2.csv > o\n"),
    "no ending": ("python tool", ""),
}  # fmt: skip


@pytest.mark.parametrize("way", READERS)
def test_e05_a_change_of_what_was_read_undeclared_is_seen(tmp_path: Path, way: str) -> None:
    command, text = READERS[way]
    made = project(
        tmp_path,
        command,
        tool=f"#!/usr/bin/env python\n{READ}",
        a_dot_py=text,
        a_dot_sh=text,
        lib_dot_py=f"TEXT = open('{IN2}').read()\n",
    )
    ran = run_here(made)
    assert (ran.steps, warned(ran)) == ({"one": "passed"}, [IN2])
    assert notes(made) == [("undeclared-read", IN2)]
    assert made.states()["one"][0] == "current"

    os.utime(made.root / IN2, (1, 1))
    assert made.states()["one"][0] == "current", "touched, not changed"
    made.write(IN2, "other\n")
    assert made.states()["one"][0] == "stale"
    assert reasons(made) == [f"undeclared input {IN2} differs from the last run"]
    made.write(IN2, "2\n")
    assert made.states()["one"][0] == "current", "its bytes are back"

    (made.root / IN2).unlink()
    assert reasons(made) == [f"undeclared input {IN2} is missing"]
    [found] = made.project().report().steps
    assert found.reasons[0].action == "jupyter vaibify run", "what is gone cannot be declared"
    made.write(IN2, "other\n")
    assert run_here(made).steps == {"one": "passed"}
    assert made.read("o") == "other\n"
    assert made.states()["one"][0] == "current"


def test_pins_say_what_status_says(tmp_path: Path) -> None:
    made = project(tmp_path, "python a.py", a_dot_py=READ)
    run_here(made)
    assert made.project().pins("one").reproducible
    made.write(IN2, "other\n")
    assert [(one.path, one.status) for one in made.project().pins("one").own.added] == [
        (IN2, "modified")
    ]
    (made.root / IN2).unlink()
    assert not made.project().pins("one").reproducible


def test_a_cell_of_a_notebook_that_reads_undeclared(tmp_path: Path) -> None:
    one = step("One", out="o", sNotebook="n.ipynb", saDataCommands=[], **DECLARED)
    made = Made.new(tmp_path / "p", [one], {**FILES, "n.ipynb": book(code(READ))})
    assert run_here(made).steps == {"one": "passed"}
    made.write(IN2, "other\n")
    assert reasons(made) == [f"undeclared input {IN2} differs from the last run"]


def test_what_is_declared_since_is_an_input(tmp_path: Path) -> None:
    made = project(tmp_path, "python a.py", a_dot_py=READ)
    run_here(made)
    made.workflow([step("One", "python a.py", out="o", saInputDataFiles=["data/"])])
    assert (notes(made), reasons(made)) == ([], [])
    assert made.states()["one"][0] == "stale"
    ran = run_here(made)
    assert (warned(ran), notes(made), record(made, "one").undeclared_reads) == ([], [], {})


MAY_READ = (
    f"import sys\nif len(sys.argv) > 1:\n    t = open('{IN2}').read()\nopen('o', 'w').write('1')\n"
)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("python a.py", MAY_READ),
        ("python a.py", f"NAME = '{IN2}'.upper()\nopen('o', 'w').write(NAME)\n"),
        ("sh a.sh", f'echo 1 > o\nif test -n "$MORE"; then\n  cat {IN2} > o\nfi\n'),
    ],
)
def test_what_may_be_read_is_noted_once_it_changed(tmp_path: Path, command: str, text: str) -> None:
    made = project(tmp_path, command, a_dot_py=text, a_dot_sh=text)
    ran = run_here(made)
    assert (warned(ran), notes(made)) == ([], [])
    assert dict(record(made, "one").undeclared_names).keys() == {IN2}
    made.write(IN2, "other\n")
    assert notes(made) == [("undeclared-name", IN2)]
    assert made.states()["one"][0] == "current"


HERE = "os.path.dirname(os.path.abspath(__file__))"
PLACES = {
    "beside the script": f"open(os.path.join({HERE}, 'in2.csv'))",
    "above the script": f"HERE = {HERE}\nopen(os.path.join(HERE, '..', 'data', 'in2.csv'))",
    "parent": "P = Path(__file__).resolve().parent\n(P / 'in2.csv').open()",
    "parents": "(Path(__file__).absolute().parents[1] / 'data/in2.csv').read_text()",
    "joinpath": "Path(__file__).parent.joinpath('in2.csv').read_text()",
    "parent of a name": "SELF = Path(__file__)\nopen(SELF.parent / 'in2.csv')",
    "working folder": "open(os.path.join(os.getcwd(), 'data', 'in2.csv'))",
    "working path": "(Path.cwd() / 'data' / 'in2.csv').read_text()",
    "copied": "shutil.copy('data/in2.csv', 'o')",
    "function": "def load(n):\n    return open('data/in2.csv').read(n)\nload(3)",
    "function of a module": "import lib\nlib.load(3)",
    "function from a module": "from lib import load as get\nget(3)",
}


@pytest.mark.parametrize("way", PLACES)
def test_where_python_finds_what_it_reads(tmp_path: Path, way: str) -> None:
    text = (
        f"import os, shutil\nfrom pathlib import Path\nopen('o', 'w').write('1')\n{PLACES[way]}\n"
    )
    library = "def load(n):\n    return open('data/in2.csv').read(n)\n"
    one = step("One", "python data/a.py", out="o", **DECLARED)
    made = Made.new(tmp_path / "p", [one], {**FILES, "data/a.py": text, "data/lib.py": library})
    assert run_here(made).steps == {"one": "passed"}
    assert record(made, "one").undeclared_reads.keys() == {IN2}


@pytest.mark.parametrize(
    "text",
    [
        "import lib\nload = 1",
        "from lib import other\nother()",
        "def load():\n    pass\nload()",
        "open(Path(__file__).parents[2] / 'data/in2.csv') if Path('no').exists() else 0",
    ],
)
def test_what_no_python_here_calls_is_not_read(tmp_path: Path, text: str) -> None:
    library = "def other():\n    pass\n\n\ndef load():\n    return open('data/in2.csv').read()\n"
    files = {
        "data/lib.py": library,
        "data/a.py": f"from pathlib import Path\n{text}\nopen('o', 'w')\n",
    }
    one = step("One", "python data/a.py", out="o", **DECLARED)
    made = Made.new(tmp_path / "p", [one], {**FILES, **files})
    assert run_here(made).steps == {"one": "passed"}
    assert record(made, "one").undeclared_reads == {}


@pytest.mark.parametrize("script", ["b.R", "b.jl", "b.js"])
def test_what_other_languages_name(tmp_path: Path, script: str) -> None:
    one = step("One", "echo 1 > o", out="o", saScripts=[script], **DECLARED)
    made = Made.new(tmp_path / "p", [one], {**FILES, script: f'x = read("{IN2}")\n'})
    run_here(made)
    made.write(IN2, "other\n")
    assert notes(made) == [("undeclared-name", IN2)]
    assert made.states()["one"][0] == "current"


@pytest.mark.parametrize(
    "text",
    [
        f"echo {IN2} > o",
        "D=data; echo $D/in2.csv > o",
        f"test -f {IN2} && echo 1 > o",
        f"rm -f {IN2}; echo 1 > o",
        f"# {IN2}\necho 1 > o",
    ],
)
@pytest.mark.parametrize("where", ["command", "script"])
def test_what_is_named_and_not_read(tmp_path: Path, text: str, where: str) -> None:
    made = project(tmp_path, "sh a.sh" if where == "script" else text, a_dot_sh=text)
    assert run_here(made, tier="plain").steps == {"one": "passed"}
    made.write(IN2, "other\n")
    assert made.states()["one"][0] == "current"


def test_a_raw_folder_that_is_an_argument_is_read_whole(tmp_path: Path) -> None:
    made = Made.new(
        tmp_path / "p",
        [
            step(
                "One",
                "cat $(find raw -type f) > o; test -d raw",
                "cp -r raw copy",
                out=["o", "copy/"],
            )
        ],
        {"raw/a.csv": "1\n", "raw/sub/b.csv": "2\n"},
    )
    assert run_here(made).steps == {"one": "passed"}
    assert record(made, "one").undeclared_reads.keys() == {"raw/a.csv", "raw/sub/b.csv"}
    made.write("raw/sub/b.csv", "other\n")
    assert reasons(made) == ["undeclared input raw/sub/b.csv differs from the last run"]


def test_what_a_makefile_names(tmp_path: Path) -> None:
    rules = "o: data/in1.csv data/in2.csv\n\tcat $^ > $@  # data/in3.txt\n"
    made = Made.new(
        tmp_path / "p", [step("One", "make o", out="o", **DECLARED)], {**FILES, "Makefile": rules}
    )
    run_here(made)
    assert record(made, "one").undeclared_names.keys() == {IN2}
    made.write(IN2, "other\n")
    assert notes(made) == [("undeclared-name", IN2)]


@pytest.mark.parametrize(
    "source",
    [f"x = !cat {IN2}", f"!sort {IN2} | head", f"%%bash\nfor n in 1; do\n cat {IN2}\ndone"],
)
def test_what_a_notebook_gives_to_a_shell(tmp_path: Path, source: str) -> None:
    cells = [code(source), code("open('o', 'w').write('1')")]
    one = step("One", out="o", sNotebook="n.ipynb", saDataCommands=[], **DECLARED)
    made = Made.new(tmp_path / "p", [one], {**FILES, "n.ipynb": book(*cells)})
    assert run_here(made).steps == {"one": "passed"}
    assert record(made, "one").undeclared_reads.keys() == {IN2}


def test_a_variable_may_name_what_is_read(tmp_path: Path) -> None:
    one = step("One", "cat $F > o", out="o", dictEnvironment={"F": IN2, "G": "1"}, **DECLARED)
    made = Made.new(tmp_path / "p", [one], FILES)
    run_here(made)
    made.write(IN2, "other\n")
    assert notes(made) == [("undeclared-name", IN2)]


def test_few_notes_of_what_is_the_same_and_all_of_what_is_not(tmp_path: Path) -> None:
    many = {f"many/{n}.csv": "1\n" for n in range(30)}
    text = f"import sys\nNAME = '{IN2}'.upper()\nopen('o', 'w').write('1')\n"
    one = step("One", "cat many/*.csv > o", "python a.py", out="o", **DECLARED)
    made = Made.new(tmp_path / "p", [one], {**FILES, **many, "a.py": text})
    run_here(made)
    made.write(IN2, "other\n")
    [found] = made.project().report().steps
    said = [one.text for one in found.notes if one.code.startswith("undeclared")]
    assert said[0] == f"names, but does not declare, {IN2} differs from the last run"
    assert (len(said), said[-1]) == (7, "reads 25 more files, which are not declared")


@pytest.mark.parametrize(
    "text",
    [
        f'echo "cite {IN2} (see data/in3.txt)" > o',
        f"printf '%s\\n' 'usage: a.sh {IN2}' > o",
        f"cat > o <<EOF\nuse sort {IN2}\nEOF",
        f"git log -- {IN2}; ls -l {IN2} data/*.csv > o",
    ],
)
def test_prose_is_not_read(tmp_path: Path, text: str) -> None:
    made = project(tmp_path, "sh a.sh", a_dot_sh=text)
    ran = run_here(made)
    assert (ran.steps, warned(ran)) == ({"one": "passed"}, [])
    made.write(IN2, "other\n")
    assert made.states()["one"][0] == "current"


@pytest.mark.parametrize("how", ["sort data/in1.csv > side", "tee side < data/in1.csv"])
def test_what_a_script_writes_is_not_read(tmp_path: Path, how: str) -> None:
    made = project(tmp_path, "sh a.sh", a_dot_sh=f"{how}\necho 1 > o\n")
    for _ in range(2):
        ran = run_here(made, mode="all")
        assert (ran.steps, warned(ran)) == ({"one": "passed"}, [])
        assert made.states()["one"][0] == "current"


KEEPS = {
    "reads first": "n = int(open('count').read()) + 1\nopen('count', 'w').write(str(n))\n",
    "appends": "open('count', 'a').write('1')\nlen(open('count').read())\n",
    "by another": "import os\nlen(open('count').read())\nos.system('echo 9$$ > count')\n",
}


@pytest.mark.parametrize("way", KEEPS)
def test_what_a_step_keeps_for_itself_makes_it_no_less_current(tmp_path: Path, way: str) -> None:
    made = project(tmp_path, "python a.py", a_dot_py=f"{KEEPS[way]}open('o', 'w').write('1')\n")
    made.write("count", "1")
    for _ in range(2):
        assert run_here(made, mode="all").steps == {"one": "passed"}
        assert made.states()["one"][0] == "current"
        assert record(made, "one").undeclared_reads == {}
    made.write("count", "7")
    assert notes(made) == [("undeclared-write", "count"), ("undeclared-name", "count")] or (
        notes(made) == [("undeclared-name", "count"), ("undeclared-write", "count")]
    )


def test_e05_a_folder_that_is_an_argument_is_not_all_that_lies_in_it(tmp_path: Path) -> None:
    steps = [
        step("One", "python w.py both one.txt", out="both/one.txt"),
        step("Two", "python w.py both two.txt", out="both/two.txt"),
    ]
    writes = "import os, sys\nopen(os.path.join(*sys.argv[1:3]), 'w').write(os.environ['N'])\n"
    for one in steps:
        one["dictEnvironment"] = {"N": "1"}
    made = Made.new(tmp_path / "p", steps, {"w.py": writes})
    assert run_here(made).steps == {"one": "passed", "two": "passed"}
    steps[0]["dictEnvironment"] = {"N": "2"}
    made.workflow(steps)
    assert run_here(made, "one").steps == {"one": "passed"}
    assert made.read("both/one.txt") == "2"
    assert made.states()["two"][0] == "current"


def test_what_another_step_makes_and_nobody_says(tmp_path: Path) -> None:
    """The step that reads it is stale when that is made anew, though nothing orders the two."""
    steps = [
        step("One", "cp data/in1.csv a", out="a", **DECLARED),
        step("Two", "cp a b", out="b"),
    ]
    made = Made.new(tmp_path / "p", steps, FILES)
    assert run_here(made, jobs=1).steps == {"one": "passed", "two": "passed"}
    made.write("data/in1.csv", "other\n")
    assert run_here(made, "one").steps == {"one": "passed"}
    assert reasons(made, "two") == ["undeclared input a differs from the last run"]


def test_a_file_that_another_step_makes_and_nobody_declares(tmp_path: Path) -> None:
    """It is not there when the run begins, and there when the step does."""
    steps = [
        step("One", "cp data/in1.csv a; sort data/in1.csv > side", out="a", **DECLARED),
        step("Two", "cat side > b", out="b", saDependencies=["One"]),
    ]
    made = Made.new(tmp_path / "p", steps, FILES)
    assert run_here(made).steps == {"one": "passed", "two": "passed"}
    assert record(made, "two").undeclared_reads.keys() == {"side"}
    made.write("side", "other\n")
    assert reasons(made, "two") == ["undeclared input side differs from the last run"]


def test_what_another_step_makes_meanwhile(tmp_path: Path) -> None:
    """Nobody says that the one waits for the other, but it does."""
    waits = "for n in $(seq 1200); do [ -e ../x/a ] && break; sleep 0.05; done; cp ../x/a b"
    steps = [
        step("Two", waits, out="y/b", sDirectory="y"),
        step("One", "sleep 0.5; cp ../data/in1.csv a", out="x/a", sDirectory="x", **DECLARED),
    ]
    made = Made.new(tmp_path / "p", steps, {**FILES, "x/.keep": "", "y/.keep": ""})
    assert run_here(made, jobs=2).steps == {"one": "passed", "two": "passed"}
    assert record(made, "two").undeclared_reads.keys() == {"x/a"}
    assert made.states()["two"][0] == "current"
    made.write("data/in1.csv", "other\n")
    assert run_here(made, "one").steps == {"one": "passed"}
    assert reasons(made, "two") == ["undeclared input x/a differs from the last run"]


def test_a_sealed_run_read_nothing_undeclared(tmp_path: Path) -> None:
    made = project(tmp_path, "python a.py", a_dot_py=MAY_READ)
    assert run_here(made, sealed=True).steps == {"one": "passed"}
    found = record(made, "one")
    assert (found.undeclared_reads, found.undeclared_names) == ({}, {})


def test_plots_alone_stand_on_what_the_data_were_made_from(tmp_path: Path) -> None:
    made_from, style = "data/in2.csv", "data/in3.txt"
    one = step("One", f"cp {made_from} o", out="o", **DECLARED)
    one |= {"saPlotCommands": ["python p.py"], "saPlotFiles": ["p"]}
    plots = f"open('p', 'w').write(open('{style}').read())\n"
    made = Made.new(tmp_path / "p", [one], {**FILES, "p.py": plots})
    assert run_here(made).steps == {"one": "passed"}
    before = dict(record(made, "one").undeclared_reads)
    assert before.keys() == {made_from, style}

    made.write(style, "other\n")
    assert reasons(made) == [f"undeclared input {style} differs from the last run"]
    assert run_here(made, "one", mode="only", plot_only=True).steps == {"one": "passed"}
    after = record(made, "one").undeclared_reads
    assert (after[made_from], after[style] != before[style]) == (before[made_from], True)
    assert made.states()["one"][0] == "current"

    made.write(made_from, "other\n")
    assert run_here(made, "one", mode="only", plot_only=True).steps == {"one": "failed"}
    assert record(made, "one").reason_code == "data-stale"
    assert made_from in record(made, "one").reason


def test_git_and_the_envelope_are_nobody_s_inputs(tmp_path: Path) -> None:
    made = project(
        tmp_path, "python a.py requirements.lock MANIFEST.sha256 .git/HEAD > o", a_dot_py=""
    )
    made.write("requirements.lock", "# none\n")
    made.write("MANIFEST.sha256", "")
    ran = run_here(made)
    assert (ran.steps, warned(ran), notes(made)) == ({"one": "passed"}, [], [])


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    made = project(tmp_path, "cat data/*.txt > o")
    (made.root / os.fsdecode(b"data/caf\xe9.txt")).write_text("4\n")
    assert run_here(made).steps == {"one": "passed"}
    assert made.read("o") in ("3\n4\n", "4\n3\n")
    assert notes(made) == [("undeclared-read", "data/in3.txt")]
    assert made.states()["one"][0] == "current"


CHAIN_UNSAID = [  # against the order in which they rest on each other
    step("Three", "cat b > c", out="c"),
    step("Two", "cat a > b", out="b"),
    step("One", "cp data/in1.csv a", out="a", **DECLARED),
]


def test_steps_that_rest_on_each_other_undeclared_wait_and_are_told(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", CHAIN_UNSAID, {**FILES, "a": "old\n", "b": "older\n"})
    assert set(run_here(made, jobs=2).steps.values()) == {"passed"}
    assert made.read("c") == "1\n", "none was made from what lay there before"
    assert {one[0] for one in made.states().values()} == {"current"}
    made.write("data/in1.csv", "other\n")
    reports = {one.slug: one for one in made.project().report().steps}
    assert {slug: one.run for slug, one in reports.items()} == {
        "one": "stale",
        "two": "current",
        "three": "current",
    }
    assert (reports["two"].upstream_modified, reports["three"].upstream_modified) == (True, True)
    assert run_here(made).steps == {"one": "passed", "two": "passed", "three": "passed"}
    assert made.read("c") == "other\n"
    made.write("data/in1.csv", "yet another\n")
    assert run_here(made, "three").steps == {"one": "passed", "two": "passed", "three": "passed"}


def test_steps_in_a_circle_that_nobody_declares(tmp_path: Path) -> None:
    steps = [
        step("One", "cat b > a", out="a"),
        step("Two", "cat a > b", out="b"),
        step("Three", "cat a b > c", out="c"),
    ]
    made = Made.new(tmp_path / "p", steps, {"b": "1\n"})
    assert set(run_here(made, jobs=1).steps.values()) == {"passed"}
    assert set(made.states()) == {"one", "two", "three"}
    assert made.states()["three"][0] == "current"


@pytest.mark.parametrize("is_ignored", [True, False])
def test_what_was_read_undeclared_must_be_in_a_clone(tmp_path: Path, is_ignored: bool) -> None:
    made = project(tmp_path, "python a.py", a_dot_py=READ)
    made.write(".gitignore", "in2.csv\n" if is_ignored else "none\n")
    git(made.root, "rm", "-q", "--cached", IN2)
    run_here(made)
    made.commit("all")
    found = [one.text for one in made.project().check(publish=True) if one.path == IN2]
    assert any("ignore" in text for text in found) is is_ignored, found


def test_what_is_too_large_to_be_hashed_unasked_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consuming, "MOST_BYTES", 3)
    made = project(tmp_path, "cat data/in2.csv data/in3.txt > o")
    ran = run_here(made)
    assert record(made, "one").undeclared_reads.keys() == {IN2}
    assert ran.texts("note", "one") == [
        "1 of the files that it may read undeclared are too large to be watched"
    ]
