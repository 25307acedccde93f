"""The project's demo as Binder opens it, and the wheel on a machine without Node.js.

Both take what a clone holds, and one build of it; the environment is fresh, from the files in
``binder/``. Caches of downloads are this account's, as a build server's are kept.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import server
from tests.browser.server import Lab
from tests.kit import git

HERE = Path(__file__).parents[2]


def call(*command: str | Path, cwd: Path, env: Mapping[str, str]) -> str:
    """Run a program that has to pass; return what it said."""
    done = subprocess.run(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def copied(target: Path) -> Path:
    """Copy what a clone would hold, with what is not committed yet."""
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for path in git(HERE, *asked).split("\0"):
        if path and (HERE / path).is_file():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HERE / path, target / path)
    git(target, "init", "-q")
    return target


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("binder")


@pytest.fixture(scope="module")
def variables(place: Path) -> dict[str, str]:
    """A home of its own, no container engine, the fresh environment first on the path."""
    mine, home = Path.home(), place / "home"
    (home / "config").mkdir(parents=True)
    programs = f"{place / 'env/bin'}{os.pathsep}{os.environ['PATH']}"
    return {
        **server.environment(home),
        **server.NO_ENGINE,
        "PATH": programs,
        "PIP_CACHE_DIR": str(mine / ".cache/pip"),
        "UV_CACHE_DIR": str(mine / ".cache/uv"),
        "YARN_GLOBAL_FOLDER": str(mine / ".yarn/berry"),
    }


@pytest.fixture(scope="module")
def repository(place: Path, variables: dict[str, str]) -> Path:
    """What Binder builds: the requirements, then ``postBuild`` at the top of the clone."""
    repository = copied(place / "repository")
    subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True)
    pip = (place / "env/bin/python", "-m", "pip", "install", "--quiet")
    call(*pip, "-r", "binder/requirements.txt", cwd=repository, env=variables)
    call(repository / "binder/postBuild", cwd=repository, env=variables)
    return repository


@pytest.fixture
def lab(place: Path, repository: Path, variables: dict[str, str]) -> Iterator[Lab]:
    """The server as Binder starts it: through ``start``, at the top of the clone, behind a hub."""
    lab = server.start(
        place / "home",
        repository,
        "--ServerApp.base_url=/user/ana/",
        command=(str(repository / "binder/start"), "jupyter-lab"),
        variables=variables,
    )
    yield lab
    lab.stop()


def test_the_demo_is_reviewed_on_binder(page: Page, lab: Lab, repository: Path) -> None:
    demo = repository / "demo/co2"
    page.goto(lab.page(reset=""), wait_until="domcontentloaded")
    assert "/user/ana/lab" in page.url
    panel = page.locator("#vaibify-panel")  # nobody clicked
    expect(panel.get_by_text("Reviewer mode")).to_be_visible(timeout=120_000)
    expect(panel.get_by_role("heading", name="Mauna Loa CO2")).to_be_visible()
    tiers = panel.locator(".vb-Tiers > li")
    expect(tiers.nth(0)).to_contain_text(re.compile(r"Files \(MANIFEST.sha256\).*passed"))
    expect(tiers.nth(2)).to_contain_text("cannot be checked here")

    panel.get_by_role("option", name=re.compile("^Trend")).click()
    panel.get_by_role("button", name="Rerun and compare").click()
    rerun = panel.locator(".vb-Detail .vb-Rerun")
    expect(rerun).to_contain_text("1 of 1 outputs are identical")
    expect(rerun).to_contain_text("outside the container")

    panel.get_by_role("button", name="Write a review…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("It holds").check()
    dialog.get_by_label("Review", exact=True).fill("The trend came out the same.")
    dialog.get_by_label("Name").fill("Bea Other")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    review = json.loads(download.value.path().read_bytes())
    assert review["project"]["commit"] == git(demo, "rev-parse", "HEAD").strip()
    assert review["checked"]["tiers"][0]["state"] == "passed"
    assert [(one["steps"], one["passed"]) for one in review["reruns"]] == [(["trend"], True)]
    assert git(demo, "status", "--porcelain") == ""


def test_a_wheel_is_installed_without_node(
    place: Path, repository: Path, variables: dict[str, str]
) -> None:
    pip = (place / "env/bin/python", "-m", "pip")
    call(*pip, "wheel", "-q", "--no-deps", "-w", place, ".", cwd=repository, env=variables)
    (wheel,) = place.glob("vaibify_lab-*.whl")
    bare = place / "bare"
    subprocess.run([sys.executable, "-m", "venv", bare], check=True)
    env = {**variables, "PATH": str(bare / "bin")}  # nothing but what the environment holds
    call(bare / "bin/pip", "install", "-q", "--no-deps", wheel, cwd=place, env=env)
    _lend(place / "env", bare)
    python = bare / "bin/python"
    lab = ("jupyterlab.labextensions", "list")
    said = plain(call(python, "-m", *lab, cwd=place, env=env))
    assert re.search(r"vaibify-lab v\S+ enabled OK", said), said
    extensions = ("jupyter_server.extension.serverextension", "list")
    said = plain(call(python, "-m", *extensions, cwd=place, env=env))
    assert re.search(r"vaibify_lab enabled[\s\S]*vaibify_lab \S+ OK", said), said


def plain(text: str) -> str:
    """Return text without a terminal's colours."""
    return re.sub(r"\x1b\[\d*m", "", text)


def _lend(of: Path, to: Path) -> None:
    """Lend an environment the packages of another, which it has no need to install itself."""
    paths = [sysconfig.get_path("purelib", vars={"base": str(one)}) for one in (of, to)]
    (Path(paths[1]) / "lent.pth").write_text(paths[0] + "\n")
