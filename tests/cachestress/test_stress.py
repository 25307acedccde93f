"""A sample of ``python -m tests.cachestress``: its seed is printed where it fails."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.cachestress.driver import Stress


def test_two_users_that_die_and_entries_that_rot_give_no_wrong_byte(tmp_path: Path) -> None:
    stress = Stress(tmp_path, secrets.randbelow(10**6), entries=60, kills=5, longest=0.8)
    found = stress.run()
    assert found["right at the end"] > 0, (stress.seed, found)
    assert stress.spoilt.total() > 0
