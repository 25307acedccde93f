"""Write the schemas beside this file, and the tables of keys into the page that is named."""

from __future__ import annotations

import sys
from pathlib import Path

from vaibify_lab.core.schemas import schemas, with_tables


def main(pages: list[str]) -> None:
    """Write everything anew."""
    for name, data in schemas().items():
        (Path(__file__).parent / name).write_bytes(data)
    for page in pages:
        text = Path(page).read_text(encoding="utf-8")
        Path(page).write_text(with_tables(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
