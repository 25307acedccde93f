"""Replays that were not bit-identical, kept on this machine: ``.vaibify/local/replays/<time>/``.

Not beside the kept run: a replay speaks of this machine, and who replays may be no author. In
``replay.json`` is what was found, in ``outputs/`` what came out otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from vaibify_lab.ceremony.copying import copy_file
from vaibify_lab.ceremony.replayed import Replay
from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.aside import delete
from vaibify_lab.runs.journal import new_run_id
from vaibify_lab.runs.start import ignore_local

REPLAYS = f"{LOCAL}/replays"
_MOST = 20  # replays
_MOST_BYTES = 256 * 2**20  # of outputs, of one replay


def keep(tree: Tree, replay: Replay, copy: Tree | None = None) -> Replay:
    """Keep a replay unless it was bit-identical; return it with the place.

    Where the repository cannot be written it is not kept, and ``kept`` says so.
    """
    if replay.is_identical:
        return replay
    place = f"{REPLAYS}/{new_run_id()}"
    kept = replace(replay, kept=place)
    try:
        ignore_local(tree)
        tree.write(f"{place}/replay.json", jsonio.dumps(kept.to_json()))
    except VaibifyError:
        return replay
    if copy is not None:
        _keep_outputs(tree, replay, copy, place)
    _prune(tree)
    return kept


def failed_replay(tree: Tree, run_id: str) -> str | None:
    """Return where the latest replay of a run that gave other bytes is kept; None: nowhere."""
    with suppress(VaibifyError), tree.inside(REPLAYS) as here:
        for name in sorted(here.names() if here is not None else (), reverse=True):
            with suppress(VaibifyError):
                value = jsonio.loads(tree.read(f"{REPLAYS}/{name}/replay.json"), name)
                steps = value.get("steps", ()) if isinstance(value, dict) else ()
                if any(_is_of(one, run_id) for one in steps):
                    return f"{REPLAYS}/{name}"
    return None


def _is_of(step: object, run_id: str) -> bool:
    state = isinstance(step, dict) and step.get("run_id") == run_id and step.get("state")
    return state in ("differs", "equal")


def _keep_outputs(tree: Tree, replay: Replay, copy: Tree, place: str) -> None:
    target = tree.root / place / "outputs"
    target.mkdir()
    left = _MOST_BYTES
    for path in _other(replay):
        seen = copy.lstat(path)
        if seen is None or seen.st_size > left:
            continue
        left -= seen.st_size
        with suppress(OSError, VaibifyError):  # what is kept is for convenience
            copy_file(copy, path, Tree(target), 0o644)


def _other(replay: Replay) -> Iterator[str]:
    for step in replay.steps:
        yield from (one.path for one in step.outputs if one.verdict != "identical")


def _prune(tree: Tree) -> None:
    folder = tree.root / REPLAYS
    for old in sorted(one for one in folder.iterdir() if one.is_dir())[:-_MOST]:
        delete(old)
