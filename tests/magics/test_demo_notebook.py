"""The demo as a notebook: three cells, the same records by every runner, and no server."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from tests.apps.front import vaibify
from tests.kit import Made
from tests.magics.test_kernels import command
from vaibify_lab.notebooks.cells import step_magic
from vaibify_lab.project.cells import cell_in, sources_in

OF_ONE_RUN = frozenset(
    {"run_id", "started", "ended", "seconds", "sRunId", "sWhen"} | {"digest", "sDigest"}
)
SLUGS = ("clean", "trend", "figure")


def lasting(value: Any) -> Any:
    """Return a fact without what only one run has: its times and its id."""
    if isinstance(value, dict):
        return {key: lasting(one) for key, one in value.items() if key not in OF_ONE_RUN}
    return [lasting(one) for one in value] if isinstance(value, list) else value


def facts(made: Made) -> dict[str, bytes]:
    """Return the facts of the steps as they would be written, times and ids apart."""
    found = sorted((made.root / ".vaibify").glob("*/workflow/*.json"))
    return {
        str(path.relative_to(made.root)): json.dumps(
            lasting(json.loads(path.read_bytes()))
        ).encode()
        for path in found
    }


def written(made: Made) -> dict[str, str]:
    """Return the hashes of what the cells and the steps wrote."""
    paths = ["workflow.json", *(f"cells/{one}.py" for one in SLUGS), "results/monthly.csv"]
    paths += ["results/trend.json", "plots/co2.svg"]
    return {path: hashlib.sha256((made.root / path).read_bytes()).hexdigest() for path in paths}


def test_three_cells_give_the_same_records_by_every_front_door(tmp_path: Path) -> None:
    first = Made.demo_in_cells(tmp_path / "first/co2")
    second, third = Made(tmp_path / "second/co2"), Made(tmp_path / "third/co2")
    for one in (second, third):
        shutil.copytree(first.root, one.root)

    done = command(first.root, "jupyter", "execute", "--output=executed.ipynb", "co2.ipynb")
    assert done.returncode == 0, done
    done = command(second.root, "papermill", "co2.ipynb", "executed.ipynb")
    assert done.returncode == 0, done
    opened = third.project().opened
    for source in sources_in(opened, "co2.ipynb"):
        if step_magic(source.text):
            third.project().declare_cell(cell_in(source.text))
    by_hand = vaibify(third.root, "run")
    assert by_hand.code == 0, by_hand

    assert written(first) == written(second) == written(third)
    assert list(facts(first)) == [
        f".vaibify/{kind}/workflow/{slug}.json"
        for kind in ("records", "test_markers")
        for slug in sorted(SLUGS)
    ]
    assert facts(first) == facts(second) == facts(third)
    for one in (first, second, third):
        states = {slug: (step.run, step.unit_test) for slug, step in one.steps().items()}
        assert states == dict.fromkeys(SLUGS, ("current", "passed"))
    [_, _, clean, trend, figure, _] = json.loads(first.read("executed.ipynb"))["cells"]
    assert "517 months\n" in _said(clean) and "1.34 ppm a year\n" in _said(trend)
    shown = [one["data"] for one in figure["outputs"] if one["output_type"] == "display_data"]
    assert ["".join(one["text/plain"]).split("\n")[0] for one in shown] == [
        "figure: not verified yet",
        "[plot plots/co2.svg]",
    ]
    assert "".join(shown[1]["image/svg+xml"]) == first.read("plots/co2.svg")


def _said(cell: Any) -> str:
    return "".join("".join(one.get("text", "")) for one in cell["outputs"])
