"""``doctor``: what this machine has of what is needed, each line with its remedy."""

from __future__ import annotations

from vaibify_lab.apps import findings_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Verb, place


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.doctor import doctor

    screen.progress("looking ...")
    findings = doctor(place(given))
    findings_view.show(screen, findings)
    screen.document({"findings": [one.to_json() for one in findings]})
    missing = [one for one in findings if one.level == "error"]
    if missing:
        screen.failed(f"{COMMAND} doctor: {missing[0]}")
    return 1 if missing else 0


VERB = Verb(
    "doctor",
    example="jupyter vaibify doctor",
    execute=_execute,
    more="Exits 1 when something is missing without which nothing works.",
    in_workflow=False,
)
