"""Many steps at once, from threads that end before their steps do."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

from vaibify_lab.engines.base import Handle

from .conftest import Lab, wait_for


def test_twenty_at_once(lab: Lab) -> None:
    launched: list[tuple[int, Handle, Path]] = []

    def start(number: int) -> None:
        folder = f"out/{number}"
        (lab.tree / folder).mkdir()
        handle, state = lab.launch(
            f"sleep 0.3; echo from {number} | tee {folder}/result; exit {number}",
            writable=(folder,),
            state=made(lab, number),
        )
        launched.append((number, handle, state))

    threads = [Thread(target=start, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(launched) == 20
    for number, handle, _ in launched:
        ended = wait_for(handle.poll)
        assert (ended.returncode, ended.lost, ended.stopped) == (number, False, False)
        text = f"from {number}\n"
        assert (lab.tree / f"out/{number}/result").read_text() == text
        assert (lab.base / f"many{number}" / "stdout").read_text() == text


def made(lab: Lab, number: int) -> Path:
    state = lab.base / f"many{number}"
    state.mkdir()
    return state
