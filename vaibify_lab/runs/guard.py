"""What may not change while a step or its tests run, and what they wrote beside their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import as_word, is_within, shown
from vaibify_lab.core.report import Reason
from vaibify_lab.engines.base import Engine
from vaibify_lab.files.factstore import MARKERS, RECORDS, SIGN_OFFS
from vaibify_lab.files.stamps import Stamp
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.gitguard import GitGuard
from vaibify_lab.runs.planted import quarantine, take_privileges
from vaibify_lab.runs.writes import Snapshot, Written

NAMED = 200  # undeclared writes that a record names
_FEW = 5  # ... and that the journal does
_VAIBIFY = ".vaibify"


def prevents(engine: Engine, what: str) -> bool:
    """Tell whether an engine rules something out, by the code it would give if it did not."""
    described: Mapping[str, Any] = engine.describe()
    return all(one["code"] != what for one in described["cannot_prevent"])


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look saw: every fault, files that were written and nobody declares, those to name."""

    faults: tuple[Reason, ...]
    undeclared: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def hidden(self) -> int:
        """How many undeclared files are not named."""
        return len(self.undeclared) - len(self.named)


@dataclass(frozen=True, slots=True)
class Guard:
    """The state just before something runs in a step's place.

    ``facts_alone``: only those of the step itself are watched, for it can reach no fact at all.
    ``mine`` are the paths it may write (folders with a final slash), ``elsewhere`` those that are
    compared in another way, ``beside`` the folders of steps that run meanwhile.
    """

    context: RunContext
    step: Step
    snapshots: tuple[Snapshot, ...]
    git: GitGuard
    commit: tuple[str | None, str | None]
    facts: Mapping[str, Stamp | None]
    facts_alone: bool
    mine: tuple[str, ...]
    elsewhere: frozenset[str]
    beside: set[str]

    @classmethod
    def take(
        cls,
        context: RunContext,
        step: Step,
        seen: Tree,
        folders: tuple[str, ...],
        *,
        mine: tuple[str, ...],
        elsewhere: frozenset[str],
        beside: set[str],
    ) -> Guard:
        """Look at everything now; ``seen`` is the tree that the step sees."""
        state = context.repository.snapshot()
        # All of them would make a run's cost grow with the square of its steps.
        alone = "" not in folders and _is_confined(context)
        return cls(
            context=context,
            step=step,
            snapshots=tuple(_snapshots(context, seen, folders)),
            git=GitGuard.take(context.git),
            commit=(state.branch, state.commit),
            facts=context.facts.stamps(step.slug if alone else None),
            facts_alone=alone,
            mine=mine,
            elsewhere=elsewhere,
            beside=beside,
        )

    def look(self) -> Seen:
        """Return what happened since, except what was to happen.

        What was planted is moved out of reach; what is only odd goes into the journal.
        """
        faults = [*self._git()]
        undeclared: list[str] = []
        quiet = 0
        for snapshot in self.snapshots:
            written = snapshot.written_since()
            faults += self._dangerous(snapshot.tree, written)
            forbidden, others = self._sorted(written.paths)
            faults += forbidden
            undeclared += others
            quiet += written.byte_code
        faults += self._facts()
        return Seen(tuple(faults), tuple(undeclared), self._tell(undeclared, quiet))

    def shields(self) -> dict[str, Path]:
        """Return what of the step's own folders is to be laid read-only: repositories there.

        They are the host's: its git would run what a step writes into their configuration.
        """
        if not prevents(self.context.engine, "links"):
            return {}  # this engine cannot lay anything read-only over a writable folder
        seen = self.snapshots[0]
        places = {path: seen.tree.root / path for path in seen.repositories if _can_be_laid(path)}
        return {path: one for path, one in places.items() if not one.is_symlink()}

    def _dangerous(self, tree: Tree, written: Written) -> Iterator[Reason]:
        """Yield what would run on the host with its rights, made harmless where it can be."""
        for path in self._not_beside(written.planted):
            yield self._planted(tree, path, f"made a git repository at {shown(path)}")
        for path in self._not_beside(written.too_deep):
            yield self._planted(tree, path, f"nested folders too deeply: {shown(path)[:60]}...")
        for path in self._not_beside(written.turned):
            text = f"ran while the git repository that holds {shown(path)} was changed there"
            yield Reason("git-changed", text, path, f"look at {as_word(path)}")
        privileged = self._not_beside(written.privileged)
        take_privileges(tree, privileged)
        for path in privileged:
            text = f"left {shown(path)} to run with its owner's rights (setuid), which were taken"
            yield Reason("privileged-file", text, path)

    def _not_beside(self, paths: tuple[str, ...]) -> list[str]:
        return [path for path in paths if not any(is_within(path, one) for one in self.beside)]

    def _planted(self, tree: Tree, path: str, what: str) -> Reason:
        place = quarantine(tree, path, self.context.folder.run_id)
        if place is None:
            text, action = "which could not be moved out of reach", f"rm -rf -- {as_word(path)}"
        else:
            text, action = "which was moved out of reach", f"look at {as_word(place)}"
        return Reason("planted-repository", f"{what}, {text}", path, action)

    def _git(self) -> Iterator[Reason]:
        changed = self.git.changed()
        for one in changed:
            text = f"ran while git's hooks or executing configuration changed: {shown(one)}"
            path = one.partition(" (")[0]
            yield Reason("git-changed", text, path, f"look at {as_word(path)}")
        if changed:
            return
        state = self.context.repository.snapshot()
        if (state.branch, state.commit) != self.commit:
            text = "ran while git's branch or commit changed"
            self.context.journal.write("warning", step=self.step.slug, text=text, path=".git/HEAD")

    def _facts(self) -> Iterator[Reason]:
        facts, slug = self.context.facts, self.step.slug
        for path in facts.changed_by_others(self.facts, slug, alone=self.facts_alone):
            text = f"ran while the fact {path} was changed, and not by the runner"
            yield Reason("fact-changed", text, path, f"git checkout -- {as_word(path)}")

    def _sorted(self, paths: tuple[str, ...]) -> tuple[list[Reason], list[str]]:
        """Tell forbidden writes from those that are only undeclared."""
        forbidden, undeclared = [], []
        for path in paths:
            if self._is_mine(path) or any(is_within(path, one) for one in self.beside):
                continue
            if path.startswith(f"{_VAIBIFY}/{SIGN_OFFS}/"):
                self._tell_of_sign_off(path)
            elif is_within(path, _VAIBIFY):
                if not self._is_hosts(path):
                    forbidden.append(_forbidden(path))
            elif self.context.protected.holds(path):
                forbidden.append(_forbidden(path))
            else:
                undeclared.append(path)
        return forbidden, undeclared

    def _is_mine(self, path: str) -> bool:
        if path in self.elsewhere:
            return True
        return any(path == one or (one[-1] == "/" and path.startswith(one)) for one in self.mine)

    def _is_hosts(self, path: str) -> bool:
        """Tell whether the host may have written a file of .vaibify: a fact."""
        own = (f"{_VAIBIFY}/{kind}/{self.context.workflow.stem}/" for kind in (RECORDS, MARKERS))
        return path.startswith(tuple(own))

    def _tell_of_sign_off(self, path: str) -> None:
        """Name a sign-off that changed: by a person, or by a step that nothing keeps from it."""
        text = f"ran while the sign-off {shown(path)} changed: make sure that a person did it"
        self.context.journal.write("warning", step=self.step.slug, text=text, path=path)

    def _not_ignored(self, paths: list[str]) -> tuple[str, ...]:
        """Return the paths that git does not ignore; all of them where it cannot say any more."""
        if not paths:
            return ()
        try:
            return self.context.observer.not_ignored(paths)
        except VaibifyError:
            return tuple(paths)

    def _tell(self, undeclared: list[str], quiet: int) -> tuple[str, ...]:
        """Name undeclared files in the journal, count those that git ignores and byte code."""
        write, slug = self.context.journal.write, self.step.slug
        asked = undeclared[: 10 * NAMED]
        named = self._not_ignored(asked)
        for path in named[:_FEW]:
            text = f"wrote {shown(path)}, which no step declares"
            write("warning", step=slug, text=text, path=path)
        more = len(undeclared) - len(asked) + max(0, len(named) - _FEW)
        if more:
            write("warning", step=slug, text=f"wrote {more} more files that no step declares")
        quiet += len(asked) - len(named)
        if quiet:
            text = f"{quiet} files written that git ignores, or byte code: not named"
            write("note", step=slug, text=text)
        return named[:NAMED]


def _can_be_laid(path: str) -> bool:
    """Tell whether a repository is one by its ``.git``, of a name that every engine takes."""
    return path.lower().endswith("/.git") and path.isprintable()


def _forbidden(path: str) -> Reason:
    text = f"ran while {shown(path)} was changed, which is not its own to write"
    see, undo = f"git diff -- {as_word(path)}", f"git checkout -- {as_word(path)}"
    return Reason("forbidden-write", text, path, f"{see}; where no person did that: {undo}")


def _is_confined(context: RunContext) -> bool:
    """Tell whether a step can change no file but those in the folders that it may write."""
    return all(prevents(context.engine, what) for what in ("write", "truncate"))


def _snapshots(context: RunContext, seen: Tree, folders: tuple[str, ...]) -> Iterator[Snapshot]:
    confined = prevents(context.engine, "write")
    yield Snapshot.take(seen, folders if confined else ("",))
    if not confined and seen is not context.tree:
        yield Snapshot.take(context.tree, ("",))  # a sealed step that nothing keeps in its tree
    if not confined or "" in folders:  # a mount that protects it goes when the host replaces it
        yield Snapshot.take(context.tree, (_VAIBIFY,))
