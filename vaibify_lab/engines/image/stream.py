"""What an engine streams while it builds, pulls and pushes; an error in the stream is raised."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vaibify_lab.core.errors import BuildFailed
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image import pip_words
from vaibify_lab.engines.image.client import failure

KEPT = 400  # lines of a step that are kept to say why it failed
SAID = 8  # ... of which the error tells so many
_LONGEST = 2000
_STEP = re.compile(r"(?i)step (\d+)/(\d+) ?: (.*)")
_CHATTER = re.compile(r" ---> |Removing intermediate container ")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ID = re.compile(r"sha256:[0-9a-f]{64}")

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BuildLine:
    """One line of a build: what was said, in which step of how many (0 before the first)."""

    step: int
    steps: int
    text: str


Tell = Callable[[BuildLine], None]


@dataclass(slots=True)
class _Build:
    """What is known of a build after some lines."""

    tell: Tell
    step: int = 0
    steps: int = 0
    instruction: str = ""
    said: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))
    rest: str = ""
    image: str | None = None

    def take(self, event: Event) -> None:
        if "error" in event or "errorDetail" in event:
            raise self.failed(str(event.get("error") or event.get("errorDetail")))
        aux = event.get("aux")
        if isinstance(aux, Mapping) and _ID.fullmatch(str(aux.get("ID"))):
            self.image = str(aux["ID"])
        *lines, self.rest = (self.rest + str(event.get("stream", ""))).split("\n")
        self.rest = self.rest[-_LONGEST:]
        for line in lines:
            self._line(shown(_COLOUR.sub("", line).rsplit("\r", 1)[-1].rstrip())[:_LONGEST])

    def _line(self, text: str) -> None:
        if begun := _STEP.fullmatch(text):
            self.step, self.steps = int(begun[1]), int(begun[2])
            self.instruction = begun[3]
            self.said.clear()
        elif text and not _CHATTER.match(text):
            self.said.append(text)
        if text:
            self.tell(BuildLine(self.step, self.steps, text))

    def failed(self, error: str) -> BuildFailed:
        """Return the error: the package where pip named one, else the step's last words."""
        lines = [*self.said, self.rest] if self.rest else [*self.said]
        where = f"step {self.step}/{self.steps}: {self.instruction[:120]}" if self.step else None
        fault = pip_words.fault_in(lines)
        if fault is not None:
            return BuildFailed(fault.text, where=f"requirements.lock ({where})")
        reason = shown(" ".join(error.split()))[:300]
        last = " / ".join(lines[-SAID:])
        return BuildFailed(f"{reason}: {last}" if last else reason, where=where)


def follow_build(events: Iterable[Event], tell: Tell) -> str | None:
    """Follow a build to its end and return the image's Id, where the stream says it.

    Raises
    ------
    BuildFailed
        With the step and its last lines; a package that pip refused is named.
    """
    build = _Build(tell)
    for event in events:
        build.take(event)
    build.take({"stream": "\n"})
    return build.image


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a pull or push said: the digest it named, and whether anything was moved at all."""

    digest: str | None
    already_here: bool


def follow_transfer(
    events: Iterable[Event], what: str, tell: Callable[[str], None], where: str
) -> Transfer:
    """Follow a pull or a push to its end.

    Raises
    ------
    ImageRefused, RegistryUnreachable, DiskFull
        For an error in the stream; the call itself does not fail for it.
    """
    digest: str | None = None
    here = False
    for event in events:
        if "error" in event or "errorDetail" in event:
            raise failure(what, str(event.get("error") or event.get("errorDetail")), where=where)
        aux = event.get("aux")
        if isinstance(aux, Mapping) and _ID.fullmatch(str(aux.get("Digest"))):
            digest = str(aux["Digest"])
        status = str(event.get("status", ""))
        if found := re.search(r"(?i)\bdigest: (sha256:[0-9a-f]{64})", status):
            digest = digest or found[1]
        here = here or "Image is up to date" in status
        tell(_progress(event, status))
    return Transfer(digest, here)


def _progress(event: Event, status: str) -> str:
    layer = f"{event['id']}: " if event.get("id") else ""
    detail = event.get("progressDetail")
    done, total = (detail or {}).get("current"), (detail or {}).get("total")
    size = f" {done / 1e6:.0f}/{total / 1e6:.0f} MB" if done and total else ""
    return shown(f"{layer}{status}{size}")[:200]
