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
    │   └── MissingFile             a required input is missing or unreadable
    ├── NotPassed                   something failed or differs                  1
    │   ├── PreflightFailed         the run cannot begin
    │   ├── RunInProgress           somebody else's run holds the lock
    │   ├── BytesChanged            not the bytes that were looked at
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

A front door maps ``exit_code`` (and later an HTTP status) in one place; nothing else catches these.
"""

from __future__ import annotations

import re

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
    """

    code = "error"
    exit_code = 1

    def __init__(self, text: str, *, where: str | None = None, action: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.where = where
        self.action = action

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


class MissingFile(QuestionError):
    """A file that the question needs is missing or cannot be read."""

    code = "missing-file"


class NotPassed(VaibifyError):
    """Something failed or differs."""

    code = "not-passed"


class PreflightFailed(NotPassed):
    """The run cannot begin."""

    code = "preflight"


class RunInProgress(NotPassed):
    """Another run of this workflow holds the lock."""

    code = "run-in-progress"


class BytesChanged(NotPassed):
    """The bytes are not those that were looked at."""

    code = "bytes-changed"


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
