"""``test``: the tests alone, of all steps or of some."""

from __future__ import annotations

from vaibify_lab.apps.run import engine_options
from vaibify_lab.apps.running import make_run
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Parser, Verb, open_project, slugs_of


def _arguments(parser: Parser) -> None:
    parser.add_argument("steps", nargs="*", metavar="STEP", help="the tests of these steps only")
    parser.add_argument(
        "--category",
        choices=("integrity", "qualitative", "quantitative"),
        help="the tests of this category only",
    )
    engine_options(parser)


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.options import RunOptions

    project = open_project(given)
    slugs = slugs_of(project, given.steps)
    options = RunOptions(
        workflow=project.path,
        mode="only" if slugs else "all",
        steps=slugs,
        jobs=given.jobs,
        engine=given.engine,
        tier=given.tier,
        tests_only=True,
        category=given.category,
    )
    return make_run(project, options, screen, VERB.name)


VERB = Verb(
    "test",
    example="jupyter vaibify test trend --category quantitative",
    execute=_execute,
    arguments=_arguments,
    more="Runs no step. Exits 0 only when at least one test was run and all passed.",
    leaves="a run that had begun goes on; see: jupyter vaibify log --follow",
)
