"""``doctor``: what this machine has of what is needed, each line with its remedy."""

from __future__ import annotations

from vaibify_lab.apps import findings_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Verb, place


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.doctor import doctor

    screen.progress("looking ...")
    findings = doctor(place(given))
    findings_view.show(screen, findings)
    screen.document({"findings": [one.to_json() for one in findings]})
    return 1 if any(one.level == "error" for one in findings) else 0


VERB = Verb(
    "doctor",
    example="jupyter vaibify doctor",
    execute=_execute,
    more="Exits 1 when something is missing without which nothing works.",
    in_workflow=False,
)
