"""Workflows for tests, from as few words as possible."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.workflow_file import parse

PATH = "workflow.json"


def step(name: str, **keys: Any) -> dict[str, Any]:
    """One step that has something to run."""
    return {"sName": name, "saDataCommands": ["true"]} | keys


def document(*steps: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {"sFormat": "vaibify-lab/1", "listSteps": list(steps)} | top


def workflow(*steps: dict[str, Any], **top: Any) -> Workflow:
    return parse(json.dumps(document(*steps, **top)).encode(), PATH)


def only_step(**keys: Any) -> Step:
    return workflow(step("A", **keys)).steps[0]


def refusal(*steps: dict[str, Any], **top: Any) -> str:
    """The one line that a person reads when a workflow is refused."""
    with pytest.raises(InvalidFile) as caught:
        workflow(*steps, **top)
    return str(caught.value)
