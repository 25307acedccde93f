"""Every error that a user can cause or meet, as one tree.

::

    VaibifyError                    what went wrong, where, what to do        exit
    ├── QuestionError               the question was wrong                       2
    │   ├── UsageError              bad arguments
    │   ├── NotARepository          no git work tree here
    │   ├── RepositoryNotTrusted    git refuses a tree that somebody else owns
    │   ├── InvalidFile             a file that people write breaks its rules
    │   │   └── LaterFormat         ... was written by a later version
    │   ├── UnsafePath              a path that leaves the project or is not plain
    │   ├── UnknownStep
    │   ├── UnknownProject          no project of that id below the server's root
    │   ├── RepositoryAboveRoot     a repository that reaches out of the server's root
    │   ├── TooLarge                more than is sent at once
    │   └── MissingFile             a required input is missing or unreadable
    │       └── VersionUnknown      nobody here has the bytes of that version
    ├── NotPassed                   something failed or differs                  1
    │   ├── PreflightFailed         the run cannot begin
    │   ├── StepFailed              a step that a cell ran did not pass
    │   ├── RunInProgress           somebody else's run holds the lock
    │   ├── JobInProgress           a build, a reproduction ... of this project goes on
    │   ├── BytesChanged            not the bytes that were looked at
    │   ├── StaleCopy               the file is another than the one that was edited
    │   ├── ReviewerMode            a reviewer's server records nothing in the project
    │   ├── BuildFailed             an image could not be built
    │   └── ImageRefused            an image is not what was recorded, or cannot be had
    └── CannotCheck                 the machine does not let us                  1
        ├── ToolMissing             a program that is needed is not installed
        ├── ToolFailed              ... is, and failed
        ├── DiskFull
        ├── EngineMissing           no container engine answers
        ├── EngineUnfit             one answers, and cannot do what steps need
        ├── EngineLost              one answered, and went away
        └── RegistryUnreachable     the registry does not answer

A front door maps ``exit_code``, or the code to an HTTP status, in one place; nothing else catches
these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vaibify_lab.core.paths import shown

_BREAK = re.compile(r"\s*[\r\n]\s*")


class VaibifyError(Exception):
    """A failure that a person can understand and act on.

    Parameters
    ----------
    text : str
        What went wrong, one sentence, no trailing period needed.
    where : str, optional
        The file, key or step it is about.
    action : str, optional
        What to do about it; a command where there is one.
    details : mapping, optional
        What a machine needs beside the words, such as the hashes that are there now; JSON.
    """

    code = "error"
    exit_code = 1

    def __init__(
        self,
        text: str,
        *,
        where: str | None = None,
        action: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.where = where
        self.action = action
        self.details = details or {}

    def to_json(self) -> dict[str, str | None]:
        """Return the JSON answers' form."""
        return {"code": self.code, "text": self.text, "where": self.where, "action": self.action}

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in a traceback's place: a user's mistake has none."""
        return [f"{type(self).__name__}: {self}"]

    def __str__(self) -> str:
        """One line, safe to print: where, what, what to do."""
        where, text, action = (_one_line(part) for part in (self.where, self.text, self.action))
        head = f"{where}: {text}" if where else text
        return f"{head}; {action}" if action else head


def _one_line(text: str | None) -> str:
    return shown(_BREAK.sub(" ", text or "").strip())


class QuestionError(VaibifyError):
    """The question itself was wrong."""

    code = "question"
    exit_code = 2


class UsageError(QuestionError):
    """Bad arguments."""

    code = "usage"


class NotARepository(QuestionError):
    """No git work tree encloses the place."""

    code = "not-a-repository"


class RepositoryNotTrusted(QuestionError):
    """Git refuses to work in a tree that another user owns."""

    code = "repository-not-trusted"


class InvalidFile(QuestionError):
    """A file that people write breaks its rules: the file, the key, what was expected."""

    code = "invalid-file"


class LaterFormat(InvalidFile):
    """A file of a format later than this version knows; it is left as it is."""

    code = "later-format"


class UnsafePath(QuestionError):
    """A path that leaves the project, goes through a link, or is not a regular file."""

    code = "unsafe-path"


class UnknownStep(QuestionError):
    """No step of that name."""

    code = "unknown-step"


class UnknownProject(QuestionError):
    """No project of that id below the server's root, or no longer."""

    code = "unknown-project"


class RepositoryAboveRoot(QuestionError):
    """A repository that reaches out of the server's root: the root to use is named."""

    code = "repository-above-root"


class TooLarge(QuestionError):
    """More bytes than are sent at once."""

    code = "too-large"


class MissingFile(QuestionError):
    """A file that the question needs is missing or cannot be read."""

    code = "missing-file"


class VersionUnknown(MissingFile):
    """Nobody here has the bytes of that version."""

    code = "version-unknown"


class NotPassed(VaibifyError):
    """Something failed or differs."""

    code = "not-passed"


class PreflightFailed(NotPassed):
    """The run cannot begin."""

    code = "preflight"


class StepFailed(NotPassed):
    """A step that a cell ran did not pass."""

    code = "step-failed"


class RunInProgress(NotPassed):
    """Another run of this workflow holds the lock."""

    code = "run-in-progress"


class JobInProgress(NotPassed):
    """Another build, reproduction or the like of this project goes on."""

    code = "job-in-progress"


class BytesChanged(NotPassed):
    """The bytes are not those that were looked at."""

    code = "bytes-changed"


class StaleCopy(NotPassed):
    """The file is another by now than the one that was edited."""

    code = "stale"


class ReviewerMode(NotPassed):
    """A reviewer's server records nothing in the project."""

    code = "reviewer-mode"


class BuildFailed(NotPassed):
    """An image could not be built: the step and what it said."""

    code = "build-failed"


class ImageRefused(NotPassed):
    """An image is not what was recorded, or the registry does not have it."""

    code = "image-refused"


class CannotCheck(VaibifyError):
    """This machine does not let us find out."""

    code = "cannot-check"


class ToolMissing(CannotCheck):
    """A program that is needed is not installed."""

    code = "tool-missing"


class ToolFailed(CannotCheck):
    """A program that is needed ran and failed."""

    code = "tool-failed"


class DiskFull(CannotCheck):
    """No space left; nothing was half-written."""

    code = "disk-full"


class EngineMissing(CannotCheck):
    """No container engine answers: which was asked, and why it does not."""

    code = "engine-missing"


class EngineUnfit(CannotCheck):
    """A container engine answers and cannot do what steps need."""

    code = "engine-unfit"


class EngineLost(CannotCheck):
    """A container engine that had answered went away."""

    code = "engine-lost"


class RegistryUnreachable(CannotCheck):
    """The registry does not answer, so nobody knows what it holds."""

    code = "registry-unreachable"
