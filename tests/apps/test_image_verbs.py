"""``build``, ``start``, ``stop``, ``shell`` on the real engine, and ``reproduce`` after them."""

import json

import pytest

from tests.apps.front import vaibify
from tests.containers import (  # noqa: F401  fixtures
    base,
    client,
    engine_room,
    shared,
    unique,
)
from tests.engines.image.projects import INICONFIG, project
from vaibify_lab.engines.image.terminal import container_name


@pytest.fixture
def made(tmp_path, client, base):  # noqa: F811
    """Return a project, whose container does not outlive the test."""
    found = project(tmp_path / "p", base)
    yield found
    vaibify(found.root, "stop")


def test_build_says_its_steps_and_pins(made):
    done = vaibify(made.root, "build")

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert [line for line in lines if line.startswith("  Step 1/")] != []
    assert lines[-2].startswith("✓ vaibify/trial-one:latest: sha256:")
    assert lines[-1] == "  nobody else can pull it yet: jupyter vaibify build --push REF"
    assert json.loads(made.read(".vaibify/environment.json"))["sImageOrigin"] == "built"


def test_build_in_json_is_one_object_a_line(made, shared):  # noqa: F811
    name = f"{shared}/{unique()}"
    done = vaibify(made.root, "build", "--json", "--push", f"{name}:v1")

    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert {event["event"] for event in events[:-1]} == {"buildLine"}
    assert events[-1]["event"] == "buildComplete"
    assert events[-1]["registry_digest"].startswith(f"{name}@sha256:")


def test_build_that_fails_is_one_line(made):
    made.write("container.conf", "only|two\n")

    done = vaibify(made.root, "build")

    text = "has 2 fields; expected name|url|branch-tag-or-commit|method[|destination]"
    assert (done.code, done.err) == (
        2,
        f"jupyter vaibify build: container.conf, line 1: {text}\n",
    )


def test_no_engine_is_one_line_and_exit_1(made):
    done = vaibify(made.root, "build", env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})

    assert done.code == 1
    assert done.err.startswith("jupyter vaibify build: no container engine: /nowhere/docker.sock")
    assert done.err.count("\n") == 1


def test_start_shell_stop(made, client):  # noqa: F811
    vaibify(made.root, "build")
    early = vaibify(made.root, "shell", stdin="")
    first = vaibify(made.root, "start")
    again = vaibify(made.root, "start", "--json")
    script = "pwd; touch made; touch .git/x; touch .vaibify/x; id -u; exit 7\n"
    shell = vaibify(made.root, "shell", stdin=script)
    stopped = vaibify(made.root, "stop")

    name = container_name(made.root)
    place = "/workspace/Trial.One"
    assert (early.code, early.err) == (
        1,
        "jupyter vaibify shell: the project's container does not run; jupyter vaibify start\n",
    )
    assert first.out.splitlines() == [
        f"✓ {name} runs",
        f"  {place} is {made.root} (writable)",
        f"  {place}/.git is {made.root}/.git (read-only)",
        f"  {place}/.vaibify is {made.root}/.vaibify (read-only)",
    ]
    assert json.loads(again.out)["already"] is True
    assert (shell.code, shell.out) == (7, f"{place}\n{(made.root).stat().st_uid}\n")
    assert shell.err.count("Read-only file system") == 2
    assert (made.root / "made").stat().st_uid == made.root.stat().st_uid
    assert not (made.root / ".git/x").exists()
    assert (stopped.code, stopped.out) == (0, "✓ stopped\n")
    assert client.containers(all=True, filters={"name": name}) == []
    assert vaibify(made.root, "stop").out == "the project's container does not run\n"


def test_mounts_of_vaibify_yml_are_made_only_when_asked(made, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "data.txt").write_text("data\n")
    text = made.read("vaibify.yml") + f"bindMounts: ['{outside}:/data', '{tmp_path}:/more:rw']\n"
    made.write("vaibify.yml", text)
    vaibify(made.root, "build")

    plain = vaibify(made.root, "start")
    other = vaibify(made.root, "start", "--with-mounts")
    vaibify(made.root, "stop")
    asked = vaibify(made.root, "start", "--with-mounts")
    shell = vaibify(made.root, "shell", stdin="cat /data/data.txt; touch /data/x; touch /more/y\n")

    assert plain.out.splitlines()[-2:] == [
        f"note: vaibify.yml also asks for {one}: look at it, "
        "then jupyter vaibify start --with-mounts"
        for one in (f"{outside}:/data", f"{tmp_path}:/more")
    ]
    assert (other.code, other.err) == (
        1,
        "jupyter vaibify start: the project's container runs with other mounts; "
        "jupyter vaibify stop, then start it again\n",
    )
    assert f"  /data is {outside} (read-only)" in asked.out
    assert f"  /more is {tmp_path} (writable)" in asked.out
    assert shell.out == "data\n"
    assert "Read-only file system" in shell.err
    assert (tmp_path / "y").exists() and not (outside / "x").exists()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("/:/x", "neither side may be / or hold '..'"),
        ("/a/../b:/x", "neither side may be / or hold '..'"),
        ("/a:/workspace/Trial.One/.git", "/workspace/Trial.One/.git is the container's own"),
        ("/a:/proc", "/proc is the container's own"),
        ("data:/x", "expected /host/folder:/container/folder[:rw], found 'data:/x'"),
    ],
)
def test_mounts_that_are_refused(made, written, said):
    made.write("vaibify.yml", made.read("vaibify.yml") + f"bindMounts: ['{written}']\n")

    done = vaibify(made.root, "start", "--with-mounts")

    where = "jupyter vaibify start: vaibify.yml: bindMounts[0]"
    assert (done.code, done.err) == (2, f"{where}: {said}\n")


def test_mount_that_is_a_link_is_refused_and_nothing_runs(made, tmp_path, client):  # noqa: F811
    (tmp_path / "link").symlink_to("/etc")
    made.write("vaibify.yml", made.read("vaibify.yml") + f"bindMounts: ['{tmp_path}/link:/x']\n")
    vaibify(made.root, "build")

    done = vaibify(made.root, "start", "--with-mounts")

    assert done.code == 2
    assert done.err.endswith("/link: is a symbolic link\n")
    assert client.containers(all=True, filters={"name": container_name(made.root)}) == []


def test_reproduce_with_the_engine_prints_what_the_requirement_prints(
    tmp_path,
    client,  # noqa: F811
    base,  # noqa: F811
    shared,  # noqa: F811
):
    made = project(tmp_path / "p", base, INICONFIG)
    built = vaibify(made.root, "build", "--push", f"{shared}/{unique()}:v1")
    made.run()
    made.project().envelope("environment")
    made.project().envelope("manifest")
    made.commit()
    clone = made.clone(tmp_path / "clone")
    environment = json.loads(clone.read(".vaibify/environment.json"))
    client.remove_image(environment["sRegistryDigest"], force=True)

    done = vaibify(clone.root, "reproduce")
    no_engine = vaibify(clone.root, "reproduce", env={"DOCKER_HOST": "unix:///nowhere/x.sock"})
    elsewhere = json.dumps(environment).replace(shared, "127.0.0.1:9")
    clone.write(".vaibify/environment.json", elsewhere)
    gone = vaibify(clone.root, "reproduce")

    reference = environment["sRegistryDigest"]
    short = f"{reference.partition('@')[0]}@sha256:{reference.rpartition(':')[2][:4]}..."
    assert built.code == 0
    lines = [line for line in done.out.splitlines() if line.startswith(("[", "L3"))]
    assert done.code == 0, done
    assert lines[1:] == [
        "[2/4] Reproducing Python env (requirements.lock) ... hashes verified OK",
        f"[3/4] Pulling pinned container image ... {short} OK",
        "[4/4] Re-running workflow ... skipped (use --rerun)",
        "L3 reproduction confirmed.",
    ]
    assert "      note: registry is loopback" in done.out.splitlines()
    assert (gone.code, no_engine.code) == (1, 1)
    start = "[3/4] Pulling pinned container image ... not checkable here: "
    assert f"{start}cannot be had: the registry does not answer" in gone.out
    assert f"{start}no container engine: /nowhere/x.sock (named by DOCKER_HOST)" in no_engine.out
    assert "hashes offered by the index (nothing downloaded)" in gone.out
