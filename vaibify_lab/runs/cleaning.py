"""``--clean``: declared outputs go before the run starts; what was there stays in its folder."""

from __future__ import annotations

from collections.abc import Sequence

from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs import plotonly
from vaibify_lab.runs.aside import outermost
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.plan import Planned


def clean(context: RunContext, planned: Sequence[Planned]) -> None:
    """Move the outputs of every step that the run may make out of the way, for good.

    Unlike outputs moved aside they are not put back when a step fails; nothing is deleted.
    """
    for one in planned:
        step = context.workflow.by_slug[one.slug]
        if one.action == "skip":
            continue
        outputs = plotonly.made(step) if context.options.plot_only else step.outputs
        place = f"{LOCAL}/runs/{context.folder.run_id}/cleaned"
        moved = 0
        for path in outermost(output.rstrip("/") for output in outputs):
            if context.tree.lstat(path) is not None:
                context.tree.move(path, f"{place}/{path}")
                moved += 1
        if moved:
            text = f"removed {moved} outputs before the run; they are kept in {place}"
            context.journal.write("note", step=step.slug, text=text)
