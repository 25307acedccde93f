"""What a cell ends with: the step's badges, what became of its outputs, and its plots."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from html import escape
from typing import Any

from IPython.display import display

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import StepReport
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.magics.widgets import SignOffForm
from vaibify_lab.project import Project
from vaibify_lab.project.signing import ToSign
from vaibify_lab.runs.opened import Look

_display: Callable[..., Any] = display  # IPython gives it no types
_MOST_BYTES = 5 * 2**20
_MOST_PLOTS = 20
_NOT_YET = "not verified yet"
_PICTURES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "svg": "image/svg+xml",
}
_SIGNS = {
    "passed": "✓",
    "current": "✓",
    "failed": "✗",
    "none": "-",
    "unchanged": "-",
}


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as a cell shows it: text first, and HTML that only classes dress.

    A cell's output is kept in its notebook, so what is verified says when it was.
    """

    report: StepReport
    outputs: Mapping[str, str]
    seen: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def word(self) -> str:
        """Whether the step is verified, and when it was."""
        return f"verified, {self.seen:%Y-%m-%d %H:%M} UTC" if self.report.green else _NOT_YET

    def badges(self) -> Iterator[tuple[str, str]]:
        """Yield each badge's name and state."""
        report = self.report
        yield "run", report.run
        yield "integrity", report.integrity
        yield "qualitative", report.qualitative
        yield "quantitative", report.quantitative
        yield "you", report.user
        yield "upstream", "modified" if report.upstream_modified else "unchanged"

    def reasons(self) -> Iterator[str]:
        """Yield why the step is not green."""
        for reason in self.report.reasons:
            yield f"{reason.text}; {reason.action}" if reason.action else reason.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.as_text(), "text/html": self.as_html()}

    def as_text(self) -> str:
        """Return lines for every front end there is."""
        badges = " · ".join(f"{_sign(state)} {name} {state}" for name, state in self.badges())
        lines = [f"{self.report.slug}: {self.word}", f"  {badges}"]
        lines += [f"  {text}" for text in self.reasons()]
        lines += [f"  {shown(path)}: {what}" for path, what in self.outputs.items()]
        return "\n".join(lines)

    def as_html(self) -> str:
        """Return the same for a browser."""
        badges = "".join(
            f'<li class="vaibify-badge vaibify-state-{escape(state)}">'
            f"{_sign(state)} {escape(name)} {escape(state)}</li>"
            for name, state in self.badges()
        )
        reasons = "".join(f"<li>{escape(text)}</li>" for text in self.reasons())
        outputs = "".join(
            f"<li><code>{escape(shown(path))}</code>: {escape(what)}</li>"
            for path, what in self.outputs.items()
        )
        kind = "vaibify-green" if self.report.green else "vaibify-not-green"
        return (
            f'<div class="vaibify-step {kind}">'
            f"<strong>{escape(self.report.slug)}</strong>: {self.word}"
            f'<ul class="vaibify-badges">{badges}</ul><ul class="vaibify-reasons">{reasons}</ul>'
            f'<ul class="vaibify-outputs">{outputs}</ul></div>'
        )


def outputs_of(project: Project, slug: str) -> dict[str, str]:
    """Return the outputs of a step's last passed run, by path, with their hashes."""
    store: FactStore = project.opened.facts_of(project.opened.workflow(project.path))
    record = store.load([slug]).records.get(slug)
    passed = record.passed if isinstance(record, RunRecord) else None
    return dict(passed.pins.outputs) if passed is not None else {}


def show(
    project: Project, slug: str, before: Mapping[str, str], *, passed: bool, kit: Any = None
) -> None:
    """Show what is true of a step now; its plots too when it passed, and a form to sign it.

    ``kit`` is ipywidgets, where there is a form.
    """
    look = project.look()
    after = outputs_of(project, slug) if passed else {}
    changes = {path: _became(before.get(path), sha256) for path, sha256 in after.items()}
    changes |= {path: "no longer written" for path in before if passed and path not in after}
    view = StepView(_report_of(look, slug), changes)
    drawn = _display(view, display_id=True)
    plots = look.workflow.by_slug[slug].made_among(after)
    wanted = look.workflow.by_slug[slug].plot_files
    for path in [one for one in plots if _is_of(one, wanted)][:_MOST_PLOTS] if passed else ():
        _show_plot(project, path)
    record = look.facts.records.get(slug)
    can_be_signed = (view.report.run, view.report.user) == ("current", "untested")
    if kit is not None and can_be_signed and isinstance(record, RunRecord):
        seen = ToSign(slug, record.run_id, dict(record.pins.outputs))
        SignOffForm(kit, project, seen, partial(_draw_again, project, drawn, changes, slug))


def _draw_again(project: Project, drawn: Any, changes: Mapping[str, str], slug: str) -> None:
    drawn.update(StepView(_report_of(project.look(), slug), changes))


def _report_of(look: Look, slug: str) -> StepReport:
    return next(one for one in look.reports if one.slug == slug)


def _became(old: str | None, new: str) -> str:
    if old is None:
        return "new"
    return "the same bytes as before" if old == new else "changed"


def _is_of(path: str, declared: tuple[str, ...]) -> bool:
    folders = tuple(one for one in declared if one.endswith("/"))
    return path in declared or path.startswith(folders)


def _show_plot(project: Project, path: str) -> None:
    kind = _PICTURES.get(path.rpartition(".")[2].lower())
    bundle: dict[str, Any] = {"text/plain": f"[plot {shown(path)}]"}
    if kind is not None:
        try:
            data = project.opened.tree.read(path, _MOST_BYTES)
        except VaibifyError as error:
            bundle["text/plain"] = f"[plot {error}]"
        else:
            is_text = kind.endswith("xml")
            text = data.decode("utf-8", "replace") if is_text else base64.b64encode(data).decode()
            bundle[kind] = text
    _display(bundle, raw=True)


def _sign(state: str) -> str:
    return _SIGNS.get(state, "○")
