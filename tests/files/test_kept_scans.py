"""A scanner that is kept from look to look against one that has never looked before."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from vaibify_lab.core.commands import Named
from vaibify_lab.files.imports import CodeScanner, reachable_code
from vaibify_lab.files.tree import Tree

PATHS = (
    "run.py",
    "go.sh",
    "a.py",
    "b.py",
    "a/__init__.py",
    "a/b.py",
    "src/a.py",
    "lib/b.py",
    "lib",
)
TEXTS = (
    "",
    "import a\n",
    "from a import b\n",
    "from . import b\n",
    "import sys\nsys.path.insert(0, 'lib')\nimport b\n",
    "import subprocess\nsubprocess.run(['python', 'b.py'])\n",
    "source go.sh\npython a.py\ncd lib\npython b.py\n",
    "import (\n",
)
edits = st.tuples(
    st.sampled_from(PATHS), st.sampled_from([*TEXTS, "remove", "folder", "link", "unreadable"])
)
questions = st.tuples(
    st.lists(st.sampled_from(["run.py", "go.sh", "a.py"]), min_size=1, max_size=2).map(tuple),
    st.sampled_from(["", "lib", "src"]),
    st.sampled_from([(), ("a",), ("a.b",)]),
)


def clear(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def edit(root: Path, path: str, what: str) -> None:
    place = root / path
    if not place.parent.is_dir():
        clear(place.parent)
    clear(place)
    place.parent.mkdir(exist_ok=True)
    if what == "folder":
        place.mkdir()
    elif what == "link":
        place.symlink_to("run.py")
    elif what == "unreadable":
        os.mkfifo(place)
    elif what != "remove":
        place.write_text(what)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(edits, st.lists(questions, min_size=1, max_size=3)), max_size=8))
def test_what_was_kept_is_what_a_first_scan_finds(
    moments: list[tuple[tuple[str, str], list[tuple[tuple[str, ...], str, tuple[str, ...]]]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder))
        kept = CodeScanner(tree)
        for one, asked in moments:
            edit(tree.root, *one)
            with kept.moment() as moment:
                found = [
                    moment.scan(scripts, folder, Named(modules=modules))
                    for scripts, folder, modules in asked
                ]
            assert found == [reachable_code(tree, *question) for question in asked]
