"""What is shipped for editors and docs is what the tables say."""

from __future__ import annotations

import importlib.resources
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from vaibify_lab.core.schemas import schemas, with_tables
from vaibify_lab.core.workflow_keys import (
    PATH_PATTERN,
    RESOURCE_KEYS,
    STEP_KEYS,
    SUITE_KEYS,
    TEST_KEYS,
    TOP_KEYS,
)

ROOT = Path(__file__).parents[2]
SHIPPED = importlib.resources.files("vaibify_lab.core.schemas")
REGENERATE = "python -m vaibify_lab.core.schemas docs/workflow-file.md"


@pytest.mark.parametrize("name", schemas())
def test_the_shipped_schema_is_the_generated_one(name):
    assert (SHIPPED / name).read_bytes() == schemas()[name], REGENERATE


def test_every_table_has_its_schema():
    names = {"workflow", "record", "marker", "sign-off", "kept-run"}
    assert set(schemas()) == {f"{name}.schema.json" for name in names}


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_a_schema(name):
    value = json.loads(schemas()[name])
    Draft202012Validator.check_schema(value)
    assert value["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert value["title"].startswith("vaibify_lab ")


def test_the_demo_and_every_key_are_known_to_the_schema():
    judge = Draft202012Validator(json.loads(schemas()["workflow.schema.json"]))
    demo = json.loads((ROOT / "vaibify_lab/demo/project/workflow.json").read_text())
    assert list(judge.iter_errors(demo)) == []
    demo["listSteps"][0]["saDataFiles"] = ["/etc/passwd"]
    assert [list(error.path) for error in judge.iter_errors(demo)] == [
        ["listSteps", 0, "saDataFiles", 0]
    ]


@pytest.mark.parametrize("keys", [TOP_KEYS, STEP_KEYS, SUITE_KEYS, TEST_KEYS, RESOURCE_KEYS])
def test_every_key_has_one_sentence(keys):
    for name, key in keys.items():
        assert key.doc.endswith((".", "?")), name
        assert "|" not in key.doc, name


@pytest.mark.parametrize("keys", [TOP_KEYS, STEP_KEYS, TEST_KEYS, RESOURCE_KEYS])
def test_every_key_that_lists_files_says_what_they_are_for(keys):
    """The manifest covers every role, so a key without one would be forgotten there."""
    for name, key in keys.items():
        schema = key.kind.schema()
        lists_files = schema.get("items", schema).get("pattern", "").startswith(PATH_PATTERN)
        assert lists_files == (key.role is not None and name != "dictTests"), name


def test_the_page_of_keys_is_the_generated_one():
    page = (ROOT / "docs/workflow-file.md").read_text(encoding="utf-8")
    assert page == with_tables(page), REGENERATE
    for keys in (TOP_KEYS, STEP_KEYS, SUITE_KEYS, TEST_KEYS, RESOURCE_KEYS):
        assert all(f"| `{name}`" in page for name in keys)


def test_the_module_writes_them_anew(tmp_path):
    package = tmp_path / "vaibify_lab"
    shutil.copytree(ROOT / "vaibify_lab", package, ignore=shutil.ignore_patterns("*.schema.json"))
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- keys: generated -->\nwas here\n<!-- end of keys -->\nb\n")
    subprocess.run(
        [sys.executable, "-m", "vaibify_lab.core.schemas", "page.md"], cwd=tmp_path, check=True
    )
    written = {path.name: path.read_bytes() for path in package.rglob("*.schema.json")}
    assert written == schemas()
    text = page.read_text()
    assert text.startswith("a\n<!-- keys: generated -->\n\n### The workflow\n")
    assert "was here" not in text
    assert text.endswith("<!-- end of keys -->\nb\n")
