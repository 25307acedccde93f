"""Ways to write .git and .vaibify, from within a run: denied, or told with the path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engines.test_local_attacks import ATTACKS
from tests.kit import Made
from tests.runs.here import record, step

from .ground import CONTAINERS, Ground, content, grounds, told

# Attacks of the engines' own tests that aim at the project; on the plain tier the others would
# change the machine itself. Each with the path that must be named where it succeeds.
MARKER = ".vaibify/test_markers/workflow/other.json"
AT_HOME = {
    "write a hook": ".git/hooks/post-checkout",
    "write a marker": MARKER,
    "append to git's settings": ".git/config",
    "truncate": ".git/config",
    "rename .git": ".git",
    "rename .vaibify": ".vaibify",
    "remove .git": ".git",
    "remove a folder below": ".git/hooks",
    "put a folder over .vaibify": ".vaibify",
    "put a file over .git": ".git",
    "exchange two names": ".vaibify",
    "hard link to settings": ".git/config",
    "hard link to a marker": MARKER,
    "symbolic link and through it": MARKER,
    "change a mode": MARKER,
    "change times": MARKER,
}
# The operating system has no such thing: a folder that holds something is not replaced.
IN_VAIN = {"put a folder over .vaibify", "put a file over .git"}


def script(attack: str) -> str:
    """Return an attack on this project, as lines of a script."""
    text = ATTACKS[attack].replace("/workspace/project", "$PWD")
    return text.replace(".vaibify/marker.json", MARKER) + "\n"


HERE = 'cd "$(dirname "$0")/.."\n'
FILES: dict[str, str | bytes] = {
    **{f"scripts/{number}.sh": HERE + script(name) for number, name in enumerate(AT_HOME)},
    "scripts/all.sh": f'for n in $(seq 0 {len(AT_HOME) - 1}); do bash "${{0%/*}}/$n.sh"; done\n',
    MARKER: "{}\n",
}


def attacking(script: str, place: str) -> dict[str, Any]:
    """Return a step that attacks and then makes its output."""
    if place == "root":
        return step("Evil", f"bash scripts/{script}.sh; echo 1 > w/o.txt", out=["w/o.txt"])
    command = f"bash ../scripts/{script}.sh; echo 1 > o.txt"
    return step("Evil", command, out="w/o.txt", sDirectory="w")


@grounds(*CONTAINERS, "bwrap")
@pytest.mark.parametrize("place", ["own", "root"])
def test_every_way_is_denied(ground: Ground, place: str) -> None:
    made = ground.made([attacking("all", place)], FILES)
    ground.hand_over(made)
    before = protected(made)
    ran = ground.run(made)
    assert ran.steps == {"evil": "passed"}
    assert protected(made) == before


def protected(made: Made) -> dict[str, object]:
    """Return what no step may write; the runner writes records, and git's index may be touched."""
    seen = content(made.root, ".git", ".vaibify")
    own = (".vaibify/local", ".vaibify/records", ".vaibify/environment.json", ".git/index")
    return {path: what for path, what in seen.items() if not path.startswith(own)}


@grounds("landlock", "plain")
@pytest.mark.parametrize("attack", AT_HOME)
def test_every_way_is_denied_or_told_with_its_path(ground: Ground, attack: str) -> None:
    number = list(AT_HOME).index(attack)
    place = "root" if ground.name == "landlock" else "own"  # Landlock confines any other
    made = ground.made([attacking(str(number), place)], FILES)
    for sample in (made.root / ".git/hooks").iterdir():
        sample.unlink()
    before = protected(made)
    ran = ground.run(made)
    if attack in IN_VAIN:
        assert (record(made, "evil").outcome, protected(made)) == ("passed", before)
    else:
        assert protected(made) != before
        assert record(made, "evil").outcome == "failed"
        assert AT_HOME[attack] in told(made, ran, "evil")


@grounds("landlock")
def test_landlock_keeps_a_step_with_its_own_folder_from_all_but_times_and_modes(
    ground: Ground,
) -> None:
    made = ground.made([attacking("all", "own")], FILES)
    before = protected(made)
    ran = ground.run(made)
    assert ran.steps == {"evil": "passed"}
    now = protected(made)
    assert {path for path, seen in now.items() if seen != before[path]} == {MARKER}
    assert made.read(MARKER) == "{}\n"
    assert "metadata" in [one["code"] for one in record(made, "evil").engine["cannot_prevent"]]


def test_a_run_whose_journal_is_taken_away_is_over_for_who_reads_it(tmp_path: Path) -> None:
    number = list(AT_HOME).index("rename .vaibify")
    made = Made.new(tmp_path / "p", [attacking(str(number), "own")], FILES)
    last = made.events(tier="plain")[-1]
    assert (last["event"], last["outcome"]) == ("runComplete", "interrupted")
    assert not made.steps()["evil"].green
