"""A step that a person does, in a container of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.contained.pinned import Image, containers, of, pinned, record, wait_for
from tests.engines.shells import SIZE, Shell
from tests.kit import Made
from tests.runs.here import step
from vaibify_lab.runs.journal import RunFolder, read_events
from vaibify_lab.runs.options import RunOptions

LOOK = step("Look", "python3 mark.py", out="marks/m.txt", bInteractive=True)
USE = step("Use", "cat {Step01.m} > used/u.txt", out="used/u.txt")


def waiting(made: Made) -> RunFolder:
    folder = made.project().start_run(RunOptions("workflow.json", interactive=True))
    wait_for(lambda: of(read_events(folder), "stepWaiting"))
    return folder


def ended(made: Made, folder: RunFolder) -> dict[str, str]:
    last = [event for event in made.project().events(folder) if event is not None][-1]
    steps: dict[str, str] = last["steps"]
    return steps


def test_a_person_does_a_step_in_its_own_container(
    tmp_path: Path, image: Image, client: object
) -> None:
    made = pinned(tmp_path / "p", image, [LOOK, USE], {"mark.py": "print()\n"})
    folder = waiting(made)
    assert made.steps()["look"].run == "waiting"
    assert of(read_events(folder), "stepWaiting")[0]["commands"] == ["python3 mark.py"]
    one = Shell(made.project().open_terminal("look", "xterm", SIZE))
    assert one.answer("pwd; echo $VAIBIFY_STEP; hostname")[0] == "/workspace/p\nlook\nvaibify"
    assert one.answer("echo x > marks/m.txt; echo x > .vaibify/x")[1] == 1
    made.project().speak("look", "pause")
    wait_for(lambda: of(read_events(folder), "stepPaused"))
    made.project().speak("look", "resume")
    wait_for(lambda: of(read_events(folder), "stepResumed"))
    made.project().speak("look", "complete")
    assert ended(made, folder) == {"look": "passed", "use": "passed"}
    one.rest()
    one.terminal.close()
    kept = record(made, "look")
    assert (kept.isolation, kept.done_by) == ("container", "Ada Test <ada@example.org>")
    report = made.steps()["look"]
    assert (report.run, report.in_pinned_image) == ("current", True)
    assert wait_for(lambda: not containers(client, folder.run_id))


def test_a_container_that_somebody_kills_did_nothing(tmp_path: Path, image: Image) -> None:
    made = pinned(tmp_path / "p", image, [LOOK, USE], {"mark.py": "print()\n"})
    folder = waiting(made)
    name = f"vaibify-{folder.run_id}-look"
    subprocess.run(["docker", "kill", name], check=True, capture_output=True)
    assert ended(made, folder) == {"look": "failed", "use": "blocked"}
    kept = record(made, "look")
    assert (kept.reason_code, kept.done_by) == ("ended-unasked", None)
