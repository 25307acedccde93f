"""Files that a step's code reads and the step does not declare, told by ``check``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import Made
from tests.notebooks.books import book
from vaibify_lab.runs.opened import Opened

STEP = {
    "sName": "Fit",
    "sDirectory": "study",
    "saDataCommands": ["python fit.py"],
    "saInputDataFiles": ["data/in.csv", "given/"],
    "saDataFiles": ["study/out.csv"],
    "bNoTests": True,
}
FILES = {"data/in.csv": "1", "given/a.csv": "1", "study/more.csv": "1", "data/else.csv": "1"}
MAIN = "def main():\n    {}\n\nif __name__ == '__main__':\n    main()\n"


def code_of(made: Made) -> list[str]:
    """Return the code of the step."""
    opened = Opened(made.root, cached=False)
    return list(opened.observer.scout.code_of(opened.workflow("workflow.json").steps[0]).files)


def told(made: Made) -> list[tuple[str, str]]:
    """Return what is said of undeclared inputs, and the files."""
    found = [one for one in made.project().check() if one.code == "undeclared-input"]
    assert all((one.level, one.step) == ("warning", "fit") for one in found)
    return [(one.text, one.path or "") for one in found]


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("open('more.csv')", "study/more.csv"),
        (MAIN.format("open('more.csv')"), "study/more.csv"),
        ("import pandas as pd\npd.read_csv('../data/else.csv')", "data/else.csv"),
        (
            "from pathlib import Path\nB = Path('..')\n(B / 'data/else.csv').read_text()",
            "data/else.csv",
        ),
        ("import helper", "study/more.csv"),
    ],
)
def test_what_is_read_undeclared(tmp_path: Path, code: str, path: str) -> None:
    helper = {"study/helper.py": "TABLE = open('more.csv').read()\n"}
    made = Made.new(tmp_path / "p", [STEP], {**FILES, **helper, "study/fit.py": code})
    [(text, where)] = told(made)
    assert where == path
    assert text.endswith(f"reads {path!r}, which is not declared")
    declared = [*STEP["saInputDataFiles"], path]
    made.workflow([{**STEP, "saInputDataFiles": declared}])
    assert told(made) == []


@pytest.mark.parametrize(
    "code",
    [
        "open('../data/in.csv')\nopen('../given/a.csv')",
        "open('out.csv', 'w').write('1')\nopen('out.csv').read()",
        "open('more.csv', 'w').write('1')",
        '"""Not more.csv."""\nx = 1',
        "open('gone.csv')",
        "open('/etc/hostname')\nopen('../../outside.csv')",
        "open('fit.py')",
        "import pandas as pd\npd.read_csv('https://example.org/more.csv')",
        "import sys\nopen(sys.argv[1])",
        "import glob\nglob.glob('*.txt')",
        "print('more')",
        "this is no Python",
    ],
)
def test_what_is_declared_own_or_not_here(tmp_path: Path, code: str) -> None:
    made = Made.new(tmp_path / "p", [STEP], {**FILES, "study/fit.py": code})
    assert told(made) == []


GLOB = "import glob\nimport os\nfrom pathlib import Path\n"


@pytest.mark.parametrize(
    ("code", "fits"),
    [
        ("glob.glob('*.csv')", "'*.csv': 'study/more.csv' is"),
        ("for one in sorted(glob.iglob('*.csv')):\n    open(one)", "'*.csv': 'study/more.csv' is"),
        ("glob.glob('s*/?.csv')", "'s*/?.csv': 'study/sub/a.csv' and 1 more are"),
        ("D = Path('sub')\nD.glob('*.csv')", "'sub/*.csv': 'study/sub/a.csv' and 1 more are"),
        ("for one in os.listdir('sub'):\n    pass", "'sub/*': 'study/sub/a.csv' and 1 more are"),
        ("sorted(Path('sub').iterdir())", "'sub/*': 'study/sub/a.csv' and 1 more are"),
        ("list(os.walk('..'))", "'../**/*': 'data/else.csv' and 4 more are"),
        ("Path('.').rglob('*.csv')", "'./**/*.csv': 'study/more.csv' and 2 more are"),
        ("import dask as d\nd.read_csv('sub/[a-m].csv')", "'sub/[a-m].csv': 'study/sub/a.csv' is"),
        ("glob.glob('../data/*.csv')", "'../data/*.csv': 'data/else.csv' and 1 more are"),
        ("glob.glob('../given/*.csv')", None),
        ("open('sub/[1].csv')", "'study/sub/[1].csv', which is"),
        (
            "(Path(__file__).parent.parent / 'data').glob('**/*.csv')",
            "'data/**/*.csv': 'data/else.csv' and 1 more are",
        ),
        ("(Path(__file__).parent.parent.parent / 'data').glob('**/*.csv')", None),
        ("glob.glob('../../*')", None),
        ("glob.glob('sub/*.txt')", None),
        ("glob.glob('sub/.*')", "'sub/.*': 'study/sub/.hidden' is"),
        ("glob.glob('/'.join(['**'] * 40) + '*')", None),
        (f"glob.glob('{'/'.join(['**'] * 40)}/*.none')", None),
    ],
)
def test_what_fits_a_pattern(tmp_path: Path, code: str, fits: str | None) -> None:
    other = {"sName": "Other", "saDataCommands": ["true"], "saDataFiles": ["data/made.csv"]}
    names = ("a.csv", "z.csv", ".hidden")
    below = {f"study/sub/{name}": "1" for name in names}
    below |= {"study/sub/[1].csv": "1"} if "[1]" in code else {}
    made = Made.new(
        tmp_path / "p", [STEP, other], {**FILES, **below, "study/fit.py": f"{GLOB}{code}"}
    )
    said = [text for text, _ in told(made)]
    assert [text.partition(" reads ")[2] for text in said] == (
        [f"{fits} not declared"] if fits else []
    )


PATH = "from pathlib import Path\n"


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("open('more.csv', 'w').write('1')\nopen('more.csv').read()", "study/more.csv"),
        (PATH + "(Path(__file__).resolve().parent.parent / 'data' / 'else.csv')", "data/else.csv"),
        ("import os\nos.path.join(os.path.dirname(__file__), 'more.csv')", "study/more.csv"),
        ("def load(path):\n    open(path)\nload('more.csv')", "study/more.csv"),
        ("import argparse as a\na.ArgumentParser(x='../data/else.csv')", "data/else.csv"),
        ("import sqlite3\nsqlite3.connect('more.csv')", "study/more.csv"),
    ],
)
def test_what_is_named_in_other_ways(tmp_path: Path, code: str, path: str) -> None:
    made = Made.new(tmp_path / "p", [STEP], {**FILES, "study/sub.py": "", "study/fit.py": code})
    [(text, where)] = told(made)
    assert where == path
    assert text.endswith(f" {path!r}, which is not declared")


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess, sys\nsubprocess.run([sys.executable, 'sub.py'])",
        "import os\nos.system('python sub.py x')",
        "import runpy\nrunpy.run_path('sub.py')",
    ],
)
def test_what_it_runs_is_its_code(tmp_path: Path, code: str) -> None:
    made = Made.new(tmp_path / "p", [STEP], {**FILES, "study/sub.py": "", "study/fit.py": code})
    assert told(made) == []
    assert code_of(made) == ["study/fit.py", "study/sub.py"]


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("open('/data/lab/a.csv')", "/data/lab/a.csv"),
        ("import pandas as pd\npd.read_csv('~/a.csv')", "~/a.csv"),
        ("open('/home/ada/out.csv', 'w').write('1')", "/home/ada/out.csv"),
        ("open('/etc/hostname')\nopen('/tmp/x')\nopen('/proc/cpuinfo')", None),
        ("import os\nif os.path.exists('/data/lab'):\n    open('/data/lab/a.csv')", None),
    ],
)
def test_a_place_of_one_machine_in_a_script(tmp_path: Path, code: str, named: str | None) -> None:
    made = Made.new(tmp_path / "p", [STEP], {**FILES, "study/fit.py": code})
    found = [one.text for one in made.project().check() if one.code == "absolute-path"]
    line = code.count("\n") + 1
    said = f"study/fit.py:{line} names {named!r}, which other people do not have"
    assert found == ([said] if named else [])


def test_what_another_step_makes_is_missed_before_it_is_there(tmp_path: Path) -> None:
    other = {"sName": "Other", "saDataCommands": ["true"], "saDataFiles": ["data/made.csv"]}
    code = "import numpy as np\nnp.loadtxt('../data/made.csv')"
    made = Made.new(tmp_path / "p", [STEP, other], {**FILES, "study/fit.py": code})
    text = "study/fit.py:2 reads 'data/made.csv', which step 'other' makes: it is not declared"
    assert told(made) == [(text, "data/made.csv")]


@pytest.mark.parametrize(
    ("command", "more", "path"),
    [
        ("cd sub && make -s all", {}, ["sub/Makefile", "sub/part.mk"]),
        ("make -j2 -C sub", {}, ["sub/Makefile", "sub/part.mk"]),
        ("make -C sub", {"saScripts": ["sub/Makefile"]}, ["sub/Makefile", "sub/part.mk"]),
        ("make -f sub/other.mk", {"saInputDataFiles": ["sub/other.mk"]}, ["sub/other.mk"]),
        ("make", {}, []),
        ("echo make -C sub", {}, []),
        ("snakemake -c1", {}, ["Snakefile"]),
    ],
)
def test_the_file_that_a_program_reads_unasked_is_its_code(
    tmp_path: Path, command: str, more: dict[str, list[str]], path: list[str]
) -> None:
    step = {"sName": "Fit", "saDataCommands": [command], "saDataFiles": ["o"], **more}
    rules = "include part.mk\nall:\n\ttouch ../o\n"
    files = {"sub/Makefile": rules, "sub/part.mk": "", "sub/other.mk": "", "Snakefile": ""}
    made = Made.new(tmp_path / "p", [step], files)
    assert (told(made), code_of(made)) == ([], path)


def test_what_a_test_compares_with(tmp_path: Path) -> None:
    step = {**STEP, "bNoTests": False, "saTestCommands": ["python -m pytest ../tests/test_fit.py"]}
    code = "def test():\n    assert open('out.csv').read() == open('../tests/ref.txt').read()"
    files = {**FILES, "study/fit.py": "", "tests/test_fit.py": code, "tests/ref.txt": "1"}
    made = Made.new(tmp_path / "p", [step], files)
    text = "tests/test_fit.py:2 names 'tests/ref.txt', which is not declared"
    assert told(made) == [(text, "tests/ref.txt")]


def test_a_notebooks_cells_share_their_names(tmp_path: Path) -> None:
    step = {
        "sName": "Fit",
        "sNotebook": "study/n.ipynb",
        "saOutputFiles": ["study/done.ipynb"],
        "bNoInputData": True,
    }
    cells = book("name = 'more.csv'", "%matplotlib inline\nopen(name)")
    made = Made.new(tmp_path / "p", [step], {**FILES, "study/n.ipynb": cells})
    assert told(made) == [
        (
            "study/n.ipynb reads 'study/more.csv', which is not declared",
            "study/more.csv",
        )
    ]


@pytest.mark.parametrize(
    ("code", "told_of"),
    [
        ("from pathlib import Path\nD = Path(__file__).parent / 'sub'\nD.glob(x)", True),
        ("import sys\ndef load(where):\n    pass\nload('../study/sub')", True),
        ("from pathlib import Path\nopen(Path('../data') / 'in.csv')", False),  # a part is declared
        ("import os\nos.makedirs('../made/more', exist_ok=True)", False),
        ("import sys\nsys.path.insert(0, '../study/lib')", False),  # modules, not data
        ("print('sub')", False),
        ("x = '../study'", False),  # where the step runs
    ],
)
def test_a_folder_that_is_named_is_told_where_nothing_of_it_is_declared(
    tmp_path: Path, code: str, told_of: bool
) -> None:
    more = {
        "study/sub/a.csv": "1",
        "study/sub/b.csv": "1",
        "study/lib/mod.py": "",
        "made/more/x": "1",
    }
    made = Made.new(tmp_path / "p", [STEP], {**FILES, **more, "study/fit.py": code})
    said = [text.partition(" names ")[2] for text, _ in told(made)]
    text = "the folder 'study/sub': 'study/sub/a.csv' and 1 more are not declared"
    assert said == ([text] if told_of else [])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cat ../parts/*.csv > out.csv", "parts/*.csv"),
        ("cd ../parts && cat ?.csv > ../study/out.csv", "parts/?.csv"),
        ('bash -c "cat ../parts/*.csv" > out.csv', "parts/*.csv"),
        ("python merge.py ../parts out.csv", "parts"),
        ("cp -r ../parts/ here", "parts"),
        ("grep '../parts/*.csv' ../data/in.csv > out.csv", None),
        ("mkdir -p ../parts && rm -f ../parts/*", None),
        ("cat ../given/*.csv > out.csv", None),
        ("cat *.none > out.csv", None),
        ("python merge.py ../data", None),  # a part of it is declared
        ("command -v bc && python merge.py", None),
    ],
)
def test_what_a_command_reads_by_a_pattern_or_a_folder(
    tmp_path: Path, command: str, name: str | None
) -> None:
    step = {**STEP, "saDataCommands": [command]}
    files = {**FILES, "parts/a.csv": "1", "parts/b.csv": "1", "study/merge.py": ""}
    made = Made.new(tmp_path / "p", [step], files)
    text = f"a command names {name!r}: 'parts/a.csv' and 1 more are not declared"
    assert told(made) == ([(text, "parts/a.csv")] if name else [])
    assert not [one for one in made.project().check() if one.code == "program-missing"]
