"""Every writing verb, the moment before it, and what is there once it has been finished."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from tests.kills import checks
from tests.kills.apart import Work, apart
from tests.kills.faults import Fault
from tests.kills.truth import Truth
from tests.runs.here import request
from vaibify_lab.apps.main import main as command
from vaibify_lab.engines.image.inside import Inside
from vaibify_lab.engines.image.registry import LocalImage
from vaibify_lab.envelope.environment import NAME as ENVIRONMENT
from vaibify_lab.runs import child as runner
from vaibify_lab.runs.enveloping import read_environment
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.pinning import pin_image, pin_pushed

WORKFLOW = "workflow.json"
IMAGE = LocalImage("sha256:" + "1" * 64, "sha256:" + "1" * 64, "linux/amd64", ())
PUSHED = f"localhost:5000/trial@sha256:{'2' * 64}"
Act = Callable[[Truth], Work]
Do = Callable[[Truth], None]


@dataclass(frozen=True)
class Scene:
    """One writing verb.

    ``before`` makes the moment before it, once; ``act`` returns what is to be done, made ready;
    ``finish`` does what a person would do next; ``done`` checks what must be there then.
    ``depth``: the fault is met by the first step's supervisor (see ``supervised``).
    """

    name: str
    before: Do
    act: Act
    finish: Do
    done: Do
    depth: int | None = None


def run_of(**options: object) -> Act:
    """Return what makes a run, as the runner's own process does."""

    def act(truth: Truth) -> Work:
        folder = request(truth.made, RunOptions(WORKFLOW, **options))  # type: ignore[arg-type]
        return lambda: _as_runner(str(folder.path))

    return act


def verb(*words: str) -> Act:
    """Return what runs a verb of the command line in the project."""
    return lambda truth: lambda: command([*words, "--repo", str(truth.made.root)])


def _as_runner(folder: str) -> int:
    sys.argv = ["child", folder]
    try:
        runner.main()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code)
            return 1
        return ended.code or 0
    return 0


def nothing(truth: Truth) -> None:
    """Leave it as it is."""


def run(truth: Truth) -> None:
    """Make a run, which does all that is to be done."""
    assert apart(truth, run_of()(truth)) == 0, truth.made.root


def done_by(act: Act) -> Do:
    """Return what does something, without fault."""

    def do(truth: Truth) -> None:
        assert apart(truth, act(truth)) == 0

    return do


def both(*parts: Do) -> Do:
    """Return what does one after the other."""

    def do(truth: Truth) -> None:
        for part in parts:
            part(truth)

    return do


def changed(truth: Truth) -> None:
    """An input is another."""
    truth.change()


def restored(truth: Truth) -> None:
    """It is as it was."""
    truth.change(text="0\n")


def failing(truth: Truth) -> None:
    """The first step will fail half way."""
    truth.change(text="fail\n")


def failed(truth: Truth) -> None:
    """The first step has failed, and nobody has said that they saw it."""
    failing(truth)
    assert apart(truth, run_of()(truth)) == 1
    restored(truth)


def crashed_at(change: str) -> Do:
    """Return what kills a run at a change that is named."""

    def do(truth: Truth) -> None:
        changed(truth)
        assert apart(truth, run_of()(truth), Fault(1, where=change)) == -9, change

    return do


def other_side(truth: Truth) -> None:
    """A run of something else clears up: what was good is where it was."""
    assert apart(truth, run_of(mode="only", steps=("side",))(truth)) == 0
    checks.after_the_next(truth)


def nearly_green(truth: Truth) -> None:
    """All steps but the first are signed, and an old envelope lies there."""
    truth.made.project().envelope("manifest")
    changed(truth)
    run(truth)
    for step in truth.steps[1:]:
        truth.sign(step.slug)
        truth.made.sign(step.slug)
    truth.sign(truth.steps[0].slug)


def enveloped(truth: Truth) -> None:
    """There is an envelope, of other bytes."""
    truth.made.project().envelope("manifest")
    changed(truth)
    run(truth)


def signed_again(truth: Truth) -> None:
    """Who was interrupted signs again, unless it shows; then a run brings the rest."""
    slug = truth.steps[0].slug
    if truth.made.steps()[slug].user != "passed":
        done_by(SIGN)(truth)
    run(truth)


def all_is_green(truth: Truth) -> None:
    """All is green and the envelope is of now."""
    checks.after_the_last(truth)
    assert all(one.green for one in truth.made.steps().values())
    checks.envelope_fits(truth)


def envelope_is_there(truth: Truth) -> None:
    """The envelope is of now."""
    checks.after_the_last(truth)
    checks.envelope_fits(truth)


def lock_is_there(truth: Truth) -> None:
    """The lock is whole and listed."""
    assert truth.made.read("requirements.lock").startswith("# vaibify: python 3.")
    checks.envelope_fits(truth)


def is_project(truth: Truth) -> None:
    """Everything that ``init`` writes is there."""
    for path in (".vaibify/.gitignore", ".gitattributes", "vaibify.yml", "container.conf"):
        assert truth.made.read(path), path
    assert b"local/" in truth.made.root.joinpath(".vaibify/.gitignore").read_bytes()


def _pin(truth: Truth) -> Work:
    def work() -> int:
        opened = Opened(truth.made.root, cached=False)
        pin_image(opened, "trial:1", IMAGE, Inside(python="Python 3.11.2"), "built")
        pin_pushed(opened, "trial:1", PUSHED)
        return 0

    return verbatim(work)


def verbatim(work: Work) -> Work:
    """Return work whose errors of ours end as those of a verb do."""
    from vaibify_lab.core.errors import VaibifyError

    def guarded() -> int:
        try:
            return work()
        except VaibifyError as error:
            print(error)
            return error.exit_code

    return guarded


def is_pinned(truth: Truth) -> None:
    """Image and push are recorded, and the manifest has the file as it is."""
    found = read_environment(Opened(truth.made.root, cached=False))
    assert found is not None
    assert (found.config_digest, found.registry_digest) == (IMAGE.config_digest, PUSHED)
    assert checks.listed(truth)[ENVIRONMENT] == truth.hash(ENVIRONMENT)


SEEN, ENVELOPE = verb("acknowledge"), verb("envelope")
LOCK = verb("envelope", "--only", "lock")
SIGN = verb("sign-off", "make", "--pass", "--name", "Ada Test")
_LAST = checks.after_the_last
SCENES = {
    one.name: one
    for one in (
        Scene("run", changed, run_of(), run, _LAST),
        Scene("run-undone", changed, run_of(), both(other_side, restored, run), _LAST),
        Scene("run-failing", failing, run_of(), both(restored, run), _LAST),
        Scene("run-twice", changed, run_of(twice=True), run, _LAST),
        Scene("run-clean", changed, run_of(clean=True), run, _LAST),
        Scene("run-sealed", changed, run_of(sealed=True), both(other_side, run), _LAST),
        Scene("run-all", nothing, run_of(mode="all", jobs=2), both(other_side, run), _LAST),
        Scene("run-again", crashed_at("make.json"), run_of(), run, _LAST),
        Scene("test", nothing, run_of(mode="all", tests_only=True), run, _LAST),
        Scene("start", changed, verb("run", "--detach"), run, _LAST),
        Scene("sign-off", nearly_green, SIGN, signed_again, all_is_green),
        Scene("acknowledge", failed, SEEN, both(done_by(SEEN), run), _LAST),
        Scene("envelope", enveloped, ENVELOPE, done_by(ENVELOPE), envelope_is_there),
        Scene("lock", enveloped, LOCK, done_by(LOCK), lock_is_there),
        Scene("init", nothing, verb("init"), done_by(verb("init")), is_project),
        Scene("pin", enveloped, _pin, done_by(_pin), is_pinned),
    )
}
SCENES |= {
    name: Scene(name, changed, run_of(tier=tier), run, _LAST, depth)
    for tier in ("bwrap", "landlock", "plain")
    for depth, name in ((0, f"{tier}-starter"), (2, f"{tier}-supervisor"), (3, f"{tier}-step"))
}
