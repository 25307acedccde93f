"""``reproduce`` as it is typed: the lines, the codes, JSON and the page."""

from __future__ import annotations

import html.parser
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import SCRIPT, on_a_terminal, start, surroundings, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
OFFLINE = ("--skip-tier", "2", "--skip-tier", "3")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A project that has run and is enveloped, with a plot."""
    plot = {
        "sName": "Plot",
        "saPlotCommands": ["cp dot.png plots/p.png"],
        "saPlotFiles": ["plots/p.png"],
        "saInputDataFiles": ["dot.png"],
        "bNoTests": True,
    }
    made = Made.new(tmp_path / "r", [*CHAIN, plot], {**CHAIN_FILES, "dot.png": PNG})
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    made.commit()
    return made


def count(made: Made) -> int:
    return len(made.read("MANIFEST.sha256").splitlines())


@pytest.mark.parametrize(
    ("path", "verb"), [("out2/b.txt", "wrote"), ("data/in.txt", "read"), ("use.sh", "ran")]
)
def test_what_no_recorded_run_made_is_said_whoever_lists_it(
    made: Made, tmp_path: Path, path: str, verb: str
) -> None:
    """Who edits a file by hand and writes the envelope anew has a manifest that holds."""
    made.write(path, made.read(path) + "# 7\n")
    told = f"{path} is not what its last passed run {verb}"
    assert told in vaibify(made.root, "envelope").out
    made.commit()
    done = vaibify(made.root, "check", "--publish")
    assert done.code == 1 and told in done.out + done.err
    clone = made.clone(tmp_path / "clone")
    done = vaibify(clone.root, "reproduce", *OFFLINE)
    assert f"note: step '{'make' if verb == 'read' else 'use'}': {told}" in done.out
    assert "Confirmed: tier 1. Not checked: 2, 3. But 1 file or run is not as recorded" in done.out
    answer = json.loads(vaibify(clone.root, "reproduce", *OFFLINE, "--json").out)
    assert len(answer["not_as_recorded"]) == 1
    made.run()
    made.project().envelope()
    assert made.project().not_as_recorded() == []


def test_a_run_that_failed_since_is_said(made: Made) -> None:
    made.write("use.sh", "exit 3\n")
    assert made.run()["outcome"] == "failed"
    found = [one.text for one in made.project().not_as_recorded()]
    assert found[0] == "its last run failed"


def test_a_manifest_that_is_older_than_the_last_run_is_what_is_to_be_made_anew(made: Made) -> None:
    made.write("use.sh", made.read("use.sh") + "# other\n")
    assert made.run("use")["outcome"] == "passed"
    found = [one for one in made.project().not_as_recorded() if one.path == "use.sh"]
    assert [(one.text, one.action) for one in found] == [
        (
            "use.sh is what its last passed run ran, and not as listed",
            "list what is here: jupyter vaibify envelope",
        )
    ]


def test_a_step_without_a_record_is_said(made: Made) -> None:
    place = ".vaibify/records/workflow/use.json"
    record = made.fact(place)
    (made.root / place).unlink()
    done = vaibify(made.root, "reproduce", *OFFLINE)
    assert "note: step 'use': no run of it is on record" in done.out
    assert "But 1 file or run is not as recorded" in done.out
    assert vaibify(made.root, "check", "--publish").code == 1
    made.write(place, json.dumps(record | {"exit_code": 3}))
    [found] = made.project().not_as_recorded()
    assert "contradicts itself: a run with exit status 3 has not passed" in found.text
    assert made.steps()["use"].run == "unknown"


def test_a_disabled_step_is_asked_for_what_it_recorded_alone(made: Made) -> None:
    value = json.loads(made.read("workflow.json"))
    value["listSteps"][1]["bEnabled"] = False
    made.write("workflow.json", json.dumps(value))
    made.write("use.sh", made.read("use.sh") + "# other\n")
    made.project().envelope("manifest")
    [found] = made.project().not_as_recorded()
    assert (found.step, found.text) == ("use", "use.sh is not what its last passed run ran")
    (made.root / ".vaibify/records/workflow/use.json").unlink()
    assert made.project().not_as_recorded() == []


def test_no_envelope_is_written_in_the_middle_of_a_merge(made: Made) -> None:
    made.commit()
    git(made.root, "switch", "-qc", "other")
    made.write("use.sh", "# other\n" + made.read("use.sh"))
    made.commit()
    git(made.root, "switch", "-q", "-")
    made.write("use.sh", "# mine\n" + made.read("use.sh"))
    made.commit()
    before = made.read("MANIFEST.sha256")
    subprocess.run(["git", "merge", "-q", "other"], cwd=made.root, capture_output=True)
    done = vaibify(made.root, "envelope", "--only", "manifest")
    assert (done.code, done.err) == (
        1,
        "jupyter vaibify envelope: use.sh: is in the middle of a merge; resolve it, then: "
        "git add use.sh\n",
    )
    assert made.read("MANIFEST.sha256") == before


def test_a_workflow_where_no_clone_would_look_is_refused(made: Made) -> None:
    made.write("second.json", made.read("workflow.json"))
    made.write("ana/workflow.json", made.read("workflow.json"))
    for verb in ("status", "run", "envelope"):
        done = vaibify(made.root, verb, "--workflow", "second.json")
        assert (done.code, done.err) == (
            2,
            f"jupyter vaibify {verb}: second.json: lies where nobody looks for a workflow; move it "
            "into .vaibify/workflows/, or call it workflow.json in a folder of its own\n",
        )
        done = vaibify(made.root, verb, "--workflow", "ana/workflow.json")
        assert (done.code, done.err) == (
            2,
            f"jupyter vaibify {verb}: ana/workflow.json: is not tracked by git, so that no clone "
            "has it; git add ana/workflow.json\n",
        )


def test_the_lines_are_those_of_the_design(made: Made) -> None:
    done = vaibify(made.root, "reproduce", "--skip-tier", "3")
    total = count(made)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"[1/4] Verifying file integrity (MANIFEST.sha256) ... {total}/{total} OK\n"
        "[2/4] Reproducing Python env (requirements.lock) ... none declared\n"
        "[3/4] Pulling pinned container image ... skipped\n"
        "[4/4] Re-running workflow ... skipped (use --rerun)\n"
        "\n"
        "Confirmed: tiers 1, 2. Not checked: 3.\n"
    )


def test_json_is_one_document(made: Made) -> None:
    done = vaibify(made.root, "reproduce", *OFFLINE, "--json")
    answer = json.loads(done.out)
    assert (done.code, done.err, answer["confirmed"], answer["rerun"]) == (0, "", True, None)
    assert [one["state"] for one in answer["tiers"]] == ["passed", "skipped", "skipped"]
    assert answer["tiers"][0]["checked"] == answer["tiers"][0]["listed"] == count(made)


def test_one_byte_is_named_and_restoring_it_confirms(made: Made) -> None:
    old = made.read("out/a.txt")
    made.write("out/a.txt", "x\n")
    done = vaibify(made.root, "reproduce", *OFFLINE)
    assert done.code == 1
    assert f"FAILED, {count(made) - 1} of {count(made)} match\n      out/a.txt: " in done.out
    assert "\nNOT confirmed. Tiers failed: 1" in done.out
    assert re.fullmatch(r"jupyter vaibify reproduce: not confirmed: out/a.txt: .*\n", done.err)
    made.write("out/a.txt", old)
    assert vaibify(made.root, "reproduce", *OFFLINE).code == 0


def test_what_cannot_be_checked_is_exit_1(made: Made) -> None:
    done = vaibify(made.root, "reproduce")
    assert done.code == 1
    assert "[3/4] Pulling pinned container image ... not checkable here: " in done.out
    assert "NOT confirmed." in done.out


def test_a_missing_manifest_is_exit_2(made: Made) -> None:
    (made.root / "MANIFEST.sha256").unlink()
    done = vaibify(made.root, "reproduce", *OFFLINE)
    assert done.code == 2
    assert "[1/4] Verifying file integrity (MANIFEST.sha256) ... FAILED, no MANIFEST.sha256" in (
        done.out
    )


def test_everything_skipped_confirms_nothing(made: Made) -> None:
    done = vaibify(made.root, "reproduce", "--skip-tier", "1", *OFFLINE)
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "jupyter vaibify reproduce: every tier is skipped, so nothing would be confirmed; "
        "leave one to be checked\n",
    )


def test_a_rerun_compares(made: Made) -> None:
    done = vaibify(made.root, "reproduce", *OFFLINE, "--rerun")
    assert (done.code, done.err) == (0, "")
    assert "[4/4] Re-running workflow ... 3 of 3 outputs identical (local engine, " in done.out
    assert done.out.splitlines()[-1].startswith("Confirmed: tiers 1, 4. Not checked: 2, 3.")
    made.write("make.sh", "date +%N > out/a.txt\n")
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    again = vaibify(made.root, "reproduce", *OFFLINE, "--rerun")
    assert again.code == 1
    assert "      out/a.txt: different (" in again.out
    assert again.err == (
        "jupyter vaibify reproduce: not confirmed: out/a.txt: different when run again\n"
    )


def test_what_ran_deterministic_by_a_flag_is_run_again_so(made: Made) -> None:
    made.write("make.sh", "python -c 'import random; print(random.random())' > out/a.txt\n")
    assert made.run(mode="all", deterministic=True)["outcome"] == "passed"
    made.project().envelope()
    done = vaibify(made.root, "reproduce", *OFFLINE, "--rerun")
    assert (done.code, "3 of 3 outputs identical" in done.out) == (0, True), done


def test_a_rerun_looks_into_files_whose_bytes_differ(made: Made) -> None:
    made.write(
        "make.sh",
        "N=$(date +%N); printf 'mass,n\\n1.5000000001%s,3\\n' $N > out/a.txt\n"
        "printf 'mass,n\\n1.5000000001%s,3\\n' $N > out/t.csv\n"
        "printf 'mass,n\\n1.5,%s\\n' $N > out/n.csv\n"
        "printf x > out/x; touch -d @$N out/x; gzip -f out/x\n",
    )
    document = json.loads((made.root / "workflow.json").read_text())
    document["listSteps"][0]["saDataFiles"] += ["out/t.csv", "out/n.csv", "out/x.gz"]
    made.write("workflow.json", json.dumps(document))
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    done = vaibify(made.root, "reproduce", *OFFLINE, "--rerun", "--json")
    outputs = {one["path"]: one for one in json.loads(done.out)["rerun"]["outputs"]}
    assert {path: one["verdict"] for path, one in outputs.items()} == {
        "out/a.txt": "inside tolerance",
        "out/t.csv": "inside tolerance",
        "out/n.csv": "different",
        "out/x.gz": "noise only",
        "out2/b.txt": "identical",
        "plots/p.png": "identical",
    }
    assert outputs["out/t.csv"]["largest_absolute"]["where"] == "row 2, column mass"
    assert outputs["out/n.csv"]["where"] == "row 2, column n"
    assert [one["kind"] for one in outputs["out/x.gz"]["ignored"]] == ["gzip header"]
    assert outputs["out2/b.txt"] == {"path": "out2/b.txt", "verdict": "identical"}
    said = vaibify(made.root, "reproduce", *OFFLINE, "--rerun")
    assert said.code == 1
    assert "      out/x.gz: noise only (gzip header passed over)\n" in said.out
    assert "      out/t.csv: inside tolerance (at most " in said.out


def test_a_rerun_that_is_interrupted_leaves_nothing(made: Made) -> None:
    made.write("make.sh", "touch begun; sleep 60; cp data/in.txt out/a.txt\n")
    before = sorted(os.listdir(made.root.parent))
    process = start(made.root, "reproduce", *OFFLINE, "--rerun", "--json")
    copies = made.root.parent.glob(".vaibify-rerun-*/r/.vaibify/local/runs/*/steps/make")
    while not any(made.root.parent.glob(".vaibify-rerun-*/r/.vaibify/local/runs/*/steps/make/*")):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (
        130,
        "",
        "jupyter vaibify reproduce: interrupted; nothing was written in the repository\n",
    )
    assert sorted(os.listdir(made.root.parent)) == before
    assert list(copies) == []


def test_on_a_terminal_there_is_progress_and_it_fits(made: Made) -> None:
    done = on_a_terminal(made.root, "reproduce", "--skip-tier", "3", env={"NO_COLOR": "1"})
    lines = [line.rpartition("\x1b[K")[2] for line in done.out.split("\r\n")]
    assert done.code == 0
    assert "\x1b[K" in done.out
    assert max(map(len, lines)) <= 80
    assert lines[2] == "[3/4] Pulling pinned container image ... skipped"


class Reader(html.parser.HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_holds_it_all(made: Made, tmp_path: Path) -> None:
    made.write("out/a.txt", "x\n")
    target = tmp_path / "report.html"
    done = vaibify(made.root, "reproduce", *OFFLINE, "--report", str(target))
    assert done.code == 1
    assert done.out.endswith(f"The whole report: {target}\n")
    page = Reader(target.read_text())
    assert "NOT confirmed. Tiers failed: 1" in page.text
    assert "out/a.txt" in page.text
    assert [name for name, _ in page.tags if name in ("script", "link", "iframe", "object")] == []
    images = [attributes for name, attributes in page.tags if name == "img"]
    assert [one["alt"] for one in images] == ["plots/p.png"]
    assert str(images[0]["src"]).startswith("data:image/png;base64,iVBORw0KGgo")
    sources = re.findall(r"(?:src|href)=\"([^\"]*)\"", target.read_text())
    assert all(one.startswith("data:image/") for one in sources)


def test_the_page_tells_a_reruns_verdicts(made: Made, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    words = ("reproduce", *OFFLINE, "--rerun", "--report", str(target))
    assert vaibify(made.root, *words).code == 0
    assert Reader(target.read_text()).text.count("identical") == 4


def test_a_hostile_repository_writes_no_markup(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    step = {
        "sName": evil,
        "sStepId": "evil",
        "saPlotCommands": ["printf '<svg onload=alert(1)>' > '<b>.svg'; touch '$title.txt'"],
        "saPlotFiles": ["<b>.svg", "$title.txt"],
        "bNoInputData": True,
        "bNoTests": True,
    }
    made = Made.new(tmp_path / "r", [step], {}, sWorkflowName=f"{evil}$summary")
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    target = tmp_path / "page.html"
    words = ("reproduce", *OFFLINE, "--report", str(target))
    assert vaibify(made.root, *words).code == 0
    page = Reader(target.read_text())
    assert [one["alt"] for name, one in page.tags if name == "img"] == ["<b>.svg"]
    assert f"Reproduction of {evil}$summary" in page.text
    assert "$title.txt" in page.text


def test_a_read_only_repository_can_be_confirmed(made: Made, tmp_path: Path) -> None:
    def read_only(*words: str) -> int:
        root = str(made.root)
        mounts = ["--dev-bind", "/", "/", "--ro-bind", root, root, "--chdir", root]
        command = ["bwrap", *mounts, str(SCRIPT), *words]
        return subprocess.run(
            command, env=surroundings(), capture_output=True, check=False
        ).returncode

    assert read_only("init", "--name", "x") == 1  # the mount is what it says it is
    assert read_only("status") == 0
    target = tmp_path / "page.html"
    assert read_only("reproduce", *OFFLINE, "--report", str(target)) == 0
    assert target.is_file()
    assert read_only("reproduce", *OFFLINE, "--rerun") == 0
    assert read_only("reproduce", *OFFLINE, "--report", "page.html") == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere/page.html", "its folder does not exist"),
        (".", "is a folder"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_first(name: str, text: str, made: Made) -> None:
    done = vaibify(made.root, "reproduce", "--report", name)
    assert (done.code, done.out) == (2, "")
    assert done.err == (f"jupyter vaibify reproduce: {name}: --report cannot be written: {text}\n")
