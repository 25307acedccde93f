"""Random histories of a real repository: edits, runs, tests, sign-offs, branches, merges, clones.

After every event the whole report is compared with what the chronicle says, which knows the bytes
and what was seen to happen and nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from tests.kit import git
from tests.runs.chronicle import KINDS, Bytes, Examined, Ran, Truth
from tests.runs.declarations import SLUGS, declarations, numbers, paths, skipping, slugs, workflows
from tests.runs.here import run_here
from tests.runs.histories import Acts, reports_of
from vaibify_lab.core.report import StepReport
from vaibify_lab.runs.opened import Opened

BRANCHES = ("main", "one", "two")
KEEP = st.sampled_from(["ours", "theirs", "both", "none", "-Xours", "-Xtheirs"])
APART: dict[str, tuple[st.SearchStrategy[Any], ...]] = {  # on either side, before a merge
    "edit": (paths, numbers),
    "delete": (paths,),
    "run": (slugs,),
    "test": (slugs,),
    "sign": (slugs, st.sampled_from(["passed", "failed"])),
    "finish": (skipping,),
    "acknowledge": (),
}
ACTS = st.one_of(*(st.tuples(st.just(name), *given) for name, given in APART.items()))
TWO_SIDES = (st.lists(ACTS, min_size=1, max_size=3), st.lists(ACTS, max_size=3))
BRANCH = st.sampled_from(BRANCHES)
EVERYTHING = APART | {
    "edit_in_secret": (paths, numbers),
    "restore": (numbers,),
    "touch": (paths, st.integers(-(10**9), 10**8), st.booleans()),
    "set_environment": (slugs, st.sampled_from(["", "1", "2"])),
    "declare_inputs": (declarations,),
    "switch": (BRANCH,),
    "diverge": (BRANCH, *TWO_SIDES, KEEP),
    "merge": (BRANCH, KEEP),
    "clone": (st.booleans(),),
}


class Histories(Acts):
    """The same, on branches that part and meet, and looked at from a clone."""

    @rule(branch=BRANCH)
    def switch(self, branch: str) -> None:
        self._commit()
        known = git(self.root, "branch", "--list", branch)
        git(self.root, "checkout", "-q", *([] if known else ["-b"]), branch)

    @rule(branch=BRANCH, theirs=TWO_SIDES[0], mine=TWO_SIDES[1], keep=KEEP)
    def diverge(self, branch: str, theirs: list[Any], mine: list[Any], keep: str) -> None:
        """Let two branches go on from here, each in its way, and merge the one into the other."""
        self._commit()
        here = git(self.root, "branch", "--show-current").strip()
        git(self.root, "checkout", "-q", "-B", f"{branch}-of-{here}")
        for name, *words in theirs:
            getattr(self, name)(*words)
        self._commit()
        git(self.root, "checkout", "-q", here)
        for name, *words in mine:
            getattr(self, name)(*words)
        self.merge(f"{branch}-of-{here}", keep)

    @rule(branch=BRANCH, keep=KEEP)
    def merge(self, branch: str, keep: str) -> None:
        """Merge a branch; where it conflicts keep one side, or markers in facts, or give up.

        ``-Xours`` keeps one side of each conflicting part, and the other's of the rest of the file.
        """
        self._commit()
        if not git(self.root, "branch", "--list", branch):
            return
        how = [keep] if keep.startswith("-X") else []
        command = ["git", "-C", str(self.root), "merge", "-q", *how, "-m", "merged", branch]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return
        if keep == "none":
            git(self.root, "merge", "--abort")
            return
        for path in git(self.root, "diff", "--name-only", "--diff-filter=U").splitlines():
            if keep != "both" or not path.startswith(tuple(f".vaibify/{one}" for one in KINDS)):
                self._take(path, "theirs" if keep == "theirs" else "ours")
        self._commit()

    def _take(self, path: str, side: str) -> None:
        command = ["git", "-C", str(self.root), "checkout", f"--{side}", "--", path]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            (self.root / path).unlink(missing_ok=True)  # that side has none

    def _commit(self) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "more")

    @rule(move=st.booleans())
    def clone(self, move: bool) -> None:
        """Say the same in a clone, where every time and inode is another; perhaps go on there."""
        self._commit()
        place = self.folder / "clone"
        git(self.folder, "clone", "-q", str(self.root), str(place))
        assert reports_of(Opened(place, cached=False)) == self.reports() == reports_of(self.opened)
        if move:
            shutil.copy(self.root / ".git/config", place / ".git/config")
            shutil.rmtree(self.root)
            place.rename(self.root)
            self.open()
        else:
            shutil.rmtree(place)

    @invariant()
    def every_report_is_true(self) -> None:
        assert said(reports_of(self.opened)) == self.chronicle.truth()


class RealHistories(Histories):
    """The same, with the real runner and engine in place of our stand-ins for them."""

    @rule(slug=slugs)
    def run(self, slug: str) -> None:
        """Run a step, and first those above it that need it."""
        before = {one: self.chronicle.found("records", one) for one in SLUGS}
        began = there = self.chronicle.files()
        ran = run_here(self.made, slug, tier="plain", tests=False, jobs=1)
        for event in ran.events:
            if event["event"] in ("stepPass", "stepFail"):
                step = self.chronicle.steps()[event["step"]]
                beside = self.chronicle.read_beside(step, there, began)
                self._note_run(ran.folder.run_id, event, before[step.slug], beside)
                others = {path: there[path] for path in there if not step.makes(path)}
                there = {**others, **self.chronicle.bytes_of(step.outputs)}

    def _note_run(self, run_id: str, event: dict[str, Any], old: object, beside: Bytes) -> None:
        slug = event["step"]
        step, passed = self.chronicle.steps()[slug], event["event"] == "stepPass"
        inputs, code, outputs = map(
            self.chronicle.bytes_of, (step.inputs, step.code, step.outputs if passed else ())
        )
        last = old.good if isinstance(old, Ran) and not passed else None
        ran = Ran(run_id, passed, step.how, inputs, code, outputs, last, beside)
        self.chronicle.note("records", slug, ran)

    @rule(slug=slugs)
    def test(self, slug: str) -> None:
        """Test a step, and first those above it that are not current."""
        ran = run_here(self.made, slug, tier="plain", tests_only=True)
        for one, step in self.chronicle.steps().items():
            tested = ran.of("tests", one)
            said = {event["category"]: event["outcome"] == "passed" for event in tested}
            if said:
                seen = self.chronicle.seen_by_tests(step)
                self.chronicle.note(
                    "test_markers", one, Examined(said, step.tests, seen, step.variables)
                )


def said(reports: Mapping[str, StepReport]) -> dict[str, Truth]:
    return {
        slug: Truth(
            one.run,
            one.upstream_modified,
            {
                name: getattr(one, name)
                for name in ("integrity", "qualitative", "quantitative")
                if getattr(one, name) != "none"
            },
            one.user,
            one.green,
        )
        for slug, one in reports.items()
    }


Histories.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    phases=[Phase.explicit, Phase.generate],  # to make a history shorter takes minutes
)
RealHistories.TestCase.settings = settings(
    Histories.TestCase.settings, max_examples=3, stateful_step_count=8
)
TestHistories = Histories.TestCase
TestRealHistories = RealHistories.TestCase


@settings(max_examples=3, phases=[Phase.explicit, Phase.generate])
@given(workflows(), st.permutations(sorted(EVERYTHING)), st.data())
def test_all_that_may_happen_in_one_history_and_back(
    declared: list[dict[str, Any]], order: list[str], data: st.DataObject
) -> None:
    """Each kind of event once, in any order; then every byte is put back, and so is every state."""
    history = Histories()
    try:
        history.begin(declared, set())
        files, reports = files_of(history.root), history.reports()
        for name in order:
            getattr(history, name)(*data.draw(st.tuples(*EVERYTHING[name]), label=name))
            history.every_report_is_true()
        put_back(history.root, files)
        assert history.reports() == reports == reports_of(history.opened)
    finally:
        history.teardown()


def files_of(root: Path) -> dict[str, bytes]:
    """Return every file of a project but git's and the machine's own."""
    found = (path for path in root.rglob("*") if path.is_file())
    names = {str(path.relative_to(root)): path for path in found}
    own = (".git/", ".vaibify/local/")
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(own)}


def put_back(root: Path, files: Mapping[str, bytes]) -> None:
    """Put every file back, and nothing else."""
    for name in files_of(root).keys() - files.keys():
        (root / name).unlink()
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
