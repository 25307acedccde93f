"""The code that scripts reach, held against what Python itself imports."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pace import takes_at_most
from vaibify_lab.core.commands import Named
from vaibify_lab.files.imports import CodeScan, CodeScanner, reachable_code
from vaibify_lab.files.tree import Tree

DUMP = """
import atexit, json, sys
def dump():
    files = [getattr(one, "__file__", None) for one in list(sys.modules.values())]
    print(json.dumps(sorted(one for one in files if one)))
atexit.register(dump)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "root").mkdir()
    return Tree(tmp_path / "root")


def put(tree: Tree, **files: str) -> None:
    """``a__b_py`` would be unreadable: names are given as they are, by ``**{...}``."""
    for name, text in files.items():
        tree.write(name, text.encode())


def imported_by_python(tree: Tree, script: str, directory: str = "") -> set[str]:
    """Run a script for real, and return the files of the tree that it imported."""
    done = subprocess.run(
        [
            sys.executable,
            "-B",
            "-S",
            "-c",
            f"{DUMP}\nimport runpy\nsys.argv[0] = sys.argv[1]\n"
            "import os\nsys.path[0] = os.path.dirname(os.path.abspath(sys.argv[1]))\n"
            "runpy.run_path(sys.argv[1], run_name='__main__')",
            str(tree.root / script),
        ],
        cwd=tree.root / directory,
        capture_output=True,
        text=True,
        check=False,
    )
    files = json.loads(done.stdout.splitlines()[-1])
    root = f"{tree.root}/"
    return {one.removeprefix(root) for one in files if one.startswith(root)} | {script}


def test_every_form_of_import_as_python_does_it(tree: Tree) -> None:
    put(
        tree,
        **{
            "scripts/fit.py": (
                "import os, helper, pkg.sub.deep\n"
                "from pkg import member, VALUE\n"
                "from pkg.star import *\n"
                "from ns.inner import thing\n"
                "import importlib\n"
                "importlib.import_module('lazy.one')\n"
                "__import__('lazy.two')\n"
                "def later():\n    import in_function\n"
                "later()\n"
                "try:\n    import in_try\nexcept ImportError:\n    pass\n"
                "class C:\n    from in_class import x\n"
            ),
            "scripts/helper.py": "from helper2 import f\n",
            "scripts/helper2.py": "def f(): pass\n",
            "scripts/pkg/__init__.py": "from . import relative\nVALUE = 1\n",
            "scripts/pkg/relative.py": "from .sub import sibling\nfrom .sub.deep import q\n",
            "scripts/pkg/member.py": "",
            "scripts/pkg/unused.py": "",
            "scripts/pkg/sub/__init__.py": "",
            "scripts/pkg/sub/sibling.py": "from .. import upstairs\n",
            "scripts/pkg/sub/deep.py": "q = 1\n",
            "scripts/pkg/upstairs.py": "",
            "scripts/pkg/star/__init__.py": "__all__ = ['starred']\n",
            "scripts/pkg/star/starred.py": "",
            "scripts/pkg/star/other.py": "",
            "scripts/ns/inner/thing.py": "",
            "scripts/lazy/one.py": "",
            "scripts/lazy/two.py": "",
            "scripts/in_function.py": "",
            "scripts/in_try.py": "",
            "scripts/in_class.py": "x = 1\n",
            "scripts/never.py": "",
        },
    )
    expected = imported_by_python(tree, "scripts/fit.py")
    assert len(expected) == 18
    assert reachable_code(tree, ["scripts/fit.py"], "") == CodeScan(tuple(sorted(expected)))


def test_script_folder_first_then_working_directory(tree: Tree) -> None:
    put(
        tree,
        **{
            "step/run.py": "import both, only_here, only_below\n",
            "step/both.py": "",
            "work/both.py": "",
            "work/only_here.py": "",
            "step/only_below.py": "",
        },
    )
    found = reachable_code(tree, ["step/run.py"], "work")
    assert found == CodeScan(
        ("step/both.py", "step/only_below.py", "step/run.py", "work/only_here.py")
    )


def test_module_given_by_m(tree: Tree) -> None:
    put(
        tree,
        **{
            "work/tool/__init__.py": "",
            "work/tool/__main__.py": "from . import part\n",
            "work/tool/part.py": "import beside\n",
            "work/beside.py": "",
            "work/mod.py": "",
        },
    )
    assert reachable_code(tree, [], "work", ["tool", "mod", "http.server", "pytest"]) == CodeScan(
        (
            "work/beside.py",
            "work/mod.py",
            "work/tool/__init__.py",
            "work/tool/__main__.py",
            "work/tool/part.py",
        ),
        (("pytest", "", 0),),
    )


def test_standard_library_is_shadowed_by_the_script_folder_only(tree: Tree) -> None:
    put(
        tree,
        **{
            "step/run.py": "import random, statistics\n",
            "step/random.py": "",
            "statistics.py": "",
            "statistics/x.py": "",
            "json/data.txt": "",
        },
    )
    expected = imported_by_python(tree, "step/run.py")
    assert expected == {"step/run.py", "step/random.py"}
    assert reachable_code(tree, ["step/run.py"], "") == CodeScan(tuple(sorted(expected)))


def test_package_before_module_before_folder(tree: Tree) -> None:
    put(
        tree,
        **{
            "run.py": "import a.x, b, c.x\n",
            "a/__init__.py": "",
            "a/x.py": "",
            "a.py": "",
            "b/x.py": "",
            "b.py": "",
            "c/x.py": "",
            "src/c/y.py": "",
        },
    )
    expected = imported_by_python(tree, "run.py")
    assert expected == {"run.py", "a/__init__.py", "a/x.py", "b.py", "c/x.py"}
    assert reachable_code(tree, ["run.py"], "") == CodeScan(tuple(sorted(expected)))


def test_modules_that_a_search_path_would_add(tree: Tree) -> None:
    """At the root, in src, and in constant folders of ``sys.path``."""
    put(
        tree,
        **{
            "a/scripts/run.py": (
                "import sys, os\n"
                "sys.path.insert(0, '../lib')\n"
                "sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'more'))\n"
                "import at_root, in_src, in_lib, in_more, nowhere\n"
            ),
            "at_root.py": "",
            "src/in_src/__init__.py": "",
            "a/lib/in_lib.py": "import in_lib2\n",
            "a/lib/in_lib2.py": "",
            "more/in_more.py": "",
        },
    )
    found = reachable_code(tree, ["a/scripts/run.py"], "")
    assert found == CodeScan(
        (
            "a/lib/in_lib.py",
            "a/lib/in_lib2.py",
            "a/scripts/run.py",
            "at_root.py",
            "more/in_more.py",
            "src/in_src/__init__.py",
        ),
        (("nowhere", "a/scripts/run.py", 4),),
    )


@pytest.mark.parametrize(
    "line",
    [
        "sys.path.insert(0, 'src')",
        "sys.path.insert(0, os.path.abspath('src'))",
        "sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'src'))",
        "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'src'))",
        "sys.path = ['src'] + sys.path",
        "sys.path = ['src', *sys.path]",
        "sys.path[:0] = ['src']",
        "sys.path[0] = 'src'",
        "sys.path.append('src')",
        "sys.path += ['src']",
    ],
)
def test_a_module_that_two_folders_have(tree: Tree, line: str) -> None:
    """Which of them is imported is Python's affair at that moment: both count."""
    both = {"src/utils.py": "import below", "scripts/utils.py": "", "src/below.py": ""}
    head = f"import os, sys\nfrom pathlib import Path\n{line}\nimport utils\n"
    put(tree, **both, **{"scripts/fit.py": head})
    found = reachable_code(tree, ["scripts/fit.py"], "")
    assert set(found.files) == {*both, "scripts/fit.py"}
    ran = {os.path.normpath(one) for one in imported_by_python(tree, "scripts/fit.py")}
    assert ran <= set(found.files)
    assert found.missing_modules == found.problems == ()


def test_missing_modules(tree: Tree) -> None:
    put(
        tree,
        **{
            "run.py": (
                "import numpy as np, os.path\n"
                "from scipy.optimize import curve_fit\n"
                "import scipy.stats\n"
                "import helper\n"
                "try:\n"
                "    import tomllib2\n"
                "except ModuleNotFoundError:\n"
                "    import tomli\n"
                "else:\n"
                "    import after\n"
                "finally:\n"
                "    import always\n"
                "try:\n"
                "    import strict\n"
                "except ValueError:\n"
                "    pass\n"
                "from contextlib import suppress\n"
                "import contextlib, typing, sys\n"
                "from typing import TYPE_CHECKING\n"
                "with contextlib.suppress(ImportError):\n"
                "    import maybe\n"
                "if typing.TYPE_CHECKING or TYPE_CHECKING:\n"
                "    import pandas\n"
                "if sys.version_info < (3, 11):\n"
                "    import exceptiongroup\n"
                "def f():\n"
                "    import lazily\n"
                "from . import nothing\n"
                "import __main__, __future__\n"
                "import importlib\n"
                "importlib.import_module('dynamic.part')\n"
                "importlib.import_module(name)\n"
                "import datafolder\n"
            ),
            "helper.py": "import numpy\n",
            "datafolder/x.csv": "",
        },
    )
    assert reachable_code(tree, ["run.py"], "").missing_modules == (
        ("always", "run.py", 12),
        ("datafolder", "run.py", 33),
        ("dynamic", "run.py", 31),
        ("lazily", "run.py", 27),
        ("numpy", "helper.py", 1),
        ("numpy", "run.py", 1),
        ("scipy", "run.py", 2),
        ("strict", "run.py", 14),
    )


def test_guarded_imports_of_the_repository_count(tree: Tree) -> None:
    put(
        tree,
        **{
            "run.py": (
                "try:\n    import fast\nexcept ImportError:\n    import slow\n"
                "import importlib\n"
                "importlib.import_module('.late', package='pkg.sub')\n"
                "importlib.import_module('..up', package='pkg.sub')\n"
            ),
            "fast.py": "",
            "slow.py": "",
            "pkg/__init__.py": "",
            "pkg/sub/__init__.py": (
                "import importlib\nimportlib.import_module('.own', __package__)\n"
            ),
            "pkg/sub/late.py": "",
            "pkg/sub/own.py": "",
            "pkg/up.py": "",
        },
    )
    assert reachable_code(tree, ["run.py"], "").files == (
        "fast.py",
        "pkg/__init__.py",
        "pkg/sub/__init__.py",
        "pkg/sub/late.py",
        "pkg/sub/own.py",
        "pkg/up.py",
        "run.py",
        "slow.py",
    )


def test_compiled_module_counts_beside_its_source(tree: Tree) -> None:
    put(
        tree,
        **{
            "run.py": "import fast, other, plain\n",
            "fast.cpython-313-x86_64-linux-gnu.so": "",
            "fast.py": "",
            "other.abi3.so": "",
            "plain.so": "",
        },
    )
    assert reachable_code(tree, ["run.py"], "") == CodeScan(
        ("fast.cpython-313-x86_64-linux-gnu.so", "fast.py", "other.abi3.so", "plain.so", "run.py")
    )


def test_circular_imports_end(tree: Tree) -> None:
    put(tree, **{"a.py": "import b\n", "b.py": "import a, b\nfrom . import a\n"})
    assert reachable_code(tree, ["a.py"], "") == CodeScan(("a.py", "b.py"))


def test_relative_import_above_the_root_is_nothing(tree: Tree) -> None:
    put(tree, **{"a.py": "from ... import x\nfrom ...y import z\n"})
    assert reachable_code(tree, ["a.py"], "") == CodeScan(("a.py",))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import helper\nx = (\n", "does not parse as Python, line 2 ('(' was never closed)"),
        ("import helper\nprint 'x'\n", "does not parse as Python, line 2 (Missing parentheses"),
        ("import helper\n\0", "does not parse as Python (source code string cannot contain"),
        ("import helper\nx = " + "-" * 200_000 + "1", "does not parse as Python (MemoryError)"),
        ("import helper\nx = " + "1+" * 100_000 + "1", "does not parse as Python (maximum rec"),
        ("# coding: nosuch\nimport helper\n", "does not parse as Python"),
        ("def f(:\n  from helper import (\n    a,\n", "does not parse as Python, line 1"),
        ("type X = int; x = 1 1\nif 1: pass\nimport helper; y\n", "does not parse as Python"),
    ],
)
def test_source_that_does_not_parse_is_said_and_still_searched(
    tree: Tree, source: str, said: str
) -> None:
    put(tree, **{"run.py": source, "helper.py": "import deeper\n", "deeper.py": ""})
    found = reachable_code(tree, ["run.py"], "")
    assert (found.files, found.missing_modules) == (("deeper.py", "helper.py", "run.py"), ())
    (problem,) = found.problems
    assert problem.startswith(f"run.py: {said}")
    assert problem.endswith(": its imports may not all be known")


def test_odd_encodings_and_escapes(tree: Tree) -> None:
    tree.write("a.py", b"\xef\xbb\xbfimport b\n")
    tree.write("b.py", b"# coding: latin-1\nx = '\xe9\\d'\nimport c\n")
    tree.write("c.py", b"")
    assert reachable_code(tree, ["a.py"], "") == CodeScan(("a.py", "b.py", "c.py"))


def test_links_are_named_and_not_followed(tree: Tree, tmp_path: Path) -> None:
    put(tree, **{"run.py": "import linked, package.x\n", "real.py": "import secret\n"})
    (tree.root / "linked.py").symlink_to("real.py")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.py").write_text("")
    (tree.root / "package").symlink_to(tmp_path / "outside")
    assert reachable_code(tree, ["run.py"], "") == CodeScan(
        ("linked.py", "package", "run.py"),
        (),
        (
            "linked.py: is a symbolic link: what it imports is not known",
            "package: is a symbolic link: what it imports is not known",
        ),
    )


def test_script_that_is_missing_or_too_large_or_of_another_kind(tree: Tree) -> None:
    put(
        tree, **{"big.py": "import os\n" + "#" * 4 * 2**20, "x.pl": "use helper;", "bin": "\x7fELF"}
    )
    assert reachable_code(tree, ["big.py", "none.py", "x.pl", "bin"], "") == CodeScan(
        ("big.py", "bin", "none.py", "x.pl"),
        (),
        (
            "big.py: is larger than the 4194304 bytes that are read of such a file: "
            "what it imports is not known",
        ),
    )


def notebook(*cells: str | list[str], **metadata: object) -> str:
    return json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": "import markdown"},
                *({"cell_type": "code", "source": cell, "outputs": []} for cell in cells),
            ],
            "metadata": metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def test_long_source_is_searched_line_by_line(tree: Tree) -> None:
    text = "import helper\nx = 1\n" + "y = 2\n" * 100_000 + "if x:\n    from far import z\n"
    put(tree, **{"run.py": text, "helper.py": "", "far.py": ""})
    assert reachable_code(tree, ["run.py"], "") == CodeScan(
        ("far.py", "helper.py", "run.py"),
        (),
        ("run.py: is larger than 524288 bytes: only its plain import lines were read",),
    )


def test_notebook(tree: Tree) -> None:
    put(
        tree,
        **{
            "nb/a.ipynb": notebook(
                "%matplotlib inline\n%load_ext ext\nimport first\n!python called.py --x",
                [
                    "import second\n",
                    "files = !ls\n",
                    "if files:\n",
                    "    %run ran.py -v\n",
                    "second?",
                ],
                "this does not parse\nimport third",
                "%%bash\nsource env.sh\nimport not_python",
                "%%timeit -n 1\nimport timed",
                "%%vaibify step Fit --input x\nimport in_step\nawait nothing",
                "%%html\nimport not_python",
                "x = (7\n  % 4)\nimport missing",
            ),
            **{f"nb/{name}.py": "" for name in ("first", "second", "third", "timed", "in_step")},
            "nb/ext.py": "",
            "nb/ran.py": "import by_ran\n",
            "nb/by_ran.py": "",
            "nb/called.py": "",
            "nb/env.sh": "",
            "nb/not_python.py": "",
        },
    )
    found = reachable_code(tree, ["nb/a.ipynb"], "")
    names = ["a.ipynb", "by_ran.py", "called.py", "env.sh", "ext.py", "first.py", "in_step.py"]
    names += ["ran.py", "second.py", "third.py", "timed.py"]
    assert found.files == tuple(f"nb/{name}" for name in sorted(names))
    assert found.missing_modules == (("missing", "nb/a.ipynb", 24),)
    (problem,) = found.problems
    assert problem.startswith("nb/a.ipynb: does not parse as Python, line 10 (invalid syntax)")


def test_an_extension_that_a_cell_loads_is_imported(tree: Tree) -> None:
    cells = [
        "%load_ext watched\n%load_ext autoreload\n%autoreload 2\n%load_ext vaibify_lab",
        "%matplotlib widget\n%time import timed",
        "try:\n    %load_ext perhaps\nexcept ImportError:\n    pass",
        "%matplotlib inline\ntext = '''\n%load_ext none\n!python none.py\n'''",
        "%load_ext \\\n  late",
    ]
    put(tree, **{"a.ipynb": notebook(*cells), "none.py": ""})
    found = reachable_code(tree, ["a.ipynb"], "")
    assert found.files == ("a.ipynb",)
    expected = [("ipympl", 5), ("late", 16), ("timed", 6), ("watched", 1)]
    assert found.missing_modules == tuple((name, "a.ipynb", line) for name, line in expected)


def test_a_module_that_a_cell_writes_is_not_missing(tree: Tree) -> None:
    text = notebook("%%writefile helper.py\nimport deeper\nVALUE = 1", "import helper, gone")
    put(tree, **{"a.ipynb": text, "deeper.py": ""})
    found = reachable_code(tree, ["a.ipynb"], "")
    assert found.files == ("a.ipynb", "deeper.py")
    assert [one[0] for one in found.missing_modules] == ["gone"]


def test_a_folder_that_python_runs(tree: Tree) -> None:
    put(tree, **{"app/__main__.py": "import beside\n", "app/beside.py": "", "beside.py": ""})
    assert reachable_code(tree, ["app"], "").files == ("app/__main__.py", "app/beside.py")


def test_n05_a_notebook_of_format_3_has_its_cells_on_sheets(tree: Tree) -> None:
    cells = [
        {"cell_type": "code", "input": ["import helper\n", "x = 1"], "language": "python"},
        {"cell_type": "markdown", "source": "import none"},
    ]
    value = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    tree.write("helper.py", b"")
    tree.write("old.ipynb", json.dumps(value).encode())
    found = CodeScanner(tree).scan(["old.ipynb"], "")
    assert (set(found.files), found.problems) == ({"helper.py", "old.ipynb"}, ())


def test_notebooks_of_other_languages(tree: Tree) -> None:
    put(
        tree,
        **{
            "r.ipynb": notebook('source("x.R")', kernelspec={"language": "R"}),
            "sh.ipynb": notebook(". lib", language_info={"name": "bash"}),
            "odd.ipynb": notebook("import x", kernelspec={"language": "cobol"}),
            "x.R": "",
            "lib": "",
            "x.py": "",
        },
    )
    assert reachable_code(tree, ["r.ipynb", "sh.ipynb", "odd.ipynb"], "") == CodeScan(
        ("lib", "odd.ipynb", "r.ipynb", "sh.ipynb", "x.R")
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("{", "is not JSON: line 1, column 2: Expecting property name enclosed in double quotes"),
        ("[" * 100_000, "is nested deeper than 60 levels"),
        ("[]", "it has no list of cells"),
        ('{"cells": 3}', "it has no list of cells"),
        ('{"cells": [{"cell_type": "code"}]}', "it has no list of cells"),
    ],
)
def test_notebook_that_cannot_be_read(tree: Tree, text: str, said: str) -> None:
    put(tree, **{"a.ipynb": text})
    assert reachable_code(tree, ["a.ipynb"], "") == CodeScan(
        ("a.ipynb",), (), (f"a.ipynb: is not a notebook that can be read: {said}",)
    )


def test_ipython_script(tree: Tree) -> None:
    put(
        tree,
        **{
            "cells/fit.ipy": "import one\n%run two.py\n!bash three.sh\ndisplay(1)\n%cd x\n",
            "cells/one.py": "",
            "two.py": "",
            "three.sh": "",
        },
    )
    assert reachable_code(tree, ["cells/fit.ipy"], "") == CodeScan(
        ("cells/fit.ipy", "cells/one.py", "three.sh", "two.py")
    )


def test_shell_scripts(tree: Tree) -> None:
    put(
        tree,
        **{
            "bin/run.sh": (
                "#!/bin/bash\n"
                "# source commented.sh\n"
                "set -e; source lib.sh\n"
                ". ./conf\n"
                'source "$(cd "$(dirname "$0")" && pwd)/near.sh"\n'
                '. "${BASH_SOURCE%/*}/near2.sh"\n'
                "source $VENV/bin/activate; source /etc/profile; . ~/.bashrc; source $X\n"
                "if true; then . in_if.sh; fi\n"
                "PYTHONPATH=src python -u fit.py data.csv | tee log\n"
                "(cd sub && ./tool --x)\n"
                "python -m package.main; python -m json.tool\n"
                "Rscript \\\n  plot.R\n"
                "source gone.sh\n"
            ),
            "lib.sh": "bash deeper.sh\n",
            "deeper.sh": "python -c 'import x'\n",
            "conf": "",
            "bin/near.sh": "",
            "bin/near2.sh": "",
            "in_if.sh": "",
            "fit.py": "import in_src\n",
            "src/in_src.py": "",
            "sub/tool": "#!/usr/bin/env python3\nimport beside\n",
            "sub/beside.py": "",
            "package/main.py": "",
            "plot.R": 'source("util.R")\n',
            "util.R": "",
            "commented.sh": "",
            "x.py": "",
        },
    )
    found = reachable_code(tree, ["bin/run.sh"], "")
    names = ["bin/run.sh", "lib.sh", "deeper.sh", "conf", "bin/near.sh", "bin/near2.sh", "in_if.sh"]
    names += ["fit.py", "src/in_src.py", "sub/tool", "sub/beside.py", "package/main.py"]
    assert found == CodeScan(
        tuple(sorted([*names, "plot.R", "util.R", "x.py"])),
        (),
        ("bin/run.sh: line 14 reads gone.sh, which is not in the repository",),
        ("bin/run.sh:7 runs a file whose name it works out",),
    )


DEEP = {"a/s.py": "", "lib/deep.py": "import deeper\n", "lib/deeper.py": "", "deep.R": ""}
IN_LIB = {"lib/deep.py", "lib/deeper.py"}


@pytest.mark.parametrize(
    "text",
    [
        "os.environ['PATH'] = 'bin:' + os.environ['PATH']",
        "os.environ['PATH'] = f\"{Path(__file__).parent}/bin:{os.environ['PATH']}\"",
        "env = {**os.environ, 'PATH': os.pathsep.join([str(HERE / 'bin'), os.environ['PATH']])}",
        "env = dict(os.environ, PATH='bin' + os.pathsep + os.environ['PATH'])",
        "os.environ['PATH'] += ':bin'",
        "os.putenv('PATH', 'bin')",
        "env.update(PATH='bin:/usr/bin')",
        "os.environ['PATH'] = f'{ROOT}/bin:/usr/bin'",
    ],
)
def test_a_search_path_that_python_sets_leads_to_programs(tree: Tree, text: str) -> None:
    before = "import os, subprocess\nfrom pathlib import Path\nHERE = Path(__file__).parent\n"
    started = f"{before}{text}\nsubprocess.run(['tool', 'x'], env=env)\n"
    put(tree, **{"run.py": started, "bin/tool": "#!/bin/sh\nhelper\n", "bin/helper": ""})
    put(tree, **{"bin/unused": ""})
    assert reachable_code(tree, ["run.py"], "").files == ("bin/helper", "bin/tool", "run.py")


def test_a_search_path_of_modules_that_python_sets_for_what_it_starts(tree: Tree) -> None:
    text = "env = dict(os.environ, PYTHONPATH='deps')\nsubprocess.run(['python', 'a.py'], env=env)"
    put(tree, **{"run.py": text, "a.py": "import far", "deps/far.py": "", "deps/near.py": ""})
    assert reachable_code(tree, ["run.py"], "").files == ("a.py", "deps/far.py", "run.py")


@pytest.mark.parametrize(
    "text",
    [
        "D = {'a': 's/a.py', 'b': 's/b.py'}\nrunpy.run_path(D[x])",
        "D = {}\nD['a'] = 's/a.py'\nD['b'] = 's/b.py'\nrunpy.run_path(D.get(x))",
        "D = {'a': 's.a', 'b': 's.b'}\nimportlib.import_module(D[sys.argv[1]])",
        "D = {'a': 's.a', 'b': 's.b'}\nfor k, n in D.items(): import_module(n)",
        "for n, p in [('x', 's/a.py'), ('y', 's/b.py')]: runpy.run_path(p)",
        "D = ['s/a.py', 's/b.py']\nsubprocess.run([sys.executable, D[int(x)]])",
        "D = {'a': 's/a.py', 'b': 's/b.py'}\nfor p in D.values(): subprocess.run(['python', p])",
        "D = []\nD.append('s/a.py')\nD.append('s/b.py')\nfor p in D: runpy.run_path(p)",
        "for m in {'s.a': 1, 's.b': 2}: importlib.import_module(m)",
    ],
)
def test_all_that_a_dictionary_holds_may_be_what_is_looked_up_in_it(tree: Tree, text: str) -> None:
    put(tree, **{"f.py": text, "s/a.py": "", "s/b.py": "", "s/c.py": ""})
    found = reachable_code(tree, ["f.py"], "")
    assert (found.files, found.computed) == (("f.py", "s/a.py", "s/b.py"), ())


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("import sys, os.path as p\n"
         "sys.path.insert(0, p.join(p.dirname(__file__), '..', 'lib'))\nimport deep", IN_LIB),
        ("import sys, os\nHERE = os.path.abspath(os.path.dirname(__file__))\n"
         "LIB = os.path.join(os.path.dirname(HERE), 'lib')\nsys.path.append(LIB)\nimport deep",
         IN_LIB),
        ("import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parents[1]\n"
         "sys.path.insert(0, str(ROOT / 'lib'))\nimport deep", IN_LIB),
        ("import sys\nfrom pathlib import Path\n"
         "sys.path[:0] = [str(Path(__file__).parent.parent / 'lib')]\nimport deep", IN_LIB),
        ("import sys, os\nsys.path.append(os.getcwd() + '/lib')\nimport deep", IN_LIB),
        ("import sys, os\nROOT = os.path.dirname(os.path.dirname(__file__))\n"
         "sys.path.insert(0, f'{ROOT}/lib')\nimport deep", IN_LIB),
        ("import importlib, sys\nNAME = 'deep'\nsys.path.append('lib')\n"
         "importlib.import_module(NAME)", IN_LIB),
        ("import runpy, sys\nsys.path.append('lib')\nrunpy.run_module('deep')", IN_LIB),
        ("import runpy\nrunpy.run_path('lib/deep.py')", IN_LIB),
        ("exec(open('lib/deep.py').read())", IN_LIB),
        ("from pathlib import Path\nHERE = Path(__file__).parent\n"
         "exec((HERE / '..' / 'lib' / 'deep.py').read_text())", IN_LIB),
        ("import importlib.util as u\nu.spec_from_file_location('d', 'lib/deep.py')", IN_LIB),
        ("import subprocess, sys\nsubprocess.run([sys.executable, 'lib/deep.py', '-v'])", IN_LIB),
        ("import subprocess, sys\ncmd = [sys.executable, '-m', 'lib.deep']\n"
         "subprocess.run(cmd, check=True)", {"lib/deep.py"}),
        ("import subprocess, sys\nPY = sys.executable\n"
         "subprocess.run(args=[PY, '-m'] + ['lib.deep'])", {"lib/deep.py"}),
        ("import subprocess\nsubprocess.run(f'python lib/deep.py --n {n}', shell=True)", IN_LIB),
        ("import os, sys\nexe = sys.executable\nos.system(f'{exe} -m lib.deep')", {"lib/deep.py"}),
        ("import os\ncmd = 'python lib/deep.py -x 1'\nos.system(cmd)", IN_LIB),
        ("import os, sys\nos.system(sys.executable + ' lib/deep.py')", IN_LIB),
        ("import os\nx = x\nx = x + x\nos.system(x)", set()),
        ("import os\nos.system('cd lib && python deep.py > /dev/null')", IN_LIB),
        ("import subprocess\nsubprocess.check_call(['python', '-m', 'lib.deep'])", {"lib/deep.py"}),
        ("import subprocess\nsubprocess.run(['Rscript', 'deep.R'])", {"deep.R"}),
        ('"""Beside lib/deep.py."""\ndef f():\n    "lib/deep.py"\n', set()),
        ("print('see lib/deep.py and python lib/deep.py')", set()),
        ("x = x + y\ny = y + x\nimport sys\nsys.path.append(x)", set()),
    ],
)  # fmt: skip
def test_code_that_python_runs_other_than_by_import(tree: Tree, text: str, more: set[str]) -> None:
    put(tree, **{**DEEP, "a/fit.py": text})
    assert set(reachable_code(tree, ["a/fit.py"], "").files) == {"a/fit.py", *more}


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("cd lib\npython - <<'END'\nimport deep\nEND\n", IN_LIB),
        ("PYTHONPATH=lib python3 -u <<END | tee log\nimport deep as d\nprint('$1')\nEND\n", IN_LIB),
        ("export PYTHONPATH=lib:$PYTHONPATH\npython -c 'import sys\nimport deep\n'\n", IN_LIB),
        ("export PYTHONPATH=lib\npython a/uses.py\n", {*IN_LIB, "a/uses.py"}),
        ('LIB="$(cd "$(dirname "$0")/.." && pwd)/lib"\nPYTHONPATH="$LIB" python -mdeep\n', IN_LIB),
        ('LIB=$(dirname "$0")/../sh\nsource "$LIB/common.sh"\n', {"sh/common.sh"}),
        ('HERE=sh; . "${HERE}"/common.sh\n', {"sh/common.sh"}),
        ("awk -fsh/sum.awk data\n", {"sh/sum.awk"}),
        ("gcc -o fit src/fit.c && ./fit\n", {"src/fit.c", "src/fit.h"}),
        ("make fit\n", {"Makefile", "src/fit.c", "src/fit.h"}),
        ("make -f other.mk\n", {"other.mk", "a/uses.py", *IN_LIB, "src/fit.c", "src/fit.h"}),
        ("gcc -Ihead -o fit src/of.c\n", {"src/of.c", "head/of.h"}),
        ("cd lib && python -m deep\n", IN_LIB),
        ("PYTHONPATH=$PWD/lib python a/uses.py\n", {*IN_LIB, "a/uses.py"}),
        ("julia jl/run.jl\n", {"jl/run.jl", "jl/src/part.jl"}),
        ("Rscript r/name.R\n", {"r/name.R", "r/parts/one.R", "a/s.py"}),
        ("octave m/run2.m\n", {"m/run2.m", "mlib/part2.m"}),
        ("ruby x.rb\n", {"x.rb", "sh/sum.awk"}),
        ("perl pl/bin.pl\n", {"pl/bin.pl", "pl/plib/low.pm"}),
        ("node js/run.js\n", {"js/run.js", "js/part.js"}),
        ("perl -Ilib pl/run.pl\n", {"pl/run.pl", "pl/My/Part.pm"}),
        ("octave --eval run m/run.m\n", {"m/run.m", "m/part.m"}),
        ("Rscript r/all.R\n", {"r/all.R", "r/parts/one.R", "r/parts/two.R"}),
    ],
)  # fmt: skip
def test_code_in_and_below_shell_scripts(tree: Tree, text: str, more: set[str]) -> None:
    put(
        tree,
        **{
            **DEEP,
            "a/run.sh": text,
            "a/uses.py": "import deep\n",
            "sh/common.sh": "",
            "sh/sum.awk": "",
            "src/fit.c": '#include <stdio.h>\n#include "fit.h"\n',
            "src/fit.h": "",
            "Makefile": "fit: src/fit.c\n\tgcc -o $@ $<\n",
            "js/run.js": "const part = require('./part')\n",
            "js/part.js": "",
            "pl/run.pl": "use lib 'pl';\nuse strict;\nuse My::Part;\n",
            "pl/My/Part.pm": "",
            "m/run.m": "x = part(3);\n",
            "m/part.m": "",
            "m/run2.m": "addpath('mlib');\n% see part\nx = part2(3);\n",
            "mlib/part2.m": "",
            "src/of.c": '#include "of.h"\n',
            "head/of.h": "",
            "other.mk": (
                "WHERE = a\nPY := python\nexport PYTHONPATH = lib\n"
                "out: fit.o\n\t$(PY) $(WHERE)/uses.py\nfit: src/fit.o\n"
            ),
            "jl/run.jl": 'include(joinpath(@__DIR__, "src", "part.jl"))\n',
            "jl/src/part.jl": "",
            "r/name.R": 'f <- "r/parts/one.R"\nsource(f)\n# "r/all.R"\nsystem("python a/s.py")\n',
            "x.rb": "load 'sh/sum.awk'\n",
            "pl/bin.pl": 'use FindBin;\nuse lib "$FindBin::Bin/plib";\nuse low;\n',
            "pl/plib/low.pm": "",
            "r/all.R": 'for (f in list.files("r/parts", full.names = TRUE)) source(f)\n',
            "r/parts/one.R": "",
            "r/parts/two.R": "",
        },
    )
    assert set(reachable_code(tree, ["a/run.sh"], "").files) == {"a/run.sh", *more}


def test_what_python_runs_unasked_in_folders_that_pythonpath_names(tree: Tree) -> None:
    put(tree, **{"lib/sitecustomize.py": "import deep", "lib/deep.py": "", "a/f.py": ""})
    put(tree, **{"sitecustomize.py": "", "a/f.sh": "PYTHONPATH=lib python a/f.py\n"})
    unasked = {"lib/sitecustomize.py", "lib/deep.py"}
    assert set(reachable_code(tree, ["a/f.sh"], "").files) == {"a/f.sh", "a/f.py", *unasked}
    with CodeScanner(tree).moment() as moment:
        found = moment.scan(["a/f.py"], "", Named(search=("lib",))).files
        assert set(found) == {"a/f.py", *unasked}
        assert moment.scan(["a/f.py"], "").files == ("a/f.py",)


def test_folders_that_pythonpath_names(tree: Tree) -> None:
    put(tree, **{**DEEP, "a/fit.py": "import deep\n"})
    for search in ((), ("lib",)):
        found = CodeScanner(tree).moment()
        with found as moment:
            scan = moment.scan(["a/fit.py"], "", Named(search=search))
        assert set(scan.files) == {"a/fit.py", *(IN_LIB if search else ())}
        assert [one[0] for one in scan.missing_modules] == ([] if search else ["deep"])


STEPS = {"s/one.py": "", "s/two.py": "", "s/sub/three.py": "", "s/note.txt": "", "four.py": ""}
ONE_TWO = {"s/one.py", "s/two.py"}


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("a/f.py", "import os\nfor n in range(2):\n    os.system(f'python s/{n}.py')", ONE_TWO),
        ("a/f.py", "import os\nfor n in ['one']:\n    os.system(f'python s/{n}.py')", {"s/one.py"}),
        ("a/f.py", "N = ['s/one', 's/two']\nfor n in N: exec(open(n + '.py').read())", ONE_TWO),
        ("a/f.py", "import os\ndef f(n): os.system('python s/%s.py' % n)", ONE_TWO),
        ("a/f.py", "import os\ndef f(n): os.system('python s/{}.py'.format(n))", ONE_TWO),
        ("a/f.py", "import os\ndef f(n): run(os.path.join('s', n + '.py'))", ONE_TWO),
        ("a/f.py", "from pathlib import Path\ndef f(n): run(Path('s') / f'{n}.py')", ONE_TWO),
        ("a/f.py", "import glob\nfor f in glob.glob('s/*.py'): run(f)", ONE_TWO),
        ("a/f.py", "from importlib import import_module as i, import_module\n"
         "def f(n): return import_module(f's.{n}')", ONE_TWO),
        ("a/f.py", "import importlib\ndef f(n): return importlib.import_module('s.' + n)", ONE_TWO),
        ("a/f.py", "import sys\nsys.path.append('s')\ndef f(n): __import__('t' + n)", {"s/two.py"}),
        ("a/f.py", "def f(n): return __import__(n + '.two')", {"s/two.py"}),
        ("a/f.py", "import subprocess, sys\nfor m in ('s.one', 's.two'):\n"
         "    subprocess.run([sys.executable, '-m', m])", ONE_TWO),
        ("a/f.py", "def sh(line): ...\nsh('python s/one.py --n 3')", {"s/one.py"}),
        ("a/f.py", "def sh(line): ...\nsh(f'cd s && python {x}.py')", ONE_TWO),
        ("a/f.sh", "for n in one two; do python s/$n.py; done", ONE_TWO),
        ("a/f.sh", "for n in one two; do\n  python s/${n}.py > $n.txt\ndone", ONE_TWO),
        ("a/f.sh", "for f in s/*.py; do\n  python $f\ndone", ONE_TWO),
        ("a/f.sh", 'HERE=$(dirname "$0")\npython "$HERE/../s/$1.py"', ONE_TWO),
        ("a/f.sh", "$PYTHON -m s.one; ${PY:-python3} -m s.two", ONE_TWO),
        ("a/f.sh", "python s/*/three.py", {"s/sub/three.py"}),
        ("a/f.sh", "for n in one two; do python -m s.$n; done", ONE_TWO),
        ("a/f.sh", "printf '%s\\n' one two | xargs -I@ python s/@.py", ONE_TWO),
        ("a/f.sh", "cat names | xargs -I NAME python s/NAME.py", ONE_TWO),
        ("a/f.sh", "find s -name '*o.py' -exec python {} \\;", {"s/two.py"}),
        ("a/f.sh", "find . -name 'th*.py' -exec python {} +", {"s/sub/three.py"}),
        ("a/f.ipy", "for n in 'ab':\n    %run s/{n}.py", ONE_TWO),
        ("a/f.py", "import subprocess as s\ns.check_call(['python', 'one.py'], cwd='s')",
         {"s/one.py"}),
        ("a/f.py", "import subprocess as s\ndef f(n): s.run(['python', f'{n}o.py'], cwd='s')",
         {"s/two.py"}),
        ("a/f.py", "import os, runpy\nos.chdir('s')\ndef f(n): runpy.run_path(f't{n}.py')",
         {"s/two.py"}),
        ("a/f.py", "for n in 'ab': run(f's/{n}.py')", ONE_TWO),
        ("s/__init__.py", "from importlib import import_module\n"
         "def __getattr__(n): return import_module(__name__ + '.' + n)", {*ONE_TWO, "four.py"}),
        ("a/f.mk", "all:\n\tfor n in one two; do python s/$$n.py; done", ONE_TWO),
        ("a/f.mk", "all:\n\t@for n in a b; do \\\n\t  python s/$${n}.py; \\\n\tdone", ONE_TWO),
        ("a/f.mk", "N = a b\nall:\n\t$(foreach n,$(N),python s/$(n).py;)", ONE_TWO),
        ("a/f.mk", "run-%:\n\tpython s/$*.py\na b:\n\tpython s/$@.py", ONE_TWO),
        ("a/f.mk", "PY ?= python\nall:\n\tfor n in a; do $(PY) s/$$n.py; done", ONE_TWO),
        ("a/f.mk", "all: $(N:%=s/%.py) $(shell ls s/sub/*.py)", {*ONE_TWO, "s/sub/three.py"}),
        ("a/f.mk", "all: $(patsubst %,s/%.py,$(wildcard *.x))", ONE_TWO),
        ("a/f.mk", "out/%.csv: s/%.py\n\tpython $< $@\n", ONE_TWO),
        ("a/f.mk", "ALL = $(wildcard s/*.py)\nout: $(ALL)\n\tpython $(word 1,$^)", ONE_TWO),
        ("a/f.mk", "out:\n\t$(PYTHON) -m s.one\n", {"s/one.py"}),
        ("a/f.R", "source(paste0('s/', name, '.py'))", ONE_TWO),
        ("a/f.R", "source(file.path('s', name, 'three.py'))", {"s/sub/three.py"}),
        ("a/f.smk", "rule x:\n    script: 's/{wildcards.n}.py'\n", ONE_TWO),
    ],
)  # fmt: skip
def test_of_a_name_that_is_worked_out_in_part_all_that_fits_counts(
    tree: Tree, name: str, text: str, more: set[str]
) -> None:
    put(tree, **{**STEPS, name: text})
    found = reachable_code(tree, [name], "")
    assert (set(found.files), found.computed) == ({name, *more}, ())


RUNS, IMPORTS = "runs a file whose name it works out", "imports a module whose name it works out"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("f.py", "import importlib\ndef f(n): importlib.import_module(n)", [f"2 {IMPORTS}"]),
        ("f.py", "x = input()\n__import__(x + '.' + x)", [f"2 {IMPORTS}"]),
        ("f.py", "x = 'json'\nx = input()\n__import__(x)", [f"3 {IMPORTS}"]),
        ("f.py", "import runpy\ndef f(n): runpy.run_path(n)", [f"2 {RUNS}"]),
        ("f.py", "x = load()\nexec(open(x).read())", [f"2 {RUNS}"]),
        ("f.py", "x = load()\ny = open(x).read()\nexec(y)", [f"3 {RUNS}"]),
        ("f.py", "import subprocess, sys\nsubprocess.run([sys.executable, load()])", [f"2 {RUNS}"]),
        ("f.py", "exec('x = 1'); exec(code); import_module('a.b')", []),
        ("f.py", "import sys, subprocess as s\nexec(open(sys.argv[1]).read())\n"
         "s.run([sys.executable, __file__])\nimport_module(__name__)", []),
        ("f.sh", "read x\npython $x", [f"2 {RUNS}"]),
        ("f.sh", "ls s | xargs python\nfind s -exec sh -c 'python \"$1\"' _ {} \\;",
         ["1 runs files whose names it works out", "2 runs files whose names it works out"]),
        ("f.sh", "PYTHONPATH=s python -c \"import $n\"", [f"1 {IMPORTS}"]),
        ("f.mk", "S = $(addprefix s/,$(N))\nall:\n\tfor s in $(S); do python $$s; done",
         [f"3 {RUNS}"]),
        ("f.ipy", "%run $name", [f"1 {RUNS}"]),
        ("f.sh", "python -m $(choose)\n. $x", [f"1 {RUNS.replace('file', 'module')}", f"2 {RUNS}"]),
        ("f.sh", 'python "$@"; python $1 x; bash ${2}; . $VENV/bin/activate; eval "$(a)"', []),
        ("f.R", "f <- readline()\nsource(f)", ["2 sources a file whose name it works out"]),
        ("f.py", "D = {'a': 's/a.py', **load()}\nfrom runpy import *\nrun_path(D[x])",
         [f"3 {RUNS}"]),
        ("f.py", "D = {}\nD = load()\nD['a'] = 's/a.py'\nrun_path(D[x])", [f"4 {RUNS}"]),
        ("f.py", "import runpy\nD = {'a': 's/a.py'}\nD[n] = load()\nrunpy.run_path(D[x])",
         [f"4 {RUNS}"]),
        ("f.py", "import runpy\nD = {'a': 's/a.py'}\nD.update(load())\nrunpy.run_path(D[x])",
         [f"4 {RUNS}"]),
        ("f.py", "import runpy\nD = ['s/a.py']\nD.append(load())\nfor p in D: runpy.run_path(p)",
         [f"4 {RUNS}"]),
        ("f.py", "import runpy\nfor n, p in pairs(): runpy.run_path(p)", [f"2 {RUNS}"]),
        ("f.py", "import runpy\nD = {'a': 's/a.py'}\nrunpy.run_path(D.get(x, load()))",
         [f"3 {RUNS}"]),
    ],
)  # fmt: skip
def test_code_of_whose_name_nothing_is_known_is_told(
    tree: Tree, name: str, text: str, said: list[str]
) -> None:
    put(tree, **{name: text})
    assert reachable_code(tree, [name], "").computed == tuple(f"{name}:{one}" for one in said)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("import sys\nsys.path.insert(0, 'lib')\nimport deep", IN_LIB),
        ("import runpy\nrunpy.run_path('lib/deep.py')", IN_LIB),
        ("from lib import deep", {"lib/deep.py"}),
        ("import ${module}", set()),
    ],
)
def test_python_that_stands_in_a_command(tree: Tree, text: str, more: set[str]) -> None:
    """Also below a shell script, where the script is what names a module that is missing."""
    put(tree, **{**DEEP, "a/run.sh": f"python - <<END\n{text}\nimport gone\nEND\n"})
    with CodeScanner(tree).moment() as moment:
        found = moment.scan((), "", Named(python=((f"{text}\nimport gone", ""),)))
        assert (set(found.files), found.problems) == (more, ())
        missing = {("gone", "", 0)} if "$" not in text else set()  # that does not parse
        missing |= {("deeper", "lib/deep.py", 1)} if "from lib" in text else set()
        assert set(found.missing_modules) == missing
        assert set(moment.scan(("a/run.sh",), "").files) == {"a/run.sh", *more}


def test_r_and_julia(tree: Tree) -> None:
    put(
        tree,
        **{
            "code/fit.R": (
                "library(ggplot2)\n"
                "source('one.R'); source(file = \"code/two.R\", local = TRUE)\n"
                "source(here::here('lib', 'three.R'))\n"
                "# source('commented.R')\n"
                "source(paste0(x, 'y.R'))\n"
                "sys.source('../../outside.R')\n"
            ),
            "one.R": "",
            "code/one.R": "",
            "code/two.R": "",
            "lib/three.R": "",
            "commented.R": "",
            "y.R": "",
            "a.jl": 'include("b.jl")\nusing X\n',
            "b.jl": "",
        },
    )
    assert reachable_code(tree, ["code/fit.R", "a.jl"], "") == CodeScan(
        ("a.jl", "b.jl", "code/fit.R", "code/one.R", "code/two.R", "lib/three.R", "one.R", "y.R"),
        (),
        ("code/fit.R: line 6 reads ../../outside.R, which is not in the repository",),
    )


def test_unchanged_look_parses_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, **{"run.py": "import a\n", "a.py": "import b\n", "b.py": ""})
    parsed: list[object] = []
    real = ast.parse

    def count(source: object, *rest: object) -> ast.AST:
        parsed.append(source)
        return real(source, *rest)

    monkeypatch.setattr(ast, "parse", count)
    scanner = CodeScanner(tree)
    expected = CodeScan(("a.py", "b.py", "run.py"))
    for _ in range(3):
        assert scanner.scan(["run.py"], "") == expected
    assert parsed == [b"import a\n", b"import b\n", b""]
    time.sleep(2.1)  # from now on stamps are trusted, and files are not even read
    assert scanner.scan(["run.py"], "") == expected
    monkeypatch.setattr(Tree, "read", lambda *_: pytest.fail("a file was read"))
    for _ in range(2):
        assert scanner.scan(["run.py"], "") == expected
    assert len(parsed) == 3
    monkeypatch.undo()
    (tree.root / "a.py").write_bytes(b"import c\n")
    assert scanner.scan(["run.py"], "").missing_modules == (("c", "a.py", 1),)
    put(tree, **{"c.py": ""})
    assert scanner.scan(["run.py"], "") == CodeScan(("a.py", "c.py", "run.py"))
    put(tree, **{"c/__init__.py": ""})
    assert scanner.scan(["run.py"], "") == CodeScan(("a.py", "c/__init__.py", "run.py"))


COARSE = """
from vaibify_lab.files.imports import CodeScanner
from vaibify_lab.files.tree import Tree

tree = Tree(here)
scanner = CodeScanner(tree)
for name in ("run.py", "a.py", "b.py"):
    (here / name).write_bytes(b"import x\\n")
wrong = []
for number in range(400):
    wanted = "ab"[number % 2]
    with open(here / "run.py", "r+b") as file:
        file.write(f"import {wanted}\\n".encode())
    if number % 3:
        (here / "x.py").touch()
    else:
        (here / "x.py").unlink(missing_ok=True)
    expected = {"run.py", f"{wanted}.py"} | ({"x.py"} if number % 3 else set())
    found = scanner.scan(["run.py"], "")
    wrong += [number] if set(found.files) != expected else []
print(wrong)
"""


def test_changes_within_one_tick_of_a_coarse_clock_are_seen(on_mount) -> None:
    assert on_mount(COARSE, "-t", "ramfs") == "[]\n"


# Each of many names is given any of many others, and those any of many more.
NAMES = "".join(
    f"{one}{n} = {other}{m}\n"
    for one, other in ("xy", "yz", "zw")
    for n in range(33)
    for m in range(33)
).replace("x0", "x")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("spaces.ipy", " " * 1_000_000 + "x"),
        ("equals.ipy", "a, " * 300_000 + "%"),
        ("subst.sh", "$(" * 120_000),
        ("doubled.sh", "A=x\n" + "A=$A$A\n" * 60 + "export PYTHONPATH=$PYTHONPATH:b\n" * 60),
        ("quotes.sh", "source " + "'" * 200_000),
        ("given.sh", "(a=" * 80_000),
        ("then.sh", "then " * 50_000),
        ("words.sh", "python a.py " * 20_000),
        ("lines.sh", "./a.py\n" * 30_000),
        ("r.R", "source(here(" * 200_000),
        ("r2.R", "source(  " + " " * 1_000_000),
        ("deep.py", "x = " + "[" * 90 + "]" * 90 + "\n" + "if x:\n pass\n" * 40_000),
        ("many.py", "".join(f"import m{n}\n" for n in range(50_000))),
        ("names.py", NAMES + "import os\n" + "os.system(x)\n" * 3000),
        ("all.ipynb", notebook(*["x = !ls\n" * 10] * 2000)),
    ],
)
def test_code_made_to_take_long_takes_seconds_at_most(tree: Tree, name: str, data: str) -> None:
    put(tree, **{name: data})
    with takes_at_most(600):  # 50 at most; hours where it grew as a square
        assert name in reachable_code(tree, [name], "").files


MODULES = st.sampled_from(["a", "b", "c", "p", "q", "p.a", "p.q", "p.q.b", "q.c", "os", "none"])
STATEMENTS = st.one_of(
    MODULES.map(lambda one: f"import {one}"),
    st.tuples(MODULES, st.sampled_from(["a", "b", "q", "*"])).map(
        lambda two: f"from {two[0]} import {two[1]}"
    ),
    st.tuples(
        st.integers(1, 3), st.sampled_from(["", "a", "q", "q.b"]), st.sampled_from("abq")
    ).map(lambda three: f"from {'.' * three[0]}{three[1]} import {three[2]}"),
)
PLACES = st.sampled_from(
    [
        *("a.py", "b.py", "c.py", "p/__init__.py", "p/a.py", "p/b.py", "p/q/__init__.py"),
        *("p/q/b.py", "q/c.py", "q/b.py", "q.py", "p.py", "b/__init__.py", "b/a.py"),
    ]
)


def body(lines: list[str], place: str) -> str:
    text = "".join(f"try:\n    {line}\nexcept Exception: pass\n" for line in lines)
    return text + ("__all__ = ['a', 'b', 'q']\n" if "__init__" in place else "")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    files=st.dictionaries(PLACES, st.lists(STATEMENTS, max_size=3), max_size=9),
    script=st.lists(STATEMENTS, min_size=1, max_size=4),
)
def test_whatever_python_imports_is_found(
    tmp_path: Path, files: dict[str, list[str]], script: list[str]
) -> None:
    folder = tmp_path / os.urandom(6).hex()
    folder.mkdir()
    tree = Tree(folder)
    for name, lines in {**files, "run.py": script}.items():
        put(tree, **{f"s/{name}": body(lines, name)})
    found = reachable_code(tree, ["s/run.py"], "")
    assert imported_by_python(tree, "s/run.py") - set(found.files) == set()
    assert found.problems == ()
