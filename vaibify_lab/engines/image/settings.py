"""What vaibify.yml says of the image, checked so far that it can stand in a Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core.errors import InvalidFile, UsageError
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image.reference import parse_reference

PATH = "vaibify.yml"
WORKSPACE = "/workspace"
USER = "vaibify"
_DEFAULT_BASE = "python:{}-slim-bookworm"
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_WORKSPACE = re.compile(r"(?:/[A-Za-z0-9][A-Za-z0-9._-]*){1,8}")
_SYSTEM = re.compile(r"[a-z0-9][a-z0-9+.-]*(?::[a-z0-9]+)?(?:=[A-Za-z0-9.+:~-]+)?")
_PIP_FLAG = re.compile(
    r"--(?:no-binary|only-binary)=[A-Za-z0-9_.:,-]+|--(?:timeout|retries)=\d{1,4}"
    r"|--(?:prefer-binary|no-build-isolation|no-compile)"
)
_NOT_HERE = {
    "repositories": "is not read; the repositories of the image stand in container.conf",
    "pythonPackages": "is not installed by itself; `init` reads it into requirements.in",
}


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """What an image is made from, apart from its repositories and its lock.

    Attributes
    ----------
    base : str
        As a person names it.
    python : str or None
        ``3.12``, when vaibify.yml or the lock asks for one.
    """

    base: str
    python: str | None = None
    system_packages: tuple[str, ...] = ()
    user: str = USER
    workspace: str = WORKSPACE
    pip_flags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_settings(
    value: Mapping[str, Any], *, base: str | None = None, lock_python: str | None = None
) -> ImageSettings:
    """Read what vaibify.yml says of the image.

    Parameters
    ----------
    value : mapping
        The file, of the known kinds already.
    base : str, optional
        Used instead of ``baseImage``.
    lock_python : str, optional
        The Python that requirements.lock is for; used where ``pythonVersion`` is absent.

    Raises
    ------
    InvalidFile
        Naming the key.
    """
    asked = value.get("pythonVersion")
    python = ".".join(str(asked or lock_python).split(".")[:2]) if asked or lock_python else None
    named = base or value.get("baseImage") or _DEFAULT_BASE.format(python or "3.12")
    user = str(value.get("containerUser", USER))
    if user in ("root", "0") or not _USER.fullmatch(user):
        raise _invalid("containerUser", "expected a user's name that is not root", user)
    workspace = str(value.get("workspaceRoot", WORKSPACE)).rstrip("/")
    if not _WORKSPACE.fullmatch(workspace):
        raise _invalid("workspaceRoot", "expected a plain absolute path", workspace)
    return ImageSettings(
        base=_base(str(named)),
        python=python,
        system_packages=_each(value, "systemPackages", _SYSTEM, "names of system packages"),
        user=user,
        workspace=workspace,
        pip_flags=_each(value, "pipInstallFlags", _PIP_FLAG, _FLAGS_TEXT),
        warnings=tuple(_warnings(value)),
    )


_FLAGS_TEXT = (
    "--no-binary=, --only-binary=, --timeout=, --retries=, --prefer-binary, --no-build-isolation "
    "or --no-compile"
)


def _base(text: str) -> str:
    try:
        return str(parse_reference(text))
    except UsageError as error:
        where = f"{PATH}: baseImage"
        raise InvalidFile(error.text, where=where, action=error.action) from None


def _each(
    value: Mapping[str, Any], key: str, pattern: re.Pattern[str], expected: str
) -> tuple[str, ...]:
    items: Sequence[str] = value.get(key) or ()
    for item in items:
        if not pattern.fullmatch(item):
            raise _invalid(key, f"expected {expected}", item)
    return tuple(items)


def _warnings(value: Mapping[str, Any]) -> Iterator[str]:
    for key, text in _NOT_HERE.items():
        if value.get(key):
            yield f"{PATH}: {key} {text}"


def _invalid(key: str, expected: str, found: str) -> InvalidFile:
    return InvalidFile(f"{expected}, found {shown(found[:80])!r}", where=f"{PATH}: {key}")
