"""Files that a notebook reads and a clone would not have; places that only one machine has."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaibify_lab.core.finding import Finding
from vaibify_lab.core.paths import shown
from vaibify_lab.notebooks.foretell.telling import Around, Telling, live

_READERS_WORDS = """
    open read_csv read_table read_fwf read_json read_excel read_parquet read_feather
    read_pickle read_hdf read_stata read_sas read_spss read_xml read_file loadtxt genfromtxt
    fromfile load imread open_dataset open_dataarray open_zarr loadmat read_text read_bytes
    File
"""
_READERS = frozenset(_READERS_WORDS.split())
_WRITERS_WORDS = """
    savefig save savez savez_compressed savetxt tofile imwrite imsave write_text write_bytes
    mkdir makedirs to_csv to_json to_excel to_parquet to_pickle to_hdf to_feather to_file
    to_netcdf to_zarr to_html write_html write_image dump savemat copy copyfile copy2
    copytree move rename urlretrieve touch write writeto extractall
"""
_WRITERS = frozenset(_WRITERS_WORDS.split())
_FETCHERS_WORDS = """
    urlopen urlretrieve get post put request Request download download_file retrieve
"""
_FETCHERS = frozenset(_FETCHERS_WORDS.split())
_SHELLS = frozenset({"bash", "sh", "script", "system", "sx", "!"})
_WRITTEN = re.compile(r"^%%(?:writefile|file)\s+(?:-a\s+)?(\S+)", re.MULTILINE)
_WRITING_MODE = re.compile(r"[wax+]")
_URL = re.compile(r"(?:https?|ftp|s3|gs)://", re.IGNORECASE)
_HOME = re.compile(r"~|/home/|/Users/|/root/|[A-Za-z]:[\\/]")
_ABSOLUTE = re.compile(r"/[^/\s]+/")
_SHARED = ("/dev/", "/proc/", "/sys/", "/tmp/", "/usr/", "/etc/", "/workspace/")  # noqa: S108
_BRINGS_UNSEEN = re.compile(r"\b(?:wget|curl|git|unzip|tar|gunzip|gdown|kaggle|cp|mv|make|dvc)\b")
_WORDS: Mapping[str, str] = {
    "missing": "which is not here",
    "not-committed": "which is here and not committed: a clone would not have it",
    "lfs": "of which only a git LFS pointer is here",
    "outside": "which lies outside of the repository",
}
Constants = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Use:
    """One constant text that is given to a call, and by which name that is called."""

    cell: int
    called: str
    text: str
    is_written: bool = False


def file_findings(telling: Telling, around: Around) -> Iterator[Finding]:
    """Yield files that are not there for others, absolute paths, and network addresses."""
    constants = _constants(telling)
    uses = [use for cell in telling.cells for use in _uses(cell.number, cell.tree, constants)]
    everything = [
        use for cell in telling.cells for use in _uses(cell.number, cell.tree, constants, all_=True)
    ]
    written = {posixpath.normpath(use.text) for use in everything if use.is_written}
    written |= {one for cell in telling.cells for one in _written_by_magic(cell.cell.source)}
    told: set[tuple[str, str]] = set()
    for use in uses:
        for finding in _about(telling, around, use, written):
            if (finding.code, use.text) not in told:
                told.add((finding.code, use.text))
                yield finding


def _about(telling: Telling, around: Around, use: Use, written: set[str]) -> Iterator[Finding]:
    text = shown(use.text[:200])
    if _URL.match(use.text):
        if use.called in _READERS | _FETCHERS:
            said = f"reaches into the network: {text}"
            yield telling.finding("warning", "network", use.cell, said)
    elif use.called not in _READERS | _WRITERS:
        return
    elif _HOME.match(use.text) or (_ABSOLUTE.match(use.text) and not use.text.startswith(_SHARED)):
        action = "put it into the repository and name it from the notebook's folder"
        said = f"names {text!r}, which other people do not have"
        yield telling.finding("warning", "absolute-path", use.cell, said, action)
    elif not use.is_written and not use.text.startswith("/") and not _moves(telling):
        yield from _missing(telling, around, use, written)


def _missing(telling: Telling, around: Around, use: Use, written: set[str]) -> Iterator[Finding]:
    path = posixpath.normpath(use.text)
    parts = path.split("/")
    above = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    if above & written or _is_pattern(use.text):
        return
    place = around.place(path)
    if place in _WORDS:
        said = f"reads {shown(use.text[:200])!r}, {_WORDS[place]}"
        action = "put it into the repository and commit it"
        yield telling.finding("error", f"file-{place}", use.cell, said, action)


def _is_pattern(text: str) -> bool:
    return not text.strip() or any(char in text for char in "*?{}<>\n\0") or len(text) > 300


def _moves(telling: Telling) -> bool:
    """Tell whether the notebook goes to another folder, or gets files that no call shows."""
    for cell in telling.cells:
        if any(_BRINGS_UNSEEN.search(line) for line in cell.shell_lines):
            return True
        if cell.magic is not None and cell.magic.name in (
            "bash",
            "sh",
            "script",
            "system",
            "sx",
            "!",
        ):
            return True
        if any(re.match(r"%(?:cd|run)\b", line) for line in cell.magics):
            return True
        calls = (node.func for node in ast.walk(cell.tree) if isinstance(node, ast.Call))
        names = {getattr(one, "attr", getattr(one, "id", "")) for one in calls}
        if names & {"chdir", "system", "check_call", "check_output", "Popen", "extractall", "run"}:
            return True
    return False


def _uses(number: int, tree: ast.AST, constants: Constants, *, all_: bool = False) -> Iterator[Use]:
    for node in ast.walk(tree) if all_ else live(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        given = [*node.args, *(one.value for one in node.keywords)]
        if isinstance(called, ast.Attribute) and not node.args:
            given.append(called.value)  # Path("x").read_text()
        elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Call):
            given.append(called.value)
        is_written = name in _WRITERS or (name in ("open", "File") and _is_for_writing(node))
        texts = [_constant(one, constants) for one in (given if is_written else given[:1] or given)]
        yield from (Use(number, name, text, is_written) for text in texts if text)


def _is_for_writing(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "mode")]
    if isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        modes += call.args  # Path("x").open("w")
    said = [one.value for one in modes if isinstance(one, ast.Constant)]
    return any(isinstance(one, str) and _WRITING_MODE.search(one) and len(one) < 4 for one in said)


def _constants(telling: Telling) -> Constants:
    """Return the names that are bound once in the notebook, to a constant text."""
    bound: dict[str, list[ast.expr | None]] = {}
    for cell in telling.cells:
        for node in ast.walk(cell.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        bound.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.setdefault(node.id, [])
    found: dict[str, str] = {}
    for name, values in bound.items():
        text = _constant(values[0], found) if len(values) == 1 and values[0] else None
        if text is not None:
            found[name] = text
    return found


def _constant(node: ast.expr, known: Constants) -> str | None:
    """Return the text that an expression surely is; None for every other."""
    match node:
        case ast.Constant(str() as text):
            return text
        case ast.Name(name):
            return known.get(name)
        case ast.BinOp(left, ast.Add(), right):
            return _joined("", _constant(left, known), _constant(right, known))
        case ast.BinOp(left, ast.Div(), right):
            return _joined("/", _constant(left, known), _constant(right, known))
        case ast.Call(
            ast.Name("Path" | "str") | ast.Attribute(attr="Path" | "join"), [_, *_] as args
        ):
            return _joined("/", *(_constant(one, known) for one in args))
    return None


def _joined(between: str, *parts: str | None) -> str | None:
    known = [part for part in parts if part is not None]
    return between.join(known) if len(known) == len(parts) else None


def _written_by_magic(source: str) -> list[str]:
    return [
        posixpath.normpath(one)
        for one in re.findall(r"^%%(?:writefile|file)\s+(?:-a\s+)?(\S+)", source, re.MULTILINE)
    ]
