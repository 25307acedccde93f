"""A project of a pinned image confirmed, or not, by the command that a stranger types."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import SCRIPT, surroundings, vaibify
from tests.contained.pinned import NOWHERE, Image, pin, pinned
from tests.containers import holding, unique
from tests.kit import CHAIN, CHAIN_FILES, Made
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image, push
from vaibify_lab.runs.enveloping import write_manifest
from vaibify_lab.runs.opened import Opened

OTHER_KERNEL = ("setarch", "--uname-2.6")  # what every question for the kernel's release gets
HASH = "9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760"
LOCK = f"iniconfig==2.1.0 --hash=sha256:{HASH}\n"
L02 = (
    "pytest==8.3.3 --hash=sha256:a6853c7375b2663155079443d2e45de913a911a11d669df02a50814944db57b2\n"
)


@pytest.fixture(scope="session")
def with_pip(client: Any, base: str, engine_room: dict[str, str]) -> Image:
    """An image that holds what LOCK lists, in the registry."""
    name = holding(client, base, "iniconfig==2.1.0")
    ref = f"{engine_room['VAIBIFY_TEST_REGISTRY']}/{unique('iniconfig')}:1"
    return Image(local_image(client, name), look_inside(client, name), push(client, name, ref))


@pytest.fixture
def clone(tmp_path: Path, with_pip: Image) -> Made:
    """A stranger's clone of a project that ran in its pinned image."""
    files = CHAIN_FILES | {"requirements.lock": LOCK}
    top = {"bNoPythonPackages": False, "bDeterministic": True, "bNoHostBinaries": True}
    made = pinned(tmp_path / "p", with_pip, CHAIN, files, **top)
    assert made.run()["outcome"] == "passed"
    made.sign("make", "use")
    write_manifest(Opened(made.root, cached=False))
    made.commit("results")
    met = {one.level: (one.met, [r.code for r in one.missing]) for one in levels(made)}
    assert met["L1"] == (True, [])
    assert met["L3"] == (False, ["registry-loopback"])
    return made.clone(tmp_path / "clone")


def levels(made: Made) -> tuple[Any, ...]:
    return made.project().report().levels


def tiers(out: str) -> list[str]:
    """Return the four lines, with the image's and the engine's own parts left out."""
    found = [line for line in out.splitlines() if line.startswith("[")]
    image = r"(-[0-9a-f]{12})?@sha256:[0-9a-f]{4,64}(\.\.\.)?"
    found = [re.sub(image, "@sha256:DIGEST", line) for line in found]
    return [re.sub(r"pinned image, .*\)", "pinned image, ENGINE)", line) for line in found]


def test_the_four_lines_and_the_verdict(clone: Made) -> None:
    done = vaibify(clone.root, "reproduce")
    assert (done.code, done.err) == (0, ""), done.out
    total = len(clone.read("MANIFEST.sha256").splitlines())
    pulled = "127.0.0.1:5000/vaibify-test/iniconfig@sha256:DIGEST OK"
    assert tiers(done.out) == [
        f"[1/4] Verifying file integrity (MANIFEST.sha256) ... {total}/{total} OK",
        "[2/4] Reproducing Python env (requirements.lock) ... hashes verified OK",
        f"[3/4] Pulling pinned container image ... {pulled}",
        "[4/4] Re-running workflow ... skipped (use --rerun)",
    ]
    assert done.out.endswith("\n\nL3 reproduction confirmed.\n")
    assert "      note: registry is loopback\n" in done.out
    again = vaibify(clone.root, "reproduce", "--rerun", "--skip-tier", "2")
    assert (again.code, again.err) == (0, ""), again.out
    assert tiers(again.out)[1:] == [
        "[2/4] Reproducing Python env (requirements.lock) ... skipped",
        f"[3/4] Pulling pinned container image ... {pulled}",
        "[4/4] Re-running workflow ... 2 of 2 outputs identical (in the pinned image, ENGINE)",
    ]
    assert again.out.endswith("\n\nConfirmed: tiers 1, 3, 4. Not checked: 2.\n")


def with_lock(clone: Made, lock: str) -> None:
    """Change the lock, and the manifest so that it matches."""
    clone.write("requirements.lock", lock)
    write_manifest(Opened(clone.root, cached=False))


def refused(clone: Made, line: str, text: str) -> None:
    done = vaibify(clone.root, "reproduce")
    assert (done.code, "L3 reproduction confirmed." in done.out) == (1, False)
    lines = tiers(done.out)
    assert lines[1].endswith(f" ... FAILED, {line}")
    assert (lines[0].endswith(" OK"), lines[2].endswith("@sha256:DIGEST OK")) == (True, True)
    assert f"      requirements.lock: {text}\n" in done.out
    said = f"jupyter vaibify reproduce: not confirmed: requirements.lock: {text}\n"
    assert done.err == said


def test_a_wrong_hash_is_named_though_the_manifest_matches(clone: Made) -> None:
    with_lock(clone, LOCK.replace("9deb", "0000"))
    text = "iniconfig==2.1.0 does not match its hash: what the index has is sha256:9deba5723312..."
    refused(clone, "pip of the pinned image refuses it", text)


def test_a_lock_that_the_image_was_not_built_from_is_no_confirmation(clone: Made) -> None:
    """Every hash of it is one that the index offers, and the manifest matches."""
    with_lock(clone, LOCK + L02)
    text = "pytest 8.3.3 is not in the image"
    refused(clone, "the pinned image does not hold what is listed", text)


def test_without_an_engine_nothing_is_confirmed(clone: Made) -> None:
    done = vaibify(clone.root, "reproduce", env=NOWHERE)
    assert done.code == 1
    lines = tiers(done.out)
    assert lines[0].endswith(" OK")
    assert lines[1].endswith(" ... hashes offered by the index (nothing downloaded)")
    here = "[3/4] Pulling pinned container image ... not checkable here: "
    assert lines[2].startswith(f"{here}no container engine answers at tcp://127.0.0.1:9")
    unchecked = "not checked without a pinned image and a container engine (pip would see it): "
    assert (
        f"      note: {unchecked}that everything the listed packages need is listed too, "
        in done.out
    )
    assert "L3 reproduction confirmed." not in done.out
    assert "\n\nNOT confirmed. Tiers not checkable here: 3; passed: 1, 2.\n" in done.out
    assert done.err.startswith("jupyter vaibify reproduce: not confirmed: tier 3 is not checkable")


def test_a_rerun_without_an_engine_says_where_it_ran(clone: Made) -> None:
    skipped = ("--skip-tier", "2", "--skip-tier", "3", "--rerun")
    done = vaibify(clone.root, "reproduce", *skipped, env=NOWHERE)
    assert (done.code, done.err) == (0, ""), done.out
    assert ", not in a container)" in tiers(done.out)[3]
    assert "L3 reproduction confirmed." not in done.out


def test_a_rerun_that_differs_is_not_confirmed(tmp_path: Path, image: Image) -> None:
    made = pinned(tmp_path / "p", image, CHAIN, CHAIN_FILES)
    made.write("make.sh", "date +%N > out/a.txt\n")
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    made.commit("results")
    done = vaibify(made.root, "reproduce", "--rerun")
    assert done.code == 1
    assert "      out/a.txt: different (" in done.out
    assert tiers(done.out)[1:3] == [
        "[2/4] Reproducing Python env (requirements.lock) ... none declared",
        "[3/4] Pulling pinned container image ... "
        "127.0.0.1:5000/vaibify-test/host@sha256:DIGEST OK",
    ]


def test_an_image_that_was_never_pushed_cannot_be_confirmed(
    tmp_path: Path, image: Image, other: Image
) -> None:
    made = pinned(tmp_path / "p", image, CHAIN, CHAIN_FILES)
    pin(made, other)
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    done = vaibify(made.root, "reproduce")
    assert done.code == 1
    assert tiers(done.out)[2].endswith(" ... FAILED, never pushed")
    assert "was never pushed, so nobody can pull it: jupyter vaibify build --push REF" in done.out


def test_the_demo_in_its_container_by_its_command(
    tmp_path: Path, engine_room: dict[str, str]
) -> None:
    base = engine_room["VAIBIFY_TEST_PIP_DIGEST"].partition("@")[0]
    done = subprocess.run(
        [str(SCRIPT), "demo", "co2", "--run", "--base-image", base],
        cwd=tmp_path,
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    lines = tiers(done.stdout)
    assert [line.partition(" ... ")[2] for line in lines[1:]] == [
        "hashes verified OK",
        "127.0.0.1:5000/vaibify-demo@sha256:DIGEST OK",
        "skipped (use --rerun)",
    ]
    assert lines[0].endswith(" OK")
    assert "\n\nL3 reproduction confirmed.\n" in done.stdout
    assert done.stdout.endswith("sha256sum -c MANIFEST.sha256: agrees\n")
    assert "registry is loopback: nobody else can pull the image" in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["co2"]
    its_status_is_the_same_everywhere(tmp_path / "co2", engine_room["VAIBIFY_TEST_REGISTRY"])


def its_status_is_the_same_everywhere(root: Path, registry: str) -> None:
    """After another push, in a clone without an engine, and with another kernel."""
    before = status(root)
    assert [one["green"] for one in before["steps"]] == [True] * 4
    pushed = vaibify(root, "build", "--push", f"{registry}/{unique()}:1")
    assert (pushed.code, pushed.err) == (0, ""), pushed.out
    assert status(root)["steps"] == before["steps"]
    subprocess.run(["git", "clone", "-q", root, root.parent / "clone"], check=True)
    assert status(root.parent / "clone", env=NOWHERE)["steps"] == before["steps"]
    release = subprocess.check_output([*OTHER_KERNEL, "uname", "-r"], text=True)
    assert release.startswith("2.6.")
    assert status(root, OTHER_KERNEL)["steps"] == before["steps"]


def status(
    root: Path, before: tuple[str, ...] = (), env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    command = [*before, str(SCRIPT), "status", "--json"]
    said = subprocess.check_output(command, cwd=root, env=surroundings(**(env or {})))
    answer: dict[str, Any] = json.loads(said)
    return answer
