"""``%vaibify VERB``: the command line's verbs, in the kernel."""

from __future__ import annotations

from contextlib import suppress

from vaibify_lab.apps.main import main
from vaibify_lab.core.errors import NotPassed, QuestionError, VaibifyError
from vaibify_lab.magics.screen import CellScreen
from vaibify_lab.notebooks.step_line import words_of

_DEFAULT = "status"
_WRONG_QUESTION = 2


def run_verb(line: str) -> None:
    """Run one verb; a code that is not 0 fails the cell.

    Raises
    ------
    QuestionError, NotPassed
    """
    words = words_of(line) or [_DEFAULT]
    screen = CellScreen(as_json="--json" in words)
    code = 0
    with suppress(SystemExit):  # which --help ends with
        code = main(words, screen)
    if code:
        raise _failure(code, screen.complaint or f"%vaibify {words[0]} ended with code {code}")


def _failure(code: int, text: str) -> VaibifyError:
    return (QuestionError if code == _WRONG_QUESTION else NotPassed)(text)
