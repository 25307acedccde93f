"""``cache``: what is kept of container runs on this machine; ``--clear`` empties it."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb


def _arguments(parser: Parser) -> None:
    parser.add_argument("--clear", action="store_true", help="remove all that is kept")


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.cache_state import cache_state, clear_cache

    gone = clear_cache() if given.clear else None
    state = cache_state()
    if gone is not None:
        screen.line(f"removed {gone.text}")
    screen.line(state.text)
    answer = state.to_json()
    screen.document(answer | {"cleared": gone.to_json() if gone is not None else None})
    return 0


VERB = Verb(
    "cache",
    example=f"{COMMAND} cache\n{COMMAND} cache --clear",
    execute=_execute,
    arguments=_arguments,
    more="Outputs of steps that ran in a container of the pinned image are kept in your cache "
    "folder, and put back by a run that would make them again. VAIBIFY_CACHE_GIGABYTES says how "
    "much may be kept (10), and 0 that nothing is.",
    in_workflow=False,
    in_repository=False,
)
