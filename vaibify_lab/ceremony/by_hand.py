"""What ``sha256sum -c`` makes of that which tier 1 refuses on purpose, said beside the reason."""

from __future__ import annotations

import dataclasses

from vaibify_lab.ceremony.report import TierProblem

_WORDS = {
    "link": "follows them",
    "lfs-pointer-listed": "asks for no more than the listed bytes",
    "malformed": "passes over such a line, or reads it its own way",
    "name-clash": "takes the one that is listed",
    "nothing-declared": "looks at listed files alone",
    "not-listed": "looks at listed files alone",
    "too-large": "reads on",
    "unsafe-path": "opens whatever is listed",
    "unusable-manifest": "follows links and reads any size",
    "windows-path": "takes it for a part of the name",
    "workflow-unusable": "looks at listed files alone",
}


def with_by_hand(found: TierProblem) -> TierProblem:
    """Return a problem with what coreutils does instead; unchanged where it refuses as well."""
    words = _WORDS.get(found.code)
    if words is None:
        return found
    return dataclasses.replace(found, text=f"{found.text} (sha256sum -c {words})")
