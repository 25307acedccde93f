"""What a run was asked to do in a certain way, and did not: steps that were current already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vaibify_lab.core.model import Workflow
from vaibify_lab.runs.options import RunOptions

_MOST = 5  # steps that are named


def not_in_that_way(
    options: RunOptions, workflow: Workflow, outcomes: Mapping[str, str]
) -> str | None:
    """Say which current steps an option did not reach; None where it reached all it could.

    What is sealed, deterministic or twice need not be said: a step that was not run so, is.
    """
    asked = list(_asked(options))
    steps = (workflow.by_slug[slug] for slug, outcome in outcomes.items() if outcome == "skipped")
    idle = [one.slug for one in steps if one.enabled and (one.plot_files or not options.plot_only)]
    if not (asked and idle) or options.selection.mode != "stale":
        return None
    names = ", ".join(idle[:_MOST]) + (f" and {len(idle) - _MOST} more" if idle[_MOST:] else "")
    is_one = len(idle) == 1
    what = "1 step is current and was" if is_one else f"{len(idle)} steps are current and were"
    option = " ".join(asked)
    return f"{what} not run, so not with {option} either ({names}); name steps, or give --all"


def _asked(options: RunOptions) -> Iterator[str]:
    """Yield the options that say how steps are run, as they are typed."""
    if options.engine in ("docker", "local"):
        yield f"--engine {options.engine}"
    if options.tier != "auto":
        yield f"--tier {options.tier}"
    flags = {"--no-cache": options.no_cache, "--plot-only": options.plot_only}
    yield from (name for name, given in (flags | {"--clean": options.clean}).items() if given)
