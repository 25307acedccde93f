"""``run``: the steps that need it, or those that are named, with their tests."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from vaibify_lab.apps.running import make_run
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project, slugs_of
from vaibify_lab.core.errors import UsageError

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.options import RunOptions
    from vaibify_lab.runs.plan import Mode


def jobs(word: str) -> int:
    """Read a number of steps at once."""
    if not (word.isascii() and word.isdigit() and int(word[:6]) > 0):
        raise UsageError(f"--jobs takes a whole number from 1 on, not {word!r}")
    return int(word[:6])


def engine_options(parser: Parser) -> None:
    """Add the options of ``run`` and ``test`` that say where steps run."""
    parser.add_argument("--jobs", type=jobs, metavar="N", help="at most so many steps at once")
    parser.add_argument(
        "--engine",
        choices=("auto", "docker", "local"),
        default="auto",
        help="where steps run (auto: in a container where an image is pinned, else local)",
    )
    parser.add_argument(
        "--tier",
        choices=("auto", "bwrap", "landlock", "plain"),
        default="auto",
        help="what holds the steps of the local engine (auto: the strongest that works here)",
    )


def _arguments(parser: Parser) -> None:
    flag = "store_true"
    parser.add_argument("steps", nargs="*", metavar="STEP", help="always, and stale ones before it")
    parser.add_argument("--only", action=flag, help="the named steps, nothing before them")
    parser.add_argument("--all", action=flag, help="every step")
    parser.add_argument("--from", dest="start", metavar="STEP", help="a step and all after it")
    parser.add_argument("--stale", action=flag, help="what is not current; the default")
    engine_options(parser)
    parser.add_argument("--deterministic", action=flag, help="fix seeds, threads and hash order")
    parser.add_argument(
        "--no-cache", action=flag, help="take nothing from the cache, and put nothing there"
    )
    parser.add_argument("--plot-only", action=flag, help="only the plots; data must be as it was")
    parser.add_argument("--sealed", action=flag, help="in a tree with only what is declared")
    parser.add_argument("--twice", action=flag, help="each step twice; say whether it is the same")
    parser.add_argument("--clean", action=flag, help="remove declared outputs first")
    parser.add_argument("--no-tests", action=flag, help="not the tests")
    parser.add_argument(
        "--interactive",
        action=argparse.BooleanOptionalAction,
        help="with the steps that a person does (so on a terminal), or without",
    )
    parser.add_argument("--detach", action=flag, help="do not follow the run")


def selection(given: Namespace) -> Mode:
    """Return the mode that the options name.

    Raises
    ------
    UsageError
        For options that exclude each other.
    """
    kinds = {"--all": given.all, "--stale": given.stale, "--from": given.start is not None}
    asked = [name for name, is_given in kinds.items() if is_given]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} exclude each other", action="give one of them")
    if given.steps and asked:
        raise UsageError(f"{asked[0]} takes no other step", action=f"name steps, or {asked[0]}")
    if given.only and not given.steps:
        raise UsageError("--only needs the steps to run", action=f"{COMMAND} run STEP --only")
    if given.steps:
        return "only" if given.only else "steps"
    modes: dict[str, Mode] = {"--all": "all", "--from": "from"}
    return modes.get(asked[0], "stale") if asked else "stale"


def options_of(project: Project, given: Namespace, *, attended: bool = False) -> RunOptions:
    """Return what a run is asked for."""
    from vaibify_lab.runs.options import RunOptions

    mode = selection(given)
    names = [given.start] if mode == "from" else given.steps
    return RunOptions(
        workflow=project.path,
        mode=mode,
        steps=slugs_of(project, names),
        jobs=given.jobs,
        engine=given.engine,
        tier=given.tier,
        deterministic=given.deterministic,
        plot_only=given.plot_only,
        sealed=given.sealed,
        clean=given.clean,
        twice=given.twice,
        interactive=attended if given.interactive is None else given.interactive,
        tests=not given.no_tests,
        no_cache=given.no_cache,
    )


def _execute(given: Namespace, screen: Screen) -> int:
    selection(given)
    project = open_project(given)
    options = options_of(project, given, attended=screen.can_ask() and not given.detach)
    if not given.detach:
        return make_run(project, options, screen, VERB.name)
    folder = project.start_run(options)
    screen.line(f"run {folder.run_id} goes on by itself")
    screen.line(f"  follow it: {COMMAND} log {folder.run_id} --follow")
    screen.line(f"  stop it:   {COMMAND} stop-run")
    screen.json_line({"event": "runDetached", "run_id": folder.run_id})
    return 0


VERB = Verb(
    "run",
    example="jupyter vaibify run\njupyter vaibify run trend --only --no-tests",
    execute=_execute,
    arguments=_arguments,
    more="Without a step: what is not current, parents first; a step whose inputs come out as "
    "they were is skipped. Ctrl-C stops the run, a hang-up does not. Exits 0 only when "
    "everything that was asked for passed. A step that a person does waits for them: on a terminal "
    "you are asked, elsewhere it is left out, and so is what rests on it.",
    leaves="a run that had begun goes on; see: jupyter vaibify log --follow",
)
