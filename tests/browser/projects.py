"""Small projects that a browser test works with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kit import Made

DOT = (  # a PNG of one point
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

# The first step waits for a file, so that a test decides when it goes on.
GATED: list[dict[str, Any]] = [
    {
        "sName": "Draw",
        "sDescription": "Waits, then draws.",
        "saDataCommands": ["bash draw.sh"],
        "saDataFiles": ["out/number.txt"],
        "saPlotFiles": ["out/dot.png"],
        "bNoInputData": True,
        "saTestCommands": ["test -s out/number.txt"],
    },
    {
        "sName": "Count",
        "saDataCommands": ["wc -c < {Step01.number} > count/size.txt"],
        "saDataFiles": ["count/size.txt"],
        "bNoTests": True,
    },
]
GATED_FILES = {
    ".gitignore": "gate\n",
    "draw.sh": f"""echo 'drawing begins'
until [ -e gate ]; do sleep 0.1; done
cat gate > out/number.txt
echo {DOT} | base64 -d > out/dot.png
echo 'drawing ends'
""",
}


def gated(root: Path) -> Made:
    """Make the project whose first step waits until its ``gate`` is written."""
    return Made.new(root, GATED, GATED_FILES)
