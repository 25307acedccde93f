"""A step run two times: what came of the first beside what came of the second."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import FileState
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.outputs import compare_outputs
from vaibify_lab.runs.context import RunContext


@dataclass(slots=True)
class Twice:
    """Compares the outputs of two runs of a step and writes into the journal what differs.

    The project's expressions are looked at before anything runs.
    """

    context: RunContext
    differs: bool = False
    _rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        ignored = self.context.project.ignored_in_outputs
        own = tuple(Own(name, text) for name, text in ignored.items())
        begin = datetime.now(UTC)
        self._rules = Rules(self.context.workflow.tolerance, own=own, ran=(begin, begin))
        self._rules.check()

    def of(
        self, step: Step, first: Mapping[str, str], left: Sequence[str]
    ) -> Callable[[Tree], None]:
        """Return what is to look at the first run's outputs once those of the second are good.

        ``first`` are the hashes of the first run's outputs by repository path; ``left`` names what
        it wrote besides: the second may have read it, and then the same outputs prove nothing.
        """

        def look_back(old: Tree) -> None:
            context = self.context
            before = {path: FileState("file", sha256) for path, sha256 in first.items()}
            made = context.observer.expand(step.outputs)
            assert self._rules.ran is not None  # __post_init__
            rules = replace(self._rules, ran=(self._rules.ran[0], datetime.now(UTC)))
            found = compare_outputs(old, before, context.tree, made, rules)
            differing = [one for one in found if one.verdict != "identical"]
            self.differs = bool(differing or left)
            context.journal.write(
                "twice",
                step=step.slug,
                identical=not differing,
                differing=[one.path for one in differing],
                left=list(left),
                found=[
                    {"path": one.path, "verdict": one.verdict, "said": one.said}
                    for one in differing
                ],
            )

        return look_back
