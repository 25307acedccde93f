"""A notebook as read: its cells in order, whatever format its file has; the file is only read.

Formats 4.0 to 4.5 are read as they are, older ones through nbformat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile

_OLDEST, _LATEST = 3, 4


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a cell.

    ``kind`` is nbformat's: stream, display_data, execute_result or error. ``data`` holds the
    representations by MIME type (a stream's text as text/plain), ``name`` a stream's or an error's.
    """

    kind: str
    data: Mapping[str, Any]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; ``number`` counts all cells from 1."""

    number: int
    kind: str
    source: str
    id: str | None = None
    outputs: tuple[Output, ...] = ()
    count: int | None = None
    tags: frozenset[str] = frozenset()

    @property
    def is_code(self) -> bool:
        """Whether a kernel runs it."""
        return self.kind == "code"

    @property
    def may_fail(self) -> bool:
        """Whether it says that it raises."""
        return "raises-exception" in self.tags

    @property
    def is_skipped(self) -> bool:
        """Whether it says that a headless run passes it over."""
        return "skip-execution" in self.tags


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook: its cells, the kernel that it asks for, its language."""

    cells: tuple[Cell, ...]
    kernel: str | None = None
    language: str = "python"
    format: tuple[int, int] = (4, 5)
    problems: tuple[str, ...] = field(default=())

    @property
    def code(self) -> tuple[Cell, ...]:
        """The cells that hold something to run."""
        return tuple(cell for cell in self.cells if cell.is_code and cell.source.strip())


def read_notebook(data: bytes, where: str) -> Notebook:
    """Read a notebook.

    Raises
    ------
    InvalidFile
        It is empty, no JSON, no notebook, of a format that nobody here knows, or gives two cells
        one id.
    """
    if not data.strip():
        raise InvalidFile("is an empty notebook", where=where, action="save it once in JupyterLab")
    value = jsonio.loads(data, where, constants=True)
    major, minor = _format(value, where)
    if major < _LATEST:
        value = _upgraded(data, where)
    cells = value.get("cells")
    if not isinstance(cells, list):
        raise InvalidFile("is no notebook: it has no list of cells", where=where)
    found = tuple(_cell(one, number, where) for number, one in enumerate(cells, 1))
    _require_single_ids(found, where)
    metadata = _mapping(value.get("metadata"))
    return Notebook(found, _kernel(metadata), _language(metadata), (major, minor))


def _format(value: Any, where: str) -> tuple[int, int]:
    if not isinstance(value, dict):
        raise InvalidFile("is no notebook: expected a JSON object", where=where)
    major, minor = value.get("nbformat"), value.get("nbformat_minor", 0)
    if not isinstance(major, int) or not isinstance(minor, int) or isinstance(major, bool):
        raise InvalidFile("is no notebook: it has no number nbformat", where=where)
    if not _OLDEST <= major <= _LATEST:
        text = f"has notebook format {major}.{minor}, which cannot be read here"
        raise InvalidFile(text, where=where, action="open it in JupyterLab and save it")
    return major, minor


def _upgraded(data: bytes, where: str) -> dict[str, Any]:
    """Return a notebook of format 3 as one of format 4; nothing on disk changes."""
    import nbformat.reader  # old notebooks are few

    reads: Callable[[str], Any] = nbformat.reader.reads  # nbformat gives them no types
    convert: Callable[[Any, int], Any] = nbformat.convert
    try:
        return dict(convert(reads(data.decode("utf-8")), _LATEST))
    except Exception as error:  # whatever a broken old notebook makes it raise
        text = f"is of notebook format 3 and cannot be converted ({type(error).__name__})"
        raise InvalidFile(text, where=where, action="open it in JupyterLab and save it") from None


def _cell(value: Any, number: int, where: str) -> Cell:
    if not isinstance(value, dict) or not isinstance(value.get("cell_type"), str):
        raise InvalidFile(f"is no notebook: cell {number} has no type", where=where)
    outputs = value.get("outputs", [])
    if not isinstance(outputs, list):
        raise InvalidFile(f"is no notebook: the outputs of cell {number} are no list", where=where)
    count, name = value.get("execution_count"), value.get("id")
    tags = _mapping(value.get("metadata")).get("tags")
    return Cell(
        number,
        value["cell_type"],
        _source(value.get("source", ""), number, where),
        name if isinstance(name, str) and name else None,
        tuple(_outputs(outputs)),
        count if isinstance(count, int) else None,
        frozenset(tag for tag in tags if isinstance(tag, str))
        if isinstance(tags, list)
        else frozenset(),
    )


def _outputs(values: Iterable[Any]) -> Iterable[Output]:
    for value in values:
        given = _mapping(value)
        kind = str(given.get("output_type", ""))
        if kind == "stream":
            yield Output(
                kind, {"text/plain": _text(given.get("text", ""))}, str(given.get("name", "stdout"))
            )
        elif kind == "error":
            said = f"{given.get('ename', '')}: {given.get('evalue', '')}"
            yield Output(kind, {"text/plain": said}, str(given.get("ename", "")))
        else:
            data = _mapping(given.get("data"))
            yield Output(kind, {str(key): _content(item) for key, item in data.items()})


def _content(value: Any) -> Any:
    """Return what a representation holds: texts may be written as lists of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _source(value: Any, number: int, where: str) -> str:
    if isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(line, str) for line in value)
    ):
        return "".join(value)
    raise InvalidFile(f"is no notebook: the source of cell {number} is no text", where=where)


def _require_single_ids(cells: tuple[Cell, ...], where: str) -> None:
    first: dict[str, int] = {}
    for cell in cells:
        if cell.id is not None and first.setdefault(cell.id, cell.number) != cell.number:
            text = f"cells {first[cell.id]} and {cell.number} have one id, {cell.id[:70]!r}"
            action = "open it in JupyterLab and save it, which gives each its own"
            raise InvalidFile(text, where=where, action=action)


def _kernel(metadata: Mapping[str, Any]) -> str | None:
    name = _mapping(metadata.get("kernelspec")).get("name")
    return name if isinstance(name, str) and name else None


def _language(metadata: Mapping[str, Any]) -> str:
    for place, key in (("kernelspec", "language"), ("language_info", "name")):
        name = _mapping(metadata.get(place)).get(key)
        if isinstance(name, str) and name:
            return name.lower()
    return "python"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
