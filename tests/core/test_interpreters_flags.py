"""Which Pythons heed neither variables nor site, by the words of their command."""

from __future__ import annotations

import pytest

from vaibify_lab.core.commands import simple_commands
from vaibify_lab.core.interpreters import ignores_environment


@pytest.mark.parametrize(
    ("command", "deaf"),
    [
        ("python -I a.py", True),
        ("python3.11 -BE -m mod", True),
        ("nice -n 5 /usr/bin/python3 -uS a.py", True),
        ("python -W ignore -I a.py", True),
        ("python -Wignore -Xutf8 -sE a.py", True),
        ("A=1 env python -OIc 'print(1)'", True),
        ("python a.py -I", False),
        ("python -c 'print(1)' -E", False),
        ("python -m mod -S", False),
        ("python -X importtime a.py", False),
        ("python -W I a.py", False),
        ("python -- -I", False),
        ("python --check-hash-based-pycs always a.py", False),
        ("python", False),
        ("grep -I x", False),
        ("bash -c 'python -I a.py'", False),  # what another shell does is not followed
        ("", False),
    ],
)
def test_python_s_options_and_nobody_else_s(command: str, deaf: bool) -> None:
    assert any(map(ignores_environment, simple_commands(command))) is deaf
