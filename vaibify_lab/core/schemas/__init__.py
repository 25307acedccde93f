"""The JSON Schemas that editors use and the tables of keys in the docs, both from the readers.

``python -m vaibify_lab.core.schemas [docs/workflow-file.md]`` writes the schemas beside this file
and the tables into that page; a test holds what is shipped to what is generated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vaibify_lab.core import fact_keys, jsonio, workflow_keys
from vaibify_lab.core.workflow_keys import Key

_TABLES: dict[str, Mapping[str, Key]] = {
    "The workflow": workflow_keys.TOP_KEYS,
    "A step (`listSteps`)": workflow_keys.STEP_KEYS,
    "Tests (`dictTests`)": workflow_keys.SUITE_KEYS,
    "The tests of one category": workflow_keys.TEST_KEYS,
    "Resources (`dictResources`)": workflow_keys.RESOURCE_KEYS,
}
_BEGIN, _END = "<!-- keys: generated -->\n", "<!-- end of keys -->"
_TYPES = {
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "object": "object",
    "array": "list",
}


def schemas() -> dict[str, bytes]:
    """Return the content of each schema file, by file name."""
    facts = {f"{kind}.schema.json": value for kind, value in fact_keys.json_schemas().items()}
    found = {"workflow.schema.json": workflow_keys.json_schema(), **facts}
    return {name: jsonio.dumps(value) for name, value in found.items()}


def with_tables(page: str) -> str:
    """Return a page of the docs with the tables of keys between its two marks made anew."""
    tables = "\n".join(_table(title, keys) for title, keys in _TABLES.items())
    pattern = re.escape(_BEGIN) + ".*" + re.escape(_END)
    return re.sub(pattern, lambda _: f"{_BEGIN}\n{tables}\n{_END}", page, flags=re.DOTALL)


def _table(title: str, keys: Mapping[str, Key]) -> str:
    lines = [f"### {title}", "", "| key | holds | meaning |", "|---|---|---|"]
    for name, key in keys.items():
        star = " ◆" if key.fingerprint else ""
        lines.append(f"| `{name}`{star} | {_holds(key.kind.schema())} | {key.doc} |")
    return "\n".join([*lines, ""])


def _holds(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_holds(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in schema["enum"])
    if schema["type"] == "array":
        return f"list of {_holds(schema['items'])}"
    return _TYPES[schema["type"]]
