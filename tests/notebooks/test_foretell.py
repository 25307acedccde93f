"""``check`` of a notebook: what is told before anything runs, and what is not."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.apps.front import vaibify
from tests.kit import Made
from vaibify_lab.notebooks.foretell import foretell
from vaibify_lab.notebooks.foretell.telling import Around, Telling
from vaibify_lab.project.notebook_check import around
from vaibify_lab.provenance.compare.notebook_file import read_notebook

FILES = {
    "work/data/in.csv": "a,b\n1,2\n",
    "work/helper.py": "x = 1\n",
    "work/big.bin": "version https://git-lfs.github.com/spec/v1\n"
    f"oid sha256:{'ab' * 32}\nsize 99999\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    made = Made.new(tmp_path_factory.mktemp("foretell") / "p", [], FILES)
    made.write("work/late.csv", "1\n")
    return made


@cache
def _around(made: Made) -> Around:
    return around(made.project().opened, "work/n.ipynb")


def told(made: Made, *sources: str, counts: tuple[int, ...] = (), kernel: str = "python3") -> Any:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for cell, count in zip(cells, counts, strict=False):
        cell.execution_count = count
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    document = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    data = made.write("work/n.ipynb", json.dumps(document)).read_bytes()
    path = "work/n.ipynb"
    found = foretell(Telling.of(path, read_notebook(data, path)), _around(made))
    return [(one.code, re.sub(r"^work/n\.ipynb( cell)?:? ?", "", one.text)) for one in found]


BAD = [
    ("print(left_over)", "name-missing", "1: uses 'left_over', which no cell makes"),
    ("open('gone.csv')", "file-missing", "1: reads 'gone.csv', which is not here"),
    (
        "import pathlib\np = pathlib.Path('gone')\n(p / 'x.txt').read_text()",
        "file-missing",
        "gone/x",
    ),
    ("f = 'gone.csv'\nopen(f, 'r')", "file-missing", "gone.csv"),
    ("open(file='late.csv')", "file-not-committed", "a clone would not have it"),
    ("open('big.bin', 'rb')", "file-lfs", "only a git LFS pointer"),
    ("open('../../else.csv')", "file-outside", "lies outside of the repository"),
    ("open('/home/ana/x.csv')", "absolute-path", "'/home/ana/x.csv', which other people do not"),
    ("open('~/x.csv')", "absolute-path", "'~/x.csv'"),
    ("import sys\nsys.path.append('/home/ana/lib')", "absolute-path", "'/home/ana/lib'"),
    ("DATA = '/Users/ana/data/'", "absolute-path", "'/Users/ana/data/', which other people"),
    ("%cd ~/work", "absolute-path", "'~/work', which other people do not have"),
    ("%%bash\ncp C:/Users/ana/x .", "absolute-path", "'C:/Users/ana/x'"),
    ("open('C:\\\\x.csv', 'w')", "absolute-path", "which other people do not have"),
    ("import urllib.request as r\nr.urlopen('https://example.org/x')", "network", "example.org"),
    ("!pip install numpy", "network", "pip install"),
    ("!false", "shell-deaf", "a shell command (!) that fails is not heard of (cells 1)"),
    ("files = !ls", "shell-deaf", "cells 1"),
    ("import os\nif os.cpu_count():\n    !ls", "shell-deaf", "cells 1"),
    ("!ls \\\n  -l", "shell-deaf", "cells 1"),
    ("print 'old'\n", "cell-broken", "1: is no Python that runs today: Missing parentheses"),
    (
        "%%bash\nset -e\nfalse | cat\ntrue || false",
        "shell-deaf",
        "1: %%bash hears of no command in a pipe",
    ),
    ("%%bash\nfalse\ntrue", "shell-deaf", "1: %%bash goes on when one of its commands fails"),
    ("import os\nos.system('false')", "shell-deaf", "1: os.system(...) fails without raising"),
    ("%pip install numpy", "network", "pip install"),
    ("pip install numpy", "network", "pip install"),
    ("%%bash\nset -e\ncurl -O https://example.org/x", "network", "curl"),
    ("import requests\nrequests.get(url='https://example.org/x')", "network", "example.org"),
    ("import xarray as xr\nxr.tutorial.open_dataset('rasm')", "network", "tutorial.open_dataset"),
    ("import seaborn as sns\nsns.load_dataset('tips')", "network", "sns.load_dataset"),
    ("from IPython.display import Image\nImage(filename='gone.png')", "file-missing", "gone.png"),
    ("%time x = open('gone.csv')", "file-missing", "gone.csv"),
    ("%timeit -n 3 -r 1 print(left_over)", "name-missing", "1: uses 'left_over'"),
    ("x = 1\nif x: !ls", "cell-broken", "is no Python that runs today"),
    ("import os\n%%time\nos.getcwd()", "magic-missing", "1: has %%time below its first line"),
    ("%sql select 1", "magic-missing", "uses the magic %sql, which nothing loads"),
    ("%%R\nx <- 1", "magic-missing", "uses the cell magic %%R, which nothing loads"),
]


@pytest.mark.parametrize(("source", "code", "text"), BAD)
def test_what_goes_wrong_elsewhere_is_told(made: Made, source: str, code: str, text: str) -> None:
    found = told(made, source)
    [one] = [said for found_code, said in found if found_code == code]
    assert text in one
    assert {code} | {"shell-deaf"} >= {found_code for found_code, _ in found}


GOOD = [
    "open('data/in.csv').read()",
    "import helper\nhelper.x",
    "with open('out.txt', 'w') as f: f.write('1')\nprint(open('out.txt').read())",
    "import pathlib\npathlib.Path('res').mkdir()\nopen('res/x.txt')",
    "# open('gone.csv')\n'''open('gone.csv')'''",
    "if False:\n    open('gone.csv'); left_over",
    "try:\n    open('gone.csv')\nexcept OSError:\n    pass",
    "import os\nif os.path.exists('gone.csv'):\n    open('gone.csv')",
    "def later():\n    return open('gone.csv'), left_over",
    "from math import *\nsqrt(pi)",
    "print(In, Out, _, _1, __name__)\ndisplay(1)",
    "%%capture out\nprint(1)",
    "%%writefile made.csv\n1",
    "%run helper.py\nx",
    "import json\njson.loads('https://example.org')\nprint('https://example.org')",
    "url = 'https://example.org'",
    "open('/dev/null')",
    "x = {'a': 1}\nx.get('gone.csv')",
    "name = input\nfor name in ['a']:\n    pass\n[open(f'{name}.csv') for i in []]",
    "import tarfile\ntarfile.open('data/in.csv')",
    "try:\n    unicode\nexcept NameError:\n    unicode = str",
    "class A:\n    b = 1\n    c = b\nlambda z: z\n[q for q in [1]]",
    "import matplotlib_missing if False else None" if False else "x: int\nx = 1\nx",
    "%load_ext some_ext\n",
    "%%html\n<a href='https://example.org'>",
    "%%time\ny = 1",
    "x, y = %timeit -o 1\nprint(x, y)",
    "import json\nname = 'made.h5'\njson.backend(name)\nopen(name)",
    "import json\nif json.slycot_check():\n    import slycot",
    "%%bash\nset -euo pipefail\nfalse\ntrue",
    "%%bash\nset -e\ntrue || false\necho 'a|b' # c | d\ncat <<X\na | b\nX",
    "cd ..",
    "%store -r z",
    "where = 'x'\nf'{where}/home/ana/x', '~ a/b', 'see /home/ana/x', '/homes', '<~/x>'",
    "import sys\nif 'google.colab' in sys.modules:\n    sys.path.append('/home/ana')",
    "ls -l",
    "time z = 3",
    "pwd",
    "%time z = 1\nprint(z)",
    "z = %timeit -o sum([1])\nprint(z)",
    "%matplotlib inline\nprint('%d'\n      % 3)",
    "%matplotlib inline\nz = 5 \\\n    % 3",
    "%matplotlib inline\nz = '''\n!ls\n? ' (\n'''\nprint(z)",
    "%run helper.py \\\n    --fast\nz = 1",
    "    z = 1\n    z",
    ">>> z = 1\n>>> z",
    "z = [1]\nz[0].real??",
    "%time assert 1 != 2",
    "try:\n    import helper\nexcept ImportError:\n    !pip install helper\n    import helper",
    "import sys\nif 'google.colab' in sys.modules:\n    %pip install helper\n    !ls",
    "%load_ext rpy2.ipython\n%R 1",
    "import holoviews as hv\nhv.extension('bokeh')\n%opts Curve",
    "import subprocess\nsubprocess.run(['ls'], check=True)",
]


@pytest.mark.parametrize("source", GOOD)
def test_what_goes_well_or_is_not_surely_wrong_is_not_told(made: Made, source: str) -> None:
    assert told(made, source) == []


STEPS = [
    "%%vaibify step A --output o --language R\nd <- data.frame(x = 1)\nif (TRUE) {}",
    "%%vaibify step A --output o --language=bash\nfor i in 1 2; do echo $i; done",
    "%%time\n%%vaibify step A --language julia --output o\nx = [i for i in 1:3]\nend",
    "%%vaibify step A --input work/data/in.csv\nopen('work/data/in.csv')",
    "%%vaibify step A --directory work --input work/data/in.csv\nopen('data/in.csv')",
]


@pytest.mark.parametrize("source", STEPS)
def test_a_step_cell_is_read_in_its_language_and_from_its_folder(made: Made, source: str) -> None:
    assert told(made, "%load_ext vaibify_lab", source) == []


def test_cells_are_read_in_their_order(made: Made) -> None:
    found = told(made, "print(x)", "x = 1", "x", counts=(3, 1, 2))
    assert found == [
        ("out-of-order", "2: was run before a cell above it (1 after 3)"),
        ("name-below", "1: uses 'x', which only a cell below it makes"),
    ]
    assert told(made, "x = 1", "!unzip all.zip", "open('gone.csv')")[0][0] == "shell-deaf"
    step = "%%vaibify step A --output a.txt\nopen('gone.csv')"
    assert told(made, "%load_ext vaibify_lab", step) == [
        ("file-missing", "2: reads 'gone.csv', which is not here")
    ]
    assert told(made, "1", kernel="my-env")[0] == (
        "kernel-missing",
        "asks for the kernel 'my-env', which is not on this machine: this Python's is used",
    )


def test_step_cells_share_files_and_no_names(made: Made) -> None:
    step = "%%vaibify step A --output work/o.csv\nx = 1\nopen('work/o.csv', 'w').write('1')"
    assert told(made, "%load_ext vaibify_lab", step, "open('o.csv')", "print(x)") == [
        ("name-missing", "4: uses 'x', which no cell makes")
    ]
    declared = "%%vaibify step A --plot work/fig/\nimport helper"
    assert told(made, "%load_ext vaibify_lab", declared, "open('fig/a.png')") == []
    away = "%%vaibify step A --directory work\nopen('work/data/in.csv')"
    assert told(made, "%load_ext vaibify_lab", away) == [
        ("file-missing", "2: reads 'work/data/in.csv', which is not here")
    ]


def test_the_verb_takes_notebooks(made: Made, tmp_path: Path) -> None:
    told(made, "open('gone.csv')\nimport no_such_module_x, helper")
    done = vaibify(made.root / "work", "check", "n.ipynb", "--json")
    answer = json.loads(done.out)
    assert done.code == 1 and not answer["passed"]
    assert [(one["code"], one["path"]) for one in answer["findings"]] == [
        ("module-missing", "work/n.ipynb"),
        ("file-missing", "work/n.ipynb"),
    ]
    spoken = vaibify(made.root, "check", "work/n.ipynb")
    assert spoken.code == 1
    assert "work/n.ipynb cell 1: reads 'gone.csv', which is not here" in spoken.out
    told(made, "x = 1")
    assert vaibify(made.root, "check", "work/n.ipynb").code == 0
    told(made, "x = 1", "\n\nimport no_such_module_x", "import also_not_there_x")
    spoken = vaibify(made.root, "check", "work/n.ipynb")
    assert "work/n.ipynb cell 2 imports 'no_such_module_x'" in spoken.out
    assert "work/n.ipynb cell 3 imports 'also_not_there_x'" in spoken.out
    gone = vaibify(made.root, "check", "none.ipynb")
    assert gone.code == 2 and "none.ipynb" in gone.err


def test_a_notebook_is_checked_before_there_is_a_workflow(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [], {"helper.py": "x = 1\n"})
    (made.root / "workflow.json").unlink()
    step = "%%vaibify step A --output o.txt\nopen('gone.csv')"
    cells = ["%load_ext vaibify_lab", step, "import helper", "import no_such_module_x"]
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    made.write("n.ipynb", json.dumps(document))
    done = vaibify(made.root, "check", "n.ipynb", "--json")
    codes = [one["code"] for one in json.loads(done.out)["findings"]]
    assert done.code == 1 and codes[:2] == ["module-missing", "file-missing"]
    assert not (made.root / "workflow.json").exists()
    assert vaibify(made.root, "check").code == 2
    assert vaibify(made.root, "check", "--workflow", "other", "n.ipynb").code == 2


KERNEL = "%load_ext vaibify_lab\ndf = 1"


def test_names_that_a_step_cell_takes_from_the_kernel(made: Made) -> None:
    step = "%%vaibify step A --output o.csv\nprint(df, 1)\nopen('o.csv', 'w').write(str(df))"
    assert told(made, KERNEL, step, "df = 2") == [
        (
            "name-of-kernel",
            "2: is a step that uses 'df', which only cells 1, 3 make, in the kernel",
        )
    ]
    assert told(made, KERNEL, step.replace("df", "nobodys"))[0] == (
        "name-missing",
        "2: is a step that uses 'nobodys', which it does not make",
    )
    other = "%%vaibify step B --output o.csv\ndf = 3\nif df:\n    print(perhaps)"
    assert told(made, KERNEL, other) == []
    assert told(made, KERNEL, step.replace("step A", "step A --language R")) == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("step Bad --outpt o.csv", "--outpt"),
        ("step", "NAME"),
        ("step 'A", "not closed"),
        ("stp A", "'stp' is nothing that a cell can be"),
    ],
)
def test_a_line_that_makes_no_step(made: Made, line: str, text: str) -> None:
    found = told(made, "%load_ext vaibify_lab", f"%%vaibify {line}\nx = 1", "print(x)")
    assert [code for code, _ in found] == ["name-missing", "step-line"]
    assert text in found[1][1]


def test_step_cells_without_code_or_with_another_magic(made: Made) -> None:
    for body, text in (("# \n\n", ""), ("", "holds no code"), ("%%bash\nls", "(%%bash)")):
        found = told(made, "%load_ext vaibify_lab", f"%%vaibify step A --output o\n{body}")
        assert [code for code, _ in found] == (["step-line"] if text else [])
        assert all(text in one for _, one in found)
