"""Contents paths, places on disk and repository paths (cases S02, S03, S06)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import CHAIN, CHAIN_FILES, Made, git
from tests.server.client import Client
from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.serving.places import ServerRoot, project_id
from vaibify_lab.serving.walk import Limits, find_repositories


async def test_a_repository_above_the_root_is_refused_with_the_root_to_use(
    client: Client, jp_root_dir: Path
) -> None:
    above = jp_root_dir.parent
    git(above, "init", "-q")
    found = (await client.get("projects", params={"contents": ""})).json
    assert found["projects"] == [] and found["repositories"] == []
    (refused,) = found["refused"]
    assert refused["contents"] == "" and refused["error"] == found["here"]["error"]
    assert refused["error"]["code"] == "repository-above-root"
    assert refused["error"]["action"] == (
        f"start Jupyter on it: jupyter lab --ServerApp.root_dir={above}"
    )
    asked = await client.post("init", {"contents": ""})
    assert (asked.status, asked.code) == (403, "repository-above-root")
    assert not (above / "workflow.json").exists()


async def test_two_projects_below_the_root(client: Client, made: Made, jp_root_dir: Path) -> None:
    other = Made.new(jp_root_dir / "deep/er/second", CHAIN, CHAIN_FILES)
    other.write(".vaibify/workflows/more.json", other.read("workflow.json"))
    found = (await client.get("projects")).json
    assert [(one["contents"], one["workflow"]) for one in found["projects"]] == [
        ("co2", "workflow.json"),
        ("deep/er/second", "workflow.json"),
        ("deep/er/second", ".vaibify/workflows/more.json"),
    ]
    assert len({one["id"] for one in found["projects"]}) == 3
    assert found["projects"][0]["id"] == project_id(made.root.resolve(), "workflow.json")


async def test_a_project_reached_by_a_link_is_one_project(
    client: Client, jp_root_dir: Path, tmp_path: Path
) -> None:
    """Also one on another drive: it has the contents path by which the server reaches it."""
    real = Made.new(tmp_path / "elsewhere/real", CHAIN, CHAIN_FILES)
    inside = Made.new(jp_root_dir / "z", CHAIN, CHAIN_FILES)
    for name, target in (("a", real.root), ("b", real.root), ("c", inside.root)):
        (jp_root_dir / name).symlink_to(target)
    found = (await client.get("projects", params={"contents": "b/data/in.txt"})).json
    assert [(one["contents"], one["root"]) for one in found["projects"]] == [
        ("z", str(inside.root)),
        ("a", str(real.root)),
    ]
    assert found["here"]["path"] == "data/in.txt"
    assert found["here"]["projects"] == [found["projects"][1]["id"]]


async def test_the_root_itself_is_a_link(
    client: Client, made: Made, jp_root_dir: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(jp_root_dir)
    root = ServerRoot(link)
    assert root.path == jp_root_dir.resolve()
    assert root.contents_of(made.root) == "co2"
    assert (await client.get("projects")).json["projects"][0]["root"] == str(made.root.resolve())


async def test_a_path_of_the_collaboration_drive(client: Client, made: Made) -> None:
    made.write("notebooks/fit.ipynb", "{}")
    found = (await client.get("projects", params={"contents": "RTC:co2/notebooks/fit.ipynb"})).json
    assert found["here"] == {
        "contents": "co2/notebooks/fit.ipynb",
        "path": "notebooks/fit.ipynb",
        "projects": [found["projects"][0]["id"]],
        "error": None,
    }


async def test_a_folder_that_is_gone_hides_no_project(client: Client, made: Made) -> None:
    found = (await client.get("projects", params={"contents": "RTC:gone/away"})).json
    assert len(found["projects"]) == 1
    assert (found["here"]["contents"], found["here"]["error"]["code"]) == (
        "gone/away",
        "missing-file",
    )


async def test_a_folder_without_a_repository(client: Client, jp_root_dir: Path) -> None:
    (jp_root_dir / "my notes").mkdir()
    found = (await client.get("projects", params={"contents": "my notes"})).json["here"]
    assert (found["error"]["code"], found["projects"]) == ("not-a-repository", [])
    assert found["error"]["action"] == f"git init '{jp_root_dir}/my notes'"


async def test_a_repository_deeper_than_the_search_is_found_when_asked_for(
    client: Client, jp_root_dir: Path
) -> None:
    deep = "a/b/c/d/e/f/g"
    made = Made.new(jp_root_dir / deep, CHAIN, CHAIN_FILES)
    found = (await client.get("projects")).json
    assert (found["projects"], found["complete"]) == ([], False)
    here = (await client.get("projects", params={"contents": deep})).json
    (one,) = here["projects"]
    assert (one["contents"], one["root"]) == (deep, str(made.root))
    assert (await client.get(f"projects/{one['id']}/file-status")).status == 200


async def test_a_folder_becomes_a_project(client: Client, jp_root_dir: Path) -> None:
    git(jp_root_dir, "init", "-q", "fresh")
    before = (await client.get("projects", params={"contents": "fresh"})).json
    assert (before["projects"], before["here"]["error"]) == ([], None)
    made = await client.post("init", {"contents": "fresh", "name": "trial"})
    assert made.status == 201 and "workflow.json" in made.json["written"]
    (one,) = (await client.get("projects")).json["projects"]
    assert ([one["id"]], one["name"], one["steps"]) == (made.json["projects"], "trial", 0)


async def test_a_repository_made_anew_is_another(client: Client, made: Made) -> None:
    identity = await client.id()
    assert len((await client.status(identity))["steps"]) == 2
    made.root.rename(made.root.with_name("old"))
    Made.new(made.root, CHAIN[:1], CHAIN_FILES)
    assert len((await client.status(identity))["steps"]) == 1


async def test_a_workflow_that_cannot_be_read_is_listed_with_the_reason(
    client: Client, made: Made
) -> None:
    made.write("workflow.json", "{")
    (one,) = (await client.get("projects")).json["projects"]
    assert (one["name"], one["error"]["code"]) == ("workflow.json", "invalid-file")
    found = await client.get(f"projects/{one['id']}/file-status")
    assert (found.status, found.code) == (422, "invalid-file")


@pytest.mark.parametrize(
    "path", ["../x", "a/../../etc", "a//b", "./a", "C:\\x", "a\0b", "x/" * 200, "."]
)
def test_contents_paths_that_are_not_plain(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePath):
        ServerRoot(tmp_path).place(path)


def test_a_contents_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        ServerRoot(tmp_path).place("a/b")


def test_the_search_is_bounded_and_ends(tmp_path: Path) -> None:
    for name in ("a/b", ".hidden/r/.git", "node_modules/r/.git", "r/.git", "r/inner/.git"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/b/gone").symlink_to(tmp_path / "nowhere")
    found = find_repositories(tmp_path, Limits())
    assert (found.found, found.complete) == ({tmp_path / "r": "r"}, True)
    assert not find_repositories(tmp_path, Limits(folders=2)).complete
    assert not find_repositories(tmp_path, Limits(depth=0)).complete
