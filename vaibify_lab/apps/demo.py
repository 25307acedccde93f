"""``demo``: a small real project, made; with ``--run`` also taken all the way to a verdict."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from vaibify_lab.apps import report_view
from vaibify_lab.apps.reproduce import confirm
from vaibify_lab.apps.running import make_run
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of
from vaibify_lab.core.errors import UsageError

if TYPE_CHECKING:
    from vaibify_lab.files.git import Repository
    from vaibify_lab.project import Project

NAME, ADDRESS = "Vaibify Demo", "demo@example.org"
DEFAULT = "vaibify-demo"


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "directory", nargs="?", default=DEFAULT, metavar="DIR", help=f"new or empty ({DEFAULT})"
    )
    parser.add_argument("--run", action="store_true", help="run, sign, envelope, clone, confirm")
    parser.add_argument(
        "--base-image", metavar="REF", help="what its image is built on (a slim public Python)"
    )
    parser.add_argument("--notebook", action="store_true", help="its steps as cells of a notebook")


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.demo import write_demo
    from vaibify_lab.files.git import Repository

    place = Path(os.path.abspath(given.directory))
    if given.run and given.notebook:
        raise UsageError("--run and --notebook exclude each other", action="give one of them")
    write_demo(place, notebook=given.notebook)
    if given.base_image is not None:
        _name_base(place, given.base_image)
    repository = Repository.make(place)
    _commit(repository, ["."], "The demo: data, scripts, tests and the workflow")
    what = "three cells" if given.notebook else "four steps"
    screen.line(f"{screen.symbol('✓', '+')} a project in {what}: {given.directory}")
    if given.run:
        return _run(repository, screen, given.base_image)
    for text in _next_in_notebook(given.directory) if given.notebook else _next(given.directory):
        screen.line(text)
    screen.document({"repo": str(place)})
    return 0


def _next(directory: str) -> list[str]:
    return [
        "Next:",
        f"  cd {directory}",
        f"  {COMMAND} envelope --only lock",
        f"  {COMMAND} run",
        f"  {COMMAND} status",
        f"  {COMMAND} sign-off figure --pass",
        f"  {COMMAND} envelope",
        f"  {COMMAND} reproduce --skip-tier 3",
    ]


def _next_in_notebook(directory: str) -> list[str]:
    return [
        "Next:",
        f"  cd {directory}",
        "  jupyter lab co2.ipynb, and run all its cells; or: jupyter execute co2.ipynb",
        f"  {COMMAND} status",
    ]


def _name_base(place: Path, image: str) -> None:
    """Write the base image into the project's vaibify.yml, as its researcher would."""
    from vaibify_lab.engines.image.reference import parse_reference

    file = place / "vaibify.yml"
    lines = file.read_text("utf-8").splitlines()
    named = f"baseImage: {parse_reference(image)}"
    changed = [named if line.startswith("baseImage:") else line for line in lines]
    file.write_text("\n".join([*changed, ""]), "utf-8")


def _build(project: Project, screen: Screen, asked: str | None) -> bool:
    """Build the project's image; return whether it was pushed, so that others can pull it.

    Without an engine, or without a base image to be had, the demo goes on outside a container; a
    base image that was named must be had.
    """
    from vaibify_lab.core.errors import VaibifyError

    _heading(screen, "Building its container image")
    try:
        built = project.build(
            push=_own_registry(asked), tell=lambda line: screen.progress(f"  {line.text}")
        )
    except VaibifyError as error:
        if asked is not None:
            raise
        screen.line(f"  no image: {error.text}", colour="yellow")
        screen.line("  the demo uses the embedded engine: steps run outside a container")
        return False
    for text in built.warnings:
        screen.line(f"  ! {text}", colour="yellow")
    screen.line(f"  {built.image_name}: {built.config_digest[:19]}, {built.platform}")
    return built.registry_digest is not None


def _own_registry(base_image: str | None) -> str | None:
    """Return where the demo's image is pushed: the base's own registry, if that is on loopback."""
    from vaibify_lab.core.levels import is_loopback
    from vaibify_lab.engines.image.reference import parse_reference

    if base_image is None or not is_loopback(base_image):
        return None
    host = parse_reference(base_image).name.partition("/")[0]
    return f"{host}/{DEFAULT}:latest"


def _run(repository: Repository, screen: Screen, base_image: str | None) -> int:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.options import RunOptions

    project = Project(repository.root)
    _heading(screen, "Pinning the packages (requirements.lock)")
    project.envelope("lock", lambda text: screen.progress(f"  {text}"))
    pushed = _build(project, screen, base_image)
    _heading(screen, "Running every step and its tests")
    code = make_run(project, RunOptions(project.path, "all"), screen.of_one_document(), VERB.name)
    if code:
        return code
    _heading(screen, f"Signing off, as {NAME} (in your project: after looking)")
    for step in project.opened.workflow(project.path).steps:
        seen = project.to_sign(step.slug)
        project.sign_off(seen, "passed", by=NAME)
        screen.line(f"  {step.slug}: {count_of(len(seen.hashes), 'output')}")
    _heading(screen, "Writing the envelope, and committing all of it")
    for path, what in project.envelope():
        screen.line(f"  {path}: {what}")
    _commit_results(project)
    _heading(screen, "What is verified now (status)")
    report = project.report()
    report_view.show(screen, report, report.steps)
    return _confirm_in_a_clone(repository, screen, [] if pushed else [3])


def _confirm_in_a_clone(repository: Repository, screen: Screen, skip: list[int]) -> int:
    from vaibify_lab.project import Project

    _heading(screen, "Cloning it, and confirming the clone as a stranger would (reproduce)")
    with tempfile.TemporaryDirectory(prefix="vaibify-demo-") as folder:
        clone = Path(folder, repository.root.name)
        repository.run("clone", "--quiet", str(repository.root), str(clone), transport=True)
        found = confirm(Project(clone, cached=False), None, skip, screen)
        agrees = _by_hand(clone)
    said = {True: "agrees", False: "FAILED", None: "not here to ask"}[agrees]
    screen.line(f"sha256sum -c MANIFEST.sha256: {said}", colour=None if agrees else "yellow")
    screen.document({"repo": str(repository.root), "reproduction": found.as_json()})
    return found.exit_code or int(agrees is False)


def _by_hand(clone: Path) -> bool | None:
    """Ask coreutils the same question; None where there are none."""
    program = shutil.which("sha256sum")
    if program is None:
        return None
    command = [program, "--quiet", "--strict", "-c", "MANIFEST.sha256"]
    return subprocess.run(command, cwd=clone, capture_output=True, check=False).returncode == 0


def _commit_results(project: Project) -> None:
    """Commit what a clone needs: the results, the facts and the envelope."""
    from vaibify_lab.ceremony.standing import to_be_committed
    from vaibify_lab.runs.enveloping import manifested
    from vaibify_lab.runs.start import GITIGNORE

    opened = project.opened
    workflows = [opened.workflow(path) for path in opened.workflow_paths()]
    paths = to_be_committed(opened, workflows, manifested(opened, workflows))
    _commit(opened.repository, [*paths, GITIGNORE], "Results, records, sign-offs, envelope")


def _commit(repository: Repository, paths: list[str], message: str) -> None:
    """Commit as the demo's own author, whatever git is configured to do."""
    listed = "\0".join(paths).encode("utf-8", "surrogateescape")
    add = ("--literal-pathspecs", "add", "--pathspec-from-file=-", "--pathspec-file-nul")
    repository.run(*add, input=listed)
    person = ("-c", f"user.name={NAME}", "-c", f"user.email={ADDRESS}")
    author = f"--author={NAME} <{ADDRESS}>"
    unsigned = ("-c", "commit.gpgSign=false")
    repository.run(*person, *unsigned, "commit", "--quiet", author, "-m", message)


def _heading(screen: Screen, text: str) -> None:
    screen.line()
    screen.line(f"== {text}", hang=3, colour="bold")


VERB = Verb(
    "demo",
    example=f"{COMMAND} demo co2 --run",
    execute=_execute,
    arguments=_arguments,
    more="Carbon dioxide at Mauna Loa, 1958 to 2001: real measurements, four steps in a diamond, "
    "as a git repository of its own.",
    leaves="the folder holds what was made until then; delete it and start again",
    in_workflow=False,
    in_repository=False,
)
