"""Replay: a recorded run again, bit by bit; docs/replay.md is what each drift must be called."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import Made, git
from vaibify_lab.core.components import env_hash
from vaibify_lab.project import Project

TABLE = Path(__file__).parents[2] / "docs/replay.md"
FILES = {
    "data/in.txt": "1\n",
    "data/more.txt": "2\n",
    "scripts/helper.py": "def double(text):\n    return 2 * int(text)\n",
    "scripts/make.py": (
        "import sys\nfrom helper import double\n"
        "print(double(open('data/in.txt').read()), file=open('out/a.txt', 'w'))\n"
    ),
}


def step(name: str, command: str, **more: Any) -> dict[str, Any]:
    """Return a step with one output."""
    output = f"{name.lower()}/o.txt"
    base = {"sName": name, "saDataCommands": [f"{command} > {output}"], "saDataFiles": [output]}
    return {**base, "bNoTests": True, **more}


MAKE = {
    "sName": "Make",
    "saDataCommands": ["python scripts/make.py"],
    "saDataFiles": ["out/a.txt"],
    "saInputDataFiles": ["data/in.txt"],
    "bNoTests": True,
}
STEPS = [
    MAKE,
    step("Clock", "date +%FT%T.%N"),
    step("After", "cat clock/o.txt", saInputDataFiles=["clock/o.txt"]),
    step("Chance", "python -c 'import random; print(random.random())'"),
    step("Order", "python -c \"print(hash('x'))\""),
    step("Count", "nproc"),
    step("Sly", "cat data/more.txt"),
]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose steps have all run; it is copied, never changed."""
    made = Made.new(tmp_path_factory.mktemp("replay") / "project", STEPS, FILES)
    assert vaibify(made.root, "run").code == 0
    made.commit("results")
    return made.root


@pytest.fixture
def made(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(finished, tmp_path / "project", symlinks=True)
    return Made(tmp_path / "project")


# each change of the table


def edited(made: Made, slug: str, **changes: Any) -> None:
    """Make a record say what one would of a run on another machine."""
    path = f".vaibify/records/workflow/{slug}.json"
    value = made.fact(path)
    for key, change in changes.items():
        value[key] = {**value[key], **change} if isinstance(change, dict) else change
    value["env_hash"] = env_hash(value["components"])
    made.write(path, json.dumps(value))


def component(name: str, value: str = "another") -> Callable[[Made], None]:
    return lambda made: edited(made, "make", components={name: value})


def declared(**changes: Any) -> Callable[[Made], None]:
    return lambda made: made.workflow([{**MAKE, **changes}, *STEPS[1:]])


def top(**changes: Any) -> Callable[[Made], None]:
    return lambda made: made.workflow(STEPS, **changes)


def wrote(path: str, content: str) -> Callable[[Made], None]:
    return lambda made: made.write(path, content) and None


def gone(made: Made) -> None:
    (made.root / "data/in.txt").unlink()


def in_an_image(made: Made) -> None:
    digest = f"sha256:{'1' * 64}"
    engine = {"kind": "docker", "image": digest}
    edited(made, "make", image=digest, engine=engine, components={"image": digest})


def of_many_processors(made: Made, **more: Any) -> None:
    """A step that wrote how many processors there were, on a machine of a thousand."""
    made.write("count/o.txt", "1000\n")
    pins = {"outputs": {"count/o.txt": hashlib.sha256(b"1000\n").hexdigest()}}
    edited(made, "count", pins=pins, **more)


SCENES: dict[str, Callable[[Made], None] | None] = {
    "an input": wrote("data/in.txt", "3\n"),
    "an input that is gone": gone,
    "one more input": declared(saInputDataFiles=["data/in.txt", "data/more.txt"]),
    "a file that it reads undeclared": wrote("data/more.txt", "3\n"),
    "what a step before gives": None,
    "the script": wrote("scripts/make.py", FILES["scripts/make.py"] + "# more\n"),
    "a module that the script imports": wrote(
        "scripts/helper.py", "def double(text):\n    return int(text) * 2\n"
    ),
    "the command": declared(saDataCommands=["python -E scripts/make.py"]),
    "a variable of the step": declared(dictEnvironment={"MODE": "fast"}),
    "the number of threads": declared(dictEnvironment={"OMP_NUM_THREADS": "4"}),
    "the seed": top(iSeed=7),
    "deterministic mode": top(bDeterministic=True),
    "the network": wrote("vaibify.yml", "projectName: project\nnetworkIsolation: true\n"),
    "the lock": wrote("requirements.lock", "# nothing\n"),
    "the image": in_an_image,
    "the locale": declared(dictEnvironment={"LC_ALL": "de_DE.UTF-8"}),
    "preloaded libraries": declared(dictEnvironment={"LD_PRELOAD": "/nowhere/libfast.so"}),
    "time zones": component("tzdata", "# version 2001a"),
    "the packages": component("packages", "0" * 64),
    "Python": component("python", "CPython 3.8.1"),
    "the C library": component("libc", "glibc 2.1"),
    "CUDA": component("cuda", "11.8"),
    "the kernel": component("kernel", "Linux 4.4.0"),
    "the processor": component("cpu"),
    "the processor's instructions": component("cpu_features", "sse"),
    "the graphics driver": component("driver", "nvidia 535.1"),
    "the architecture": component("architecture", "riscv64"),
    "the processor, accepted, and other bytes": lambda made: of_many_processors(
        made, components={"cpu": "another"}
    ),
    "the number of processors": lambda made: of_many_processors(made, host={"cpus": "1000"}),
    "the processors that it may use": lambda made: of_many_processors(
        made, host={"usable_cpus": "1000"}
    ),
    "a line that tells the time": None,
    "numbers drawn at random": None,
    "the order of a set": None,
}


def rows() -> dict[str, tuple[list[str], str, str]]:
    """Return what the page says: the words that are asked, the layer, what is named."""
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[1].startswith("`replay "):
            words = cells[1].strip("`").split()[1:]
            found[cells[0]] = (words, cells[2], cells[3])
    return found


ROWS = rows()


def test_every_row_has_a_change_and_every_change_a_row() -> None:
    assert list(ROWS) == list(SCENES) and len(ROWS) >= 20


@pytest.mark.parametrize("name", ROWS)
def test_the_layer_that_drifted(name: str, made: Made) -> None:
    words, layer, named = ROWS[name]
    accept = words[words.index("--accept") + 1 :] if "--accept" in words else []
    slugs = words[: words.index("--accept")] if accept else words
    change = SCENES[name]
    if change is not None:
        change(made)
    before = contents(made.root)
    found = Project(made.root, cached=False).replay(slugs, accept)
    last = found.steps[-1]
    assert (found.is_identical, last.layer) == (False, layer), last.to_json()
    first = [one.name for one in (*last.drift, *last.accepted, *last.found) if one.layer == layer]
    assert first[:1] == ([named] if named else []), last.to_json()
    assert bool(last.outputs) is (not last.drift)
    assert contents(made.root) == before, "nothing of the project is changed"
    kept = json.loads((made.root / str(found.kept) / "replay.json").read_text())
    assert kept == json.loads(json.dumps(found.to_json()))
    for output in last.outputs:
        assert (made.root / str(found.kept) / "outputs" / output.path).is_file()
    folder = made.root.parent
    assert not list(folder.glob(".vaibify-rerun-*")), "no copy is left"


def contents(root: Path) -> dict[str, bytes]:
    """Return every file but git's and this machine's."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not re.match(r"\.git/|\.vaibify/local/", str(path.relative_to(root)))
    }


# what a person sees


def test_a_run_is_made_again_bit_by_bit_also_in_a_clone(made: Made, tmp_path: Path) -> None:
    done = vaibify(made.root, "replay", "make")
    assert (done.code, done.out, done.err) == (0, "✓ make: bit-identical (1 output)\n", "")
    assert not (made.root / ".vaibify/local/replays").exists()
    there = made.clone(tmp_path / "clone")
    there.write("out/a.txt", "spoilt here\n")  # the record is what it is compared with
    assert vaibify(there.root, "replay", "make").code == 0
    assert git(there.root, "status", "--short") == " M out/a.txt\n"


def test_a_difference_is_told_and_may_be_accepted(made: Made) -> None:
    edited(made, "make", components={"cpu": "Abacus 3000", "kernel": "Linux 4.4.0"})
    now = Project(made.root).replay(["make"]).steps[0].drift
    told = {one.name: one.now for one in now}
    done = vaibify(made.root, "replay", "make")
    assert done.code == 1
    assert f"    machine: cpu: then Abacus 3000, now {told['cpu']}\n" in done.out
    assert "    layer that drifted: machine\n" in done.out
    assert done.err.startswith("jupyter vaibify replay: step 'make' was not run: machine: kernel: ")
    half = vaibify(made.root, "replay", "make", "--accept", "cpu")
    assert half.code == 1 and "machine: kernel: then Linux 4.4.0, now " in half.out
    done = vaibify(made.root, "replay", "make", "--accept", "kernel,cpu", "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["identical"], answer["kept"]) == (0, True, None)
    assert [one["name"] for one in answer["steps"][0]["accepted"]] == ["kernel", "cpu"]
    plain = vaibify(made.root, "replay", "make", "--accept", "kernel,cpu").out
    assert f"make: accepted: cpu: then Abacus 3000, now {told['cpu']}\n" in plain


def test_date_and_mode_of_the_record_are_in_force_again(tmp_path: Path) -> None:
    """The date of a deterministic run is that of its record, whatever the environment says now."""
    steps = [step("Date", "echo $SOURCE_DATE_EPOCH $VAIBIFY_SEED $PYTHONHASHSEED")]
    made = Made.new(tmp_path / "p", steps, {})
    assert vaibify(made.root, "run", "--deterministic").code == 0
    place = made.root / ".vaibify/environment.json"
    text = place.read_text()
    epoch = json.loads(text)["iSourceDateEpoch"]
    assert made.read("date/o.txt").split()[::2] == [str(epoch), "0"]
    place.write_text(text.replace(str(epoch), "86400"))
    assert vaibify(made.root, "replay", "--all").code == 0


def test_a_kept_run_is_made_again_by_its_fingerprint(made: Made) -> None:
    cited = json.loads(vaibify(made.root, "cite", "make", "chance", "--json").out)["cited"]
    names = [one["run_fingerprint"] for one in cited]
    manifest = json.loads((made.root / cited[0]["folder"] / "manifest.json").read_text())
    record = json.loads((made.root / ".vaibify/records/workflow/make.json").read_text())
    for key in ("env_hash", "seed"):
        assert manifest[key] == record[key]
    assert manifest["requirements_lock_path"] is None, "it ran without one"
    made.write("data/in.txt", "4\n")
    assert vaibify(made.root, "run", "make", "chance").code == 0
    done = vaibify(made.root, "replay", names[0][:9])
    assert (done.code, "input: data/in.txt: then " in done.out) == (1, True), done.out
    made.write("data/in.txt", "1\n")
    assert vaibify(made.root, "replay", names[0]).code == 0
    assert vaibify(made.root, "replay", "make").code == 1, "that run read another input"
    done = vaibify(made.root, "replay", names[1][:12])
    assert (done.code, "layer that drifted: none found: " in done.out) == (1, True), done.out
    assert ("bDeterministic in the workflow fixes seeds" in done.out) is not record["deterministic"]
    text = json.dumps({**manifest, "versions": {**manifest["versions"], "components": {"cpu": 1}}})
    (made.root / cited[0]["folder"] / "manifest.json").write_text(text)
    done = vaibify(made.root, "replay", names[0])
    assert done.code == 2 and "manifest.json: components.cpu: " in done.err, done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "replay takes steps or --all; jupyter vaibify replay STEP"),
        (("make", "--all"), 2, "replay takes steps or --all; jupyter vaibify replay STEP"),
        (("nosuch",), 2, "workflow.json: there is no step 'nosuch' (there are: make, clock, "),
        (("make", "--accept", "moon"), 2, "there is no component 'moon'; one of: lock, image, "),
        (("make", "--accept", "input"), 2, "there is no component 'input'; one of: lock, "),
    ],
)
def test_wrong_questions(made: Made, words: tuple[str, ...], code: int, said: str) -> None:
    done = vaibify(made.root, "replay", *words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"jupyter vaibify replay: {said}")


def test_what_cannot_be_made_again_is_said(made: Made) -> None:
    edited(made, "clock", plot_only=True)
    path = ".vaibify/records/workflow/order.json"
    value = made.fact(path)
    value["components"]["cpu"] = "another"
    made.write(path, json.dumps(value))
    (made.root / ".vaibify/records/workflow/chance.json").unlink()
    for slug, said in (
        ("clock", "its last run made only plots; run it whole first"),
        ("order", "its record's env_hash is not that of its components"),
        ("chance", "no run of it that passed is on record"),
    ):
        done = vaibify(made.root, "replay", slug)
        assert (done.code, done.err) == (1, f"jupyter vaibify replay: step {slug!r}: {said}\n")
    found = vaibify(made.root, "replay", "make", "clock")
    assert (found.code, found.out.splitlines()[0]) == (1, "✗ make: not run")


def test_a_step_that_fails_now_is_told(made: Made) -> None:
    """What made it pass is on no record: a file that git ignores and nobody declared."""
    steps = [step("Lean", "cat hidden.txt"), *STEPS]
    made.workflow(steps)
    made.write(".gitignore", "hidden.txt\n")
    made.write("hidden.txt", "1\n")
    assert vaibify(made.root, "run", "lean").code == 0
    done = vaibify(made.root, "replay", "lean")
    text = "step 'lean': did not find the file 'hidden.txt'"
    remedy = "put it into the repository, or let a step make it"
    assert (done.code, done.err) == (1, f"jupyter vaibify replay: {text}; {remedy}\n")
    assert "lean/o.txt: not produced" in done.out


def test_no_more_than_so_many_are_kept(made: Made) -> None:
    place = made.root / ".vaibify/local/replays"
    for number in range(25):
        (place / f"20200101T0000{number:02}-00000000").mkdir(parents=True)
    made.write("data/in.txt", "5\n")
    found = Project(made.root).replay(["make"])
    names = sorted(os.listdir(place))
    assert len(names) == 20 and names[-1] == str(found.kept).rsplit("/", 1)[-1]
