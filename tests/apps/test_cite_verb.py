"""``cite``: a run kept under its name, and a check-list that holds where the claim does."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import Done, surroundings, vaibify
from tests.kit import DIAMOND, DIAMOND_FILES, Made, git
from vaibify_lab.core.errors import InvalidFile, LaterFormat, NotPassed, UsageError
from vaibify_lab.core.fingerprint import FINGERPRINT_FORMAT
from vaibify_lab.provenance.kept import RUNS, kept_fingerprints

BY_HAND = {
    "sName": "Look",
    "bInteractive": True,
    "saDataFiles": ["look/l.txt"],
    "bNoInputData": True,
    "bNoTests": True,
}
DICE = {
    "sName": "Dice",
    "saDataCommands": ["od -An -N8 -tx1 /dev/urandom > dice/d.txt"],
    "saDataFiles": ["dice/d.txt"],
    "bNoInputData": True,
    "bNoTests": True,
}


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Four steps, run and committed."""
    made = Made.new(tmp_path / "made", DIAMOND, DIAMOND_FILES)
    made.run()
    made.commit("run")
    return made


def cite(made: Made, *words: str) -> list[dict[str, Any]]:
    """Cite; return the answer for machines."""
    done = vaibify(made.root, "cite", *words, "--json")
    assert done.code == 0, done
    return list(json.loads(done.out)["cited"])


def pasted(place: Path, tasks: Sequence[dict[str, str]]) -> Done:
    """Paste a check-list into a shell that ends at the first failure, but for what needs PyPI."""
    script = "\n".join(one["command"] for one in tasks if "pip install" not in one["command"])
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=place,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_reviewer_pastes_the_check_list(made: Made, tmp_path: Path) -> None:
    (before,) = cite(made, "left")
    assert before["checklist"][0]["what"] != "get the project"
    made.commit("cited")
    git(made.root, "remote", "add", "origin", str(made.root))
    (cited,) = cite(made, "left")
    assert (cited["kept_now"], before["kept_now"]) == (False, True)
    done = pasted(tmp_path, cited["checklist"])
    assert done.code == 0, done
    assert f"{cited['folder']}/configuration.json: OK" in done.out
    assert "top/t.txt: OK" in done.out  # an input
    assert "left.sh: OK" in done.out
    assert "left/l.txt: OK" in done.out
    assert len(cited["checklist"]) == 8


@pytest.mark.parametrize("path", ["top/t.txt", "left.sh", "{folder}/configuration.json"])
def test_the_check_list_fails_where_the_claim_does_not_hold(
    made: Made, tmp_path: Path, path: str
) -> None:
    (cited,) = cite(made, "left")
    made.commit("cited")
    clone = made.clone(tmp_path / "clone")
    changed = path.format(folder=cited["folder"])
    clone.write(changed, clone.read(changed) + " ")
    done = pasted(clone.root, cited["checklist"])
    assert done.code == 1
    assert f"{changed}: FAILED" in done.out


def test_the_citation_says_what_a_publication_needs(made: Made) -> None:
    (cited,) = cite(made, "left")
    record = json.loads(made.read(".vaibify/records/workflow/left.json"))
    assert cited["run_fingerprint"] == record["fingerprint"]
    (sha256,) = record["pins"]["inputs"].values()
    assert cited["citation"] == (
        "Results of step 'Left' of made produced by vaibify_lab v0.1.0 "
        "(https://pypi.org/project/vaibify-lab/), "
        f"run_fingerprint={record['fingerprint']}, inputs sha256:{sha256} (top/t.txt)."
    )
    assert cited["notes"] == [
        "it ran outside a container: what is below its Python packages is not pinned",
        "it ran without requirements.lock: its Python packages are not pinned",
        "it did not run in deterministic mode: other bytes may come of it",
        "when it ran, some of its files were not committed as they were",
        "git has no remote named origin: say where the project can be had",
    ]
    manifest = json.loads(made.read(f"{cited['folder']}/manifest.json"))
    assert manifest["versions"]["env_hash"] == record["env_hash"]
    assert manifest["versions"]["components"] == record["components"]
    packages = made.read(f"{cited['folder']}/packages.txt")
    assert hashlib.sha256(packages.encode()).hexdigest() == record["components"]["packages"]
    assert "jupyter-server==" in packages
    assert manifest["input_fingerprints"] == {"sha256": record["pins"]["inputs"]}
    assert manifest["output_fingerprints"] == {"sha256": record["pins"]["outputs"]}
    assert manifest["created_at_utc"] == record["ended"]
    assert manifest["git"]["commit"] == record["commit"]
    report = json.loads(made.read(f"{cited['folder']}/report.json"))
    assert report["step"]["slug"] == "left"


def test_a_run_that_was_deterministic_by_a_flag_is_cited_with_it(
    made: Made, tmp_path: Path
) -> None:
    assert vaibify(made.root, "run", "left", "--only", "--deterministic").code == 0
    (cited,) = cite(made, "left")
    assert not [one for one in cited["notes"] if "deterministic" in one]
    made.commit("cited")
    clone = made.clone(tmp_path / "clone")
    done = pasted(clone.root, cited["checklist"])
    assert done.code == 0, done


def test_all_steps_are_cited_by_default_and_a_run_by_the_beginning_of_its_name(made: Made) -> None:
    cited = cite(made)
    assert [one["step"] for one in cited] == ["top", "left", "right", "end"]
    assert sorted(one["run_fingerprint"] for one in cited) == sorted(
        kept_fingerprints(made.project().opened.tree)
    )
    made.write("data/in.txt", "2\n")  # a kept run can be cited when its step is stale
    name = cited[0]["run_fingerprint"]
    assert [one["run_fingerprint"] for one in cite(made, name[:12])] == [name]


def test_the_check_list_of_all_steps_is_pasted_at_once(made: Made, tmp_path: Path) -> None:
    vaibify(made.root, "cite")
    made.commit("cited")
    git(made.root, "remote", "add", "origin", str(made.root))
    told = vaibify(made.root, "cite").out
    script = told[told.index("# 1.") :]
    assert script.count("git clone") == script.count("pip install") == 1
    assert script.count("jupyter vaibify run") == 4
    command = "\n".join(line for line in script.split("\n") if "pip install" not in line)
    done = pasted(tmp_path, [{"what": "all", "command": command}])
    assert done.code == 0, done


def test_what_is_not_here_any_more_is_not_cited(made: Made) -> None:
    made.write("data/in.txt", "2\n")
    with pytest.raises(NotPassed, match="step 'top' is stale"):
        made.project().cite(["top"])
    assert not (made.root / RUNS).exists()
    done = vaibify(made.root, "cite", "nosuch")
    assert (done.code, done.out) == (2, "")
    assert "there is no step 'nosuch'" in done.err


def test_a_name_that_is_expected_is_asked_for(made: Made) -> None:
    done = vaibify(made.root, "cite", "left", "--expect", "0" * 64)
    assert done.code == 1
    assert f"not {'0' * 64}" in done.err


def test_what_a_person_did_has_no_name(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", [BY_HAND], {})
    with pytest.raises(NotPassed, match="done by a person"):
        made.project().cite(["look"])
    assert made.project().cite() == []


def test_a_record_with_another_s_name_is_not_believed(made: Made) -> None:
    place = ".vaibify/records/workflow/left.json"
    record = made.fact(place)
    made.write(place, json.dumps({**record, "fingerprint": "0" * 64}))
    with pytest.raises(NotPassed, match="does not have the name that its run would have"):
        made.project().cite(["left"])


def test_a_kept_run_is_not_replaced_by_one_with_other_bytes(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", [DICE], {})
    made.run()
    (first,) = made.project().cite()
    made.run("dice", mode="all")
    with pytest.raises(NotPassed, match="a run of the same name wrote other bytes"):
        made.project().cite()
    assert made.project().cite([first.run.fingerprint])[0].run == first.run
    (second,) = made.project().cite(replace=True)
    assert second.run.fingerprint == first.run.fingerprint
    assert second.run.outputs != first.run.outputs
    assert made.project().cite() == [
        type(second)(second.run, second.text, second.tasks, second.notes)
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "error", "text"),
    [
        ("configuration.json", '"code"', '"cod"', InvalidFile, "the hash of"),
        ("manifest.json", '"directory": ""', '"directory": "x"', InvalidFile, "does not speak"),
        ("manifest.json", '"step": "left"', '"step": 5', InvalidFile, "step: expected text"),
        ("manifest.json", "kept-run/1", "kept-run/2", LaterFormat, "unknown to this version"),
    ],
)
def test_a_kept_run_that_was_changed_is_not_cited(
    made: Made, file: str, old: str, new: str, error: type[Exception], text: str
) -> None:
    (cited,) = made.project().cite(["left"])
    place = f"{cited.run.folder}/{file}"
    assert old in made.read(place)
    made.write(place, made.read(place).replace(old, new))
    with pytest.raises(error, match=text):
        made.project().cite([cited.run.fingerprint])


def test_a_run_of_an_older_format_is_cited_with_a_warning(made: Made) -> None:
    (cited,) = made.project().cite(["left"])
    place = f"{cited.run.folder}/manifest.json"
    said = f'"fingerprint_format": {FINGERPRINT_FORMAT}'
    made.write(place, made.read(place).replace(said, '"fingerprint_format": 0'))
    (again,) = made.project().cite([cited.run.fingerprint[:6]])
    assert any("no run of today has its name" in note for note in again.notes)


def test_nothing_that_a_kept_run_says_is_a_command(made: Made, tmp_path: Path) -> None:
    """Who made the repository wrote what is kept there; a reviewer pastes what we print."""
    (cited,) = made.project().cite(["left"])
    place = f"{cited.run.folder}/manifest.json"
    value = json.loads(made.read(place))
    evil = "x'; touch evil; $(touch evil) `touch evil` \"\n touch evil #\x1b[2J"
    value |= {"step": evil, "workflow": evil, "name": evil, "project": evil}
    value["versions"]["vaibify_lab"] = evil
    value["input_fingerprints"]["sha256"] = {f"{evil}\nEND\ntouch evil": "0" * 64}
    made.write(place, json.dumps(value))
    git(made.root, "config", "remote.origin.url", f"--upload-pack=touch evil;{evil}")
    done = vaibify(made.root, "cite", cited.run.fingerprint)
    assert done.code == 0
    assert "\x1b" not in done.out
    (again,) = made.project().cite([cited.run.fingerprint])
    (tmp_path / "empty").mkdir()
    for task in again.tasks:
        surely = f"python() {{ :; }}; jupyter() {{ :; }}; {task.command}"
        subprocess.run(["bash", "-c", surely], cwd=tmp_path / "empty", check=False, timeout=60)
    assert list((tmp_path / "empty").iterdir()) == []


def test_the_beginning_of_two_names_is_no_name(made: Made) -> None:
    (cited,) = made.project().cite(["left"])
    name = cited.run.fingerprint
    other = name[:-1] + ("0" if name[-1] != "0" else "1")
    made.write(f"{RUNS}/{other}/manifest.json", "{}")
    with pytest.raises(UsageError, match="2 kept runs begin"):
        made.project().cite([name[:10]])


def test_a_password_in_the_remote_stays_at_home(made: Made) -> None:
    address = "https://ada:secret@example.org/ada/made.git"
    git(made.root, "remote", "add", "origin", address)
    (cited,) = made.project().cite(["left"])
    assert cited.tasks[0].command == (
        "git clone -- https://example.org/ada/made.git reviewed && cd reviewed"
    )
    assert "secret" not in json.dumps(cited.to_json())


def test_a_replay_that_gave_other_bytes_is_told(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", [DICE], {})
    made.run()
    assert not any("replay" in note for note in cite(made, "dice")[0]["notes"])
    assert vaibify(made.root, "replay", "dice").code == 1
    [note] = [one for one in cite(made, "dice")[0]["notes"] if "replay" in one]
    assert note.startswith("a replay of it on this machine did not give the same bytes (.vaibify/")
    made.run("dice")
    assert not any("replay" in one for one in cite(made, "dice", "--replace")[0]["notes"])
