"""Every address, below ``<base_url>vaibify/``."""

from __future__ import annotations

from vaibify_lab.handlers.base import Common
from vaibify_lab.handlers.journal import RunJournalHandler
from vaibify_lab.handlers.projects import ProjectsHandler
from vaibify_lab.handlers.runs import (
    AcknowledgeHandler,
    LogHandler,
    RunHandler,
    RunsHandler,
    TestsHandler,
)
from vaibify_lab.handlers.sign_offs import SignOffsHandler
from vaibify_lab.handlers.status import FileStatusHandler, LevelsHandler

_PROJECT = "projects/([0-9a-f]{16})"
_RUN = f"{_PROJECT}/runs/([^/]+)"
_STEP = f"{_PROJECT}/steps/([^/]+)"

ROUTES: tuple[tuple[str, type[Common]], ...] = (
    ("projects", ProjectsHandler),
    (f"{_PROJECT}/file-status", FileStatusHandler),
    (f"{_PROJECT}/levels", LevelsHandler),
    (f"{_PROJECT}/runs", RunsHandler),
    (_RUN, RunHandler),
    (f"{_RUN}/journal", RunJournalHandler),
    (f"{_RUN}/logs/([^/]+)/(.+)", LogHandler),
    (f"{_PROJECT}/tests", TestsHandler),
    (f"{_PROJECT}/acknowledge", AcknowledgeHandler),
    (f"{_STEP}/sign-offs", SignOffsHandler),
)
