"""Files that a notebook reads and a clone would not have; places that only one machine has."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping

from vaibify_lab.core.finding import Finding
from vaibify_lab.core.paths import is_of_one_machine, shown
from vaibify_lab.files.filenames import FileReader, FileUse
from vaibify_lab.notebooks.foretell.telling import Around, CodeCell, Telling, live

_SHELLS = frozenset({"bash", "sh", "script", "system", "sx", "!"})
_WRITTEN = re.compile(r"^%%(?:writefile|file)\s+(?:-a\s+)?(\S+)", re.MULTILINE)
_URL = re.compile(r"(?:https?|ftp|s3|gs)://", re.IGNORECASE)
_BRINGS_UNSEEN = re.compile(r"\b(?:wget|curl|git|unzip|tar|gunzip|gdown|kaggle|cp|mv|make|dvc)\b")
_HOME = re.compile(
    r"(?:~/|/(?:home|Users)/[\w.-]+(?:/|$)|/root(?=/)|[A-Za-z]:[\\/]+Users[\\/])[^\n*?<>{}|]{0,250}"
)
_MOVES = re.compile(r"%(?:cd|run)\b")
_CALLS_UNSEEN = frozenset(
    {"chdir", "system", "check_call", "check_output", "Popen", "extractall", "run"}
)
_OUTPUTS = ("saDataFiles", "saPlotFiles", "saOutputFiles")
_WORDS: Mapping[str, str] = {
    "missing": "which is not here",
    "not-committed": "which is here and not committed: a clone would not have it",
    "lfs": "of which only a git LFS pointer is here",
    "outside": "which lies outside of the repository",
}


def file_findings(telling: Telling, around: Around) -> Iterator[Finding]:
    """Yield files that are not there for others, absolute paths, and network addresses."""
    reader = FileReader()
    uses = [
        (cell, use)
        for cell in telling.cells
        for use in (reader if cell.step is None else FileReader()).read(cell.tree)
    ]
    written = {_seen_from(telling, cell, use.path) for cell, use in uses if use.writes}
    written |= {one for cell in telling.cells for one in _written_by_magic(cell.cell.source)}
    written |= {one for cell in telling.cells for one in _declared(telling, cell)}
    written |= {posixpath.normpath(text) for text in reader.handed}  # it may be made there
    moves = any(_goes_elsewhere(cell) for cell in telling.cells)
    told: set[tuple[str, str]] = set()
    for cell, use in uses:
        found = _about(telling, cell.number, use)
        if found is None and not (use.writes or moves):
            found = _missing(telling, around, cell, use, written)
        if found is not None and use.certain and (found.code, use.path) not in told:
            told.add((found.code, use.path))
            yield found
    for cell in telling.cells:
        for text in _homes(cell):
            if ("absolute-path", text) not in told:
                told.add(("absolute-path", text))
                yield _of_one_machine(telling, cell.number, text)


def _about(telling: Telling, number: int, use: FileUse) -> Finding | None:
    """Return what is to be said of a path by its text alone."""
    text = shown(use.path[:200])
    if _URL.match(use.path):
        said = f"reaches into the network: {text}"
        return telling.finding("warning", "network", number, said)
    return _of_one_machine(telling, number, use.path) if is_of_one_machine(use.path) else None


def _of_one_machine(telling: Telling, number: int, path: str) -> Finding:
    action = "put it into the repository and name it from the notebook's folder"
    said = f"names {shown(path[:200])!r}, which other people do not have"
    return telling.finding("warning", "absolute-path", number, said, action)


def _homes(cell: CodeCell) -> Iterator[str]:
    """Yield paths below somebody's home, whatever is done with them: texts, and words of magics."""
    inner = {
        part
        for node in ast.walk(cell.tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values[1:]  # what stands before makes it another path
    }
    for node in live(cell.tree):
        text = node.value if isinstance(node, ast.Constant) and node not in inner else None
        if isinstance(text, str) and _HOME.fullmatch(text):
            yield text
    lines = [one.text for one in cell.expected]
    if cell.magic is not None and cell.magic.name in _SHELLS:
        lines += [one for one in cell.magic.body.split("\n") if not one.lstrip().startswith("#")]
    for line in lines:
        yield from filter(_HOME.fullmatch, re.split(r"[\s\"'=;|&<>()]+", line))


def _missing(
    telling: Telling, around: Around, cell: CodeCell, use: FileUse, written: set[str]
) -> Finding | None:
    path = _seen_from(telling, cell, use.path)
    parts = path.split("/")
    above = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    if path.startswith("/") or above & written or _is_pattern(use.path):
        return None
    place = around.place(path)
    if place not in _WORDS:
        return None
    said = f"reads {shown(use.path[:200])!r}, {_WORDS[place]}"
    action = "put it into the repository and commit it"
    return telling.finding("error", f"file-{place}", cell.number, said, action)


def _seen_from(telling: Telling, cell: CodeCell, path: str) -> str:
    """Return a path of a cell as the notebook's folder has it; a step runs in its own."""
    if cell.step is None or posixpath.isabs(path):
        return posixpath.normpath(path)
    inner = posixpath.join(cell.step.directory, path)
    return posixpath.relpath(inner, posixpath.dirname(telling.path) or ".")


def _declared(telling: Telling, cell: CodeCell) -> list[str]:
    """Return the outputs that a step cell declares: it makes them, whatever its text shows."""
    if cell.step is None:
        return []
    paths = [path for key in _OUTPUTS for path in cell.step.keys.get(key, ())]
    folder = posixpath.dirname(telling.path) or "."
    return [posixpath.relpath(path.rstrip("/"), folder) for path in paths]


def _is_pattern(text: str) -> bool:
    return not text.strip() or any(char in text for char in "*?[]{}<>\n\0") or len(text) > 300


def _goes_elsewhere(cell: CodeCell) -> bool:
    """Tell whether a cell goes to another folder, or gets files that no call shows."""
    if any(_BRINGS_UNSEEN.search(line) for line in cell.shell_lines):
        return True
    if cell.magic is not None and cell.magic.name in _SHELLS:
        return True
    if any(_MOVES.match(line) for line in cell.magics):
        return True
    calls = (node.func for node in ast.walk(cell.tree) if isinstance(node, ast.Call))
    return any(getattr(one, "attr", getattr(one, "id", "")) in _CALLS_UNSEEN for one in calls)


def _written_by_magic(source: str) -> list[str]:
    return [posixpath.normpath(one) for one in _WRITTEN.findall(source)]
