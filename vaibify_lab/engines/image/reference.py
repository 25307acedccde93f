"""Names of images, as people and registries write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.paths import shown

LONGEST = 512
_PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_NAME = rf"(?:[A-Za-z0-9.-]+(?::[0-9]{{1,5}})?/)?{_PART}(?:/{_PART})*"
_DIGEST = r"sha256:[0-9a-f]{64}"
_REFERENCE = re.compile(rf"({_NAME})(?::([A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}}))?(?:@({_DIGEST}))?")
_FULL_DIGEST = re.compile(_DIGEST)
_SHOWN = 4  # hex digits of a digest in a line


@dataclass(frozen=True, slots=True)
class Reference:
    """``name[:tag][@digest]``; the name holds the registry's host where one is written."""

    name: str
    tag: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.name}{tag}@{self.digest}" if self.digest else f"{self.name}{tag}"

    @property
    def by_digest(self) -> str:
        """``name@sha256:...``, by which the image is the same for everybody."""
        return f"{self.name}@{self.digest}"


def parse_reference(text: str) -> Reference:
    """Read a name of an image.

    Raises
    ------
    UsageError
        Also for a digest that is not ``sha256:`` and 64 hex digits.
    """
    found = _REFERENCE.fullmatch(text) if len(text) <= LONGEST else None
    if found is not None:
        return Reference(*found.groups())
    said = f"{shown(text[:80])!r} is not the name of an image"
    if "@" in text:
        said = f"{shown(text[:120])!r} holds no full digest"
    action = "write name:tag, or name@sha256: and 64 hex digits"
    raise UsageError(said, action=action)


def is_digest(text: object) -> bool:
    """Tell whether this is ``sha256:`` and 64 lower-case hex digits."""
    return isinstance(text, str) and _FULL_DIGEST.fullmatch(text) is not None


def short(reference: str) -> str:
    """Return ``name@sha256:1a2b...`` for a line that people read."""
    name, at, digest = reference.partition("@")
    kind, colon, digits = (digest if at else name).partition(":")
    head = f"{name}@" if at else ""
    return f"{head}{kind}{colon}{digits[:_SHOWN]}..."
