"""What steps are called: slugs, and the step that a name means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from vaibify_lab.core.errors import InvalidFile

NOT_IN_NAMES = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"  # a class: control, direction
_REFUSED = re.compile(f"[{NOT_IN_NAMES}]")


def plain_name(text: str) -> str:
    """Return a text without what no name holds, cut so that it can be read in a list."""
    return _REFUSED.sub("", text).strip()[:60].strip()


def slug_of(name: str) -> str:
    """Return the kebab-case of a step's name: lower-case ASCII letters, digits and '-'."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", plain)
    return re.sub(r"[^a-z0-9]+", "-", spaced.lower()).strip("-")[:100].strip("-")


def slugs_of(steps: Sequence[tuple[str | None, str]], where: str) -> list[str]:
    """Return the slug of each (step id, name).

    Raises
    ------
    InvalidFile
        When a name gives no slug, or two steps the same.
    """
    seen: dict[str, str] = {}
    for index, (step_id, name) in enumerate(steps):
        slug = step_id or slug_of(name)
        if not slug:
            text = f"listSteps[{index}]: the name {name!r} makes no file name"
            raise InvalidFile(text, where=where, action="give the step an sStepId")
        if slug in seen:
            text = f"two steps are called {slug!r}: {seen[slug]!r} and {name!r}"
            raise InvalidFile(text, where=where, action="rename one of them")
        seen[slug] = name
    return list(seen)


class Names:
    """Finds the step that a slug, a name or ``Step02`` means."""

    def __init__(self, slugs: Sequence[str], names: Sequence[str], where: str) -> None:
        self._where = where
        self._found: dict[str, list[str]] = {}
        for number, (slug, name) in enumerate(zip(slugs, names, strict=True), 1):
            for said in dict.fromkeys((slug, name, f"Step{number:02d}")):
                self._found.setdefault(said, []).append(slug)

    def find(self, said: str, user: str) -> str:
        """Return the slug of the step that a step depends on.

        Raises
        ------
        InvalidFile
            When there is none, or more than one.
        """
        found = self._found.get(said, ())
        if not found:
            text = f"step {user!r} depends on {said!r}, no such step"
            raise InvalidFile(text, where=self._where)
        if len(found) > 1:
            text = f"step {user!r} depends on {said!r}, which could be {found[0]!r} or {found[1]!r}"
            raise InvalidFile(text, where=self._where, action="name it by its sStepId")
        return found[0]
