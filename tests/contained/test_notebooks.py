"""Notebooks as steps in containers: with a kernel in the image, and without one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.contained.pinned import Image, of, pinned
from tests.notebooks.books import book, step
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image

CLOSED = {"vaibify.yml": "projectName: p\nnetworkIsolation: true\n"}


@pytest.fixture(scope="module")
def with_kernel(client: Any, base: str) -> Image:
    """An image with nbclient and a kernel; pip brings both, which takes a while."""
    lines = [
        f"FROM {base}",
        "RUN python3 -m venv /opt/nb && /opt/nb/bin/python -m pip install -q nbclient ipykernel",
        "ENV PATH=/opt/nb/bin:$PATH",
    ]
    text = io.BytesIO("\n".join(lines).encode())
    said = list(client.build(fileobj=text, rm=True, forcerm=True, decode=True))
    name = next((str(one["aux"]["ID"]) for one in said if "aux" in one), "")
    assert name, said[-3:]
    return Image(local_image(client, name), look_inside(client, name))


def test_a_notebook_runs_in_a_container_without_network(tmp_path: Path, with_kernel: Image) -> None:
    text = book("import os\nos.getcwd()", "!echo two", "open('../out/a.txt', 'w').write('a')")
    files = {"nb/fit.ipynb": text, **CLOSED}
    steps = [step(saDataFiles=["out/a.txt"])]
    made = pinned(tmp_path / "p", with_kernel, steps, files)
    assert made.run()["outcome"] == "passed"
    copy = json.loads(made.read("out/fit.ipynb"))
    assert copy["cells"][0]["outputs"][0]["data"]["text/plain"] == ["'/workspace/p/nb'"]
    assert made.states()["fit"][0] == "current"
    made.write("nb/fit.ipynb", book("1/0"))
    failed = of(made.events(), "stepFail")[0]
    assert "cell 1 (1 of 1 with code): ZeroDivisionError" in failed["text"]


def test_an_image_without_a_kernel_is_named(tmp_path: Path, image: Image) -> None:
    made = pinned(tmp_path / "p", image, [step()], {"nb/fit.ipynb": book("1")})
    failed = of(made.events(), "stepFail")[0]
    assert (failed["code"], failed["text"]) == (
        "missing-module",
        "imports 'nbclient', which is not in its environment; add it to requirements.in, then: "
        "jupyter vaibify envelope --only lock",
    )
