"""Images built by the real engine, from both kinds of source."""

import json
from pathlib import Path

import pytest

from tests.containers import unique
from tests.engines.image.projects import INICONFIG, build, change, library, project
from tests.kit import git
from vaibify_lab.core.errors import (
    BuildFailed,
    CannotCheck,
    ImageRefused,
    InvalidFile,
    MissingFile,
    RegistryUnreachable,
)
from vaibify_lab.engines.image.throwaway import ask_image
from vaibify_lab.envelope.environment import NAME, parse_environment
from vaibify_lab.envelope.manifest import parse_manifest


def run(client, image, script) -> str:
    said = ask_image(client, image, script)
    assert said.code == 0, said
    return said.out.decode()


def minor(python: str) -> str:
    return ".".join(python.split(".")[:2])


def pinned(made):
    return parse_environment((made.root / NAME).read_bytes())


def test_from_the_lock(tmp_path, client, base, python):
    made = project(tmp_path / "p", base, INICONFIG, pythonVersion=f'"{minor(python)}"')
    said = []

    report = build(made, client, said)

    found = client.inspect_image(report.config_digest)
    assert report.image_name == "vaibify/trial-one:latest"
    assert (report.packages, report.registry_digest) == (1, None)
    assert found["Config"]["User"] == "vaibify"
    assert found["Config"]["WorkingDir"] == "/workspace"
    assert report.platform == f"{found['Os']}/{found['Architecture']}"
    assert run(client, found["Id"], "python -c 'import iniconfig; print(iniconfig.__file__)'") == (
        f"/opt/vaibify/lib/python{minor(python)}/site-packages/iniconfig/__init__.py\n"
    )
    assert "Step 1/" in "".join(line[:7] for line in said)
    environment = pinned(made)
    assert environment.config_digest == found["Id"] == report.config_digest
    assert (environment.origin, environment.registry_digest) == ("built", None)
    assert environment.system_tools.python == f"CPython {python}"
    assert environment.system_tools.libc.startswith("glibc 2.")
    assert environment.system_tools.gcc is None
    assert "Debian" in environment.system_tools.os_release
    assert environment.lock_sha256 is not None


def test_nothing_of_the_repository_but_the_lock_is_sent(tmp_path, client, base):
    made = project(tmp_path / "p", base)
    made.write("data/huge.bin", b"x" * 3_000_000)
    made.commit()

    report = build(made, client)

    assert report.context_bytes <= 20_480
    assert report.packages == 0


def test_wrong_hash_in_the_lock_fails_the_build_and_names_the_package(tmp_path, client, base):
    made = project(tmp_path / "p", base, INICONFIG.replace("9deb", "0000"))

    with pytest.raises(BuildFailed) as caught:
        build(made, client)

    text = "iniconfig==2.1.0 does not match its hash: what the index has is sha256:9deba5723312..."
    assert caught.value.text == text
    assert caught.value.where.startswith("requirements.lock (step ")
    assert not (made.root / NAME).exists()


def test_l02_missing_dependency_fails_the_build_and_is_named(tmp_path, client, base):
    lock = (
        "pytest==8.3.3 "
        "--hash=sha256:a6853c7375b2663155079443d2e45de913a911a11d669df02a50814944db57b2\n"
    )
    made = project(tmp_path / "p", base, lock)

    with pytest.raises(BuildFailed) as caught:
        build(made, client)

    text = "iniconfig, which pytest==8.3.3 needs, is not listed with a version and a hash"
    assert caught.value.text == text


def test_a_step_that_fails_says_which_and_its_last_words(tmp_path, client, base):
    made = project(tmp_path / "p", base)
    made.write("Dockerfile", f"FROM {base}\nRUN (echo one; echo 'the reason') >&2; exit 7\n")

    with pytest.raises(BuildFailed) as caught:
        build(made, client)

    assert caught.value.where.startswith("step 2/")
    assert "returned a non-zero code: 7" in caught.value.text
    assert caught.value.text.endswith("one / the reason")


def test_another_python_than_the_lock_is_for(tmp_path, client, base, python):
    made = project(tmp_path / "p", base, "# vaibify: python 3.99 linux-x86_64\n" + INICONFIG)

    with pytest.raises(BuildFailed) as caught:
        build(made, client)

    assert caught.value.text.endswith(f"the base image has Python {minor(python)}, not 3.99")


def test_the_lock_is_made_for_the_python_of_the_base_image(tmp_path, client, base, python):
    made = project(tmp_path / "p", base, INICONFIG)
    made.write("requirements.in", "iniconfig==2.1.0\n")
    (made.root / "requirements.lock").unlink()
    made.commit()

    report = build(made, client)

    lock = made.read("requirements.lock")
    assert lock.startswith(f"# vaibify: python {minor(python)} ")
    assert report.packages == 1


def test_unusable_lock_is_refused_before_anything_is_built(tmp_path, client, base):
    made = project(tmp_path / "p", base, "iniconfig>=2 --hash=sha256:" + "0" * 64 + "\n")

    with pytest.raises(InvalidFile) as caught:
        build(made, client)

    assert caught.value.where == "requirements.lock, line 1"


def test_repositories_of_container_conf(tmp_path, client, base):
    one, two = library(tmp_path / "one", "onelib"), library(tmp_path / "two", "twolib", "2")
    git(two, "tag", "v1")
    commit = git(one, "rev-parse", "HEAD").strip()
    made = project(tmp_path / "p", base)
    made.write(
        "container.conf",
        f"one|{one}|{commit}|pip_no_deps\n"
        f"two|file://{two}|v1|pip_editable|lib/two\n"
        f"three|{one}|main|scripts_only\n"
        f"four|{one}|main|reference\n",
    )

    report = build(made, client)

    image = report.config_digest
    assert [(s.line.name, s.kind, s.commit) for s in report.sources] == [
        ("one", "commit", commit),
        ("two", "tag", git(two, "rev-parse", "v1").strip()),
        ("three", "branch", commit),
        ("four", "branch", commit),
    ]
    code = "import onelib, twolib; print(onelib.ANSWER, twolib.ANSWER, twolib.__file__)"
    assert run(client, image, f"python -c '{code}'") == "1 2 /workspace/lib/two/twolib.py\n"
    assert run(client, image, "tool.sh; command -v tool.sh") == "tool\n/workspace/three/tool.sh\n"
    assert run(client, image, "cat /workspace/four/hidden.txt; ls -a /workspace/four") == (
        "not hidden\n.\n..\n.gitattributes\nbackend.py\nhidden.txt\nonelib.py\npyproject.toml\n"
        "tool.sh\n"
    )
    moving = [one for one in report.warnings if "which moves" in one]
    assert moving == [
        f"container.conf, line 3: main is a branch of three, which moves; this image has {commit}",
        f"container.conf, line 4: main is a branch of four, which moves; this image has {commit}",
    ]
    assert not [one for one in report.warnings if "holds more" in one]


def test_moved_branch_is_fetched_and_said(tmp_path, client, base):
    source = library(tmp_path / "lib")
    was = git(source, "rev-parse", "HEAD").strip()
    made = project(tmp_path / "p", base)
    made.write("container.conf", f"mylib|{source}|main|pip_no_deps\n")
    first = build(made, client)
    again = build(made, client)
    now = change(source, "mylib", "42")

    moved = build(made, client)

    answer = "python -c 'import mylib; print(mylib.ANSWER)'"
    assert again.config_digest == first.config_digest
    assert run(client, first.config_digest, answer) == "1\n"
    assert run(client, moved.config_digest, answer) == "42\n"
    assert f"mylib: main moved: it is {now[:12]} now and was {was[:12]}" in moved.warnings
    assert not [one for one in again.warnings if " moved: " in one]


def test_a_commit_that_changes_no_file_makes_a_layer_of_its_own(tmp_path, client, base):
    source = library(tmp_path / "lib")
    made = project(tmp_path / "p", base)
    made.write("container.conf", f"mylib|{source}|main|reference\n")
    first = build(made, client)
    commit = change(source, "mylib", "1")

    second = build(made, client)

    assert second.sources[0].commit == commit != first.sources[0].commit
    layers = [
        client.inspect_image(one.config_digest)["RootFS"]["Layers"] for one in (first, second)
    ]
    history = json.dumps(client.history(second.config_digest))
    assert commit in history and len(layers[0]) == len(layers[1])


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("nope", "has no branch or tag 'nope'"),
        ("0123456", "has no branch or tag '0123456' (a commit is written with all its digits)"),
        ("both", "both is both a branch and a tag there; write the commit"),
        ("0" * 40, f"has no commit {'0' * 40}"),
    ],
)
def test_a_ref_that_is_not_there(tmp_path, client, ref, said, base):
    source = library(tmp_path / "lib")
    git(source, "branch", "both")
    change(source, "mylib", "2")
    git(source, "tag", "both")
    made = project(tmp_path / "p", base)
    made.write("container.conf", f"mylib|{source}|{ref}|reference\n")

    with pytest.raises(InvalidFile) as caught:
        build(made, client)

    assert caught.value.where == "container.conf, line 1"
    assert caught.value.text.endswith(said)


def test_a_repository_that_does_not_answer(tmp_path, client, base):
    made = project(tmp_path / "p", base)
    made.write("container.conf", "mylib|http://127.0.0.1:9/x.git|main|reference\n")

    with pytest.raises(CannotCheck) as caught:
        build(made, client)

    assert caught.value.where == "container.conf, line 1"
    assert caught.value.text.startswith("http://127.0.0.1:9/x.git: git ls-remote failed")


def test_own_dockerfile_gets_what_it_copies_and_fixed_bases(tmp_path, client, base):
    made = project(tmp_path / "p", base, INICONFIG)
    made.write(
        "Dockerfile",
        f"ARG X=1\nFROM {base} AS first\nFROM first\n"
        'COPY requirements.lock conf/*.txt /there/\nCOPY ["code/", "/code/"]\n'
        "RUN python3 -m pip install --break-system-packages --require-hashes "
        "-r /there/requirements.lock\n",
    )
    made.write("conf/a.txt", "a\n")
    made.write("conf/b.ini", "b\n")
    made.write("code/deep/x.py", "x\n")
    made.write("secret.txt", "s\n")
    made.commit()

    report = build(made, client)

    here = client.inspect_image(base)["Id"]
    assert [(one.name, one.pinned) for one in report.bases] == [(base, here)]
    assert run(client, report.config_digest, "cd /; find there code -type f | sort") == (
        "code/deep/x.py\nthere/a.txt\nthere/requirements.lock\n"
    )
    assert report.packages == 1


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        ("COPY . /app", InvalidFile, "copies the whole repository ('.'), results and all"),
        ("COPY ./ /app", InvalidFile, "copies the whole repository"),
        ("COPY .git /app", InvalidFile, "copies '.git', which no image may"),
        ("COPY ../x /app", InvalidFile, "copies '../x', which leaves its folder by '..'"),
        ("COPY $X /app", InvalidFile, "copies '$X': write the path itself"),
        ("COPY nope.txt /app", MissingFile, "copies 'nope.txt', which git does not track"),
        ("COPY [broken /app", InvalidFile, "COPY [broken /app is no list of paths"),
    ],
)
def test_own_dockerfile_that_copies_too_much(tmp_path, client, line, kind, said, base):
    made = project(tmp_path / "p", base)
    made.write("Dockerfile", f"FROM {base}\n{line}\n")

    with pytest.raises(kind) as caught:
        build(made, client)

    assert (caught.value.where, caught.value.text[: len(said)]) == ("Dockerfile", said)


def test_an_image_that_lacks_what_the_lock_lists_is_not_pinned(tmp_path, client, base):
    made = project(tmp_path / "p", base, INICONFIG)
    made.write("Dockerfile", f"FROM {base}\nRUN true\n")

    with pytest.raises(ImageRefused) as caught:
        build(made, client)

    text = (
        "the image does not hold what requirements.lock lists: iniconfig 2.1.0 is not in the image"
    )
    assert caught.value.text == text
    assert not (made.root / NAME).exists()


def test_an_image_with_another_version_and_one_with_more(tmp_path, client, base):
    made = project(tmp_path / "p", base, INICONFIG)
    pip = "RUN python3 -m pip install --break-system-packages"
    made.write("Dockerfile", f"FROM {base}\n{pip} iniconfig==2.0.0\n")

    with pytest.raises(ImageRefused) as caught:
        build(made, client)
    made.write("Dockerfile", f"FROM {base}\n{pip} iniconfig==2.1.0 pluggy==1.5.0\n")
    report = build(made, client)

    assert caught.value.text.endswith("iniconfig 2.1.0: the image has 2.0.0")
    assert "the image holds more than requirements.lock lists: pluggy 1.5.0 is not in the lock" in (
        report.warnings
    )


def test_base_by_tag_is_fixed_and_a_moved_one_is_said(tmp_path, client, shared, base):
    name = f"{shared}/{unique()}"
    tag = f"{name}:slim"
    client.tag(base, name, "slim")
    _push(client, tag)
    made = project(tmp_path / "p", tag)
    first = build(made, client)
    _changed(client, name, "slim", base)
    _push(client, tag)

    second = build(made, client)

    was, now = first.bases[0].pinned, second.bases[0].pinned
    assert was.startswith(f"{name}@sha256:") and now.startswith(f"{name}@sha256:") and was != now
    new, old = (one.rpartition("sha256:")[2][:4] for one in (now, was))
    text = f"the base image {tag} moved: it is sha256:{new}... now and was sha256:{old}..."
    assert text in second.warnings
    assert not [one for one in first.warnings if "machine's own" in one]


def test_base_that_only_this_machine_has_is_said(tmp_path, client, base):
    report = build(project(tmp_path / "p", base), client)

    text = report.warnings[0]
    assert text.startswith(f"the base image {base} is this machine's own (sha256:")
    assert text.endswith("others cannot build on it")


def test_base_that_nobody_has(tmp_path, client, base):
    made = project(tmp_path / "p", "127.0.0.1:9/nothing:1")

    with pytest.raises(RegistryUnreachable) as caught:
        build(made, client)

    assert caught.value.where == "127.0.0.1:9/nothing:1"
    assert caught.value.action == (
        "name a base image that can be had here: baseImage, or --base-image"
    )


def test_pinning_rewrites_its_own_line_of_the_manifest_and_no_other(tmp_path, client, base):
    made = project(tmp_path / "p", base)
    made.write("out/a.txt", "1\n")
    made.project().envelope()
    before = {one.path: one.sha256 for one in _entries(made.root)}
    made.write("out/a.txt", "changed\n")

    build(made, client)

    after = {one.path: one.sha256 for one in _entries(made.root)}
    assert {path for path in after if after[path] != before.get(path)} == {NAME}
    assert before.keys() == after.keys()


def test_push_pins_the_registry_digest_and_a_new_image_loses_it(tmp_path, client, shared, base):
    made = project(tmp_path / "p", base)
    ref = f"{shared}/{unique()}:v1"

    pushed = build(made, client, push=ref)
    same = build(made, client)
    kept = pinned(made)
    made.write("vaibify.yml", made.read("vaibify.yml") + "containerUser: other\n")
    other = build(made, client)

    assert pushed.registry_digest.startswith(f"{ref.removesuffix(':v1')}@sha256:")
    assert same.config_digest == pushed.config_digest
    assert (kept.registry_digest, kept.origin) == (pushed.registry_digest, "pushed")
    assert kept.image_name == ref
    assert other.config_digest != pushed.config_digest
    assert (pinned(made).registry_digest, pinned(made).origin) == (None, "built")


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"containerUser": "root"}, "vaibify.yml: containerUser"),
        ({"containerUser": '"x; id"'}, "vaibify.yml: containerUser"),
        ({"workspaceRoot": "/work$(id)"}, "vaibify.yml: workspaceRoot"),
        ({"systemPackages": "['gcc; id']"}, "vaibify.yml: systemPackages"),
        ({"pipInstallFlags": "['--no-require-hashes']"}, "vaibify.yml: pipInstallFlags"),
        ({"baseImage": '"a\\nRUN id"'}, "vaibify.yml: baseImage"),
    ],
)
def test_settings_that_would_leave_their_line(tmp_path, client, settings, where, base):
    made = project(tmp_path / "p", base)
    lines = "".join(f"{key}: {value}\n" for key, value in settings.items())
    made.write("vaibify.yml", "projectName: trial\n" + lines)

    with pytest.raises(InvalidFile) as caught:
        build(made, client)

    assert caught.value.where == where


def _entries(root: Path):
    return parse_manifest((root / "MANIFEST.sha256").read_bytes()).entries


def _push(client, tag: str) -> None:
    name, _, version = tag.rpartition(":")
    events = list(client.push(name, tag=version, stream=True, decode=True))
    assert not [one for one in events if "error" in one], events


def _changed(client, name: str, tag: str, base) -> None:
    """Put another image in the place of a tag."""
    made = client.create_container(base, command=["true"])
    client.commit(made["Id"], name, tag, message="changed")
    client.remove_container(made["Id"])
