"""ipywidgets, where they are installed and help: what runs now, and a sign-off by a button.

No verdict lives in a widget: each is one output beside the text, its own text comes first, and when
it has done its work that text is all that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal

from IPython.core.getipython import get_ipython
from IPython.display import display

from vaibify_lab.core.errors import UsageError, VaibifyError
from vaibify_lab.magics.screen import CellScreen
from vaibify_lab.project import Project
from vaibify_lab.project.signing import SignedOff, ToSign, name_of

_display: Callable[..., Any] = display  # IPython gives it no types
_VIEW = "application/vnd.jupyter.widget-view+json"
Verdict = Literal["passed", "failed"]


def toolkit() -> Any:
    """Return ipywidgets where it is installed and a kernel can speak to a front end, else None."""
    get_shell: Callable[[], Any] = get_ipython
    if getattr(get_shell(), "kernel", None) is None:
        return None
    try:
        return import_module("ipywidgets")
    except ImportError:
        return None


@contextmanager
def progress(kit: Any, screen: CellScreen, slug: str) -> Iterator[None]:
    """Show in a widget what runs and how long, from the first second on; a text stays of it."""
    shown: list[tuple[Any, Any]] = []

    def tell(text: str) -> None:
        if not shown:
            label = kit.Label(value=text)
            shown.append((label, _show(label, f"{slug}: running")))
        shown[0][0].value = text

    screen.on_progress = tell if kit is not None else None
    try:
        yield
    finally:
        screen.on_progress = None
        for label, handle in shown:
            handle.update({"text/plain": f"{slug}: ran"}, raw=True)
            label.close()


class SignOffForm:
    """Pass and Fail for what a cell has just shown, with the name that will be recorded.

    Parameters
    ----------
    kit : module
        ipywidgets.
    project : Project
    seen : ToSign
        The bytes that the cell showed; others are refused.
    done : callable
        Called when they were signed.
    """

    def __init__(self, kit: Any, project: Project, seen: ToSign, done: Callable[[], None]) -> None:
        self._project, self._seen, self._done = project, seen, done
        self._name = kit.Text(value=project.opened.repository.identity() or "", description="Name")
        self._note = kit.Text(description="Note")
        self._said = kit.Label()
        buttons = [kit.Button(description=word) for word in ("Pass", "Fail")]
        for button, verdict in zip(buttons, ("passed", "failed"), strict=True):
            button.on_click(lambda _, verdict=verdict: self._sign(verdict))
        self._box = kit.VBox([kit.HBox([self._name, self._note, *buttons]), self._said])
        command = f"%vaibify sign-off {seen.slug} --pass (or --fail)"
        self._handle = _show(self._box, f"{seen.slug}: looked at it? {command}")

    def _sign(self, verdict: Verdict) -> None:
        try:
            signed = self._signed(verdict)
        except VaibifyError as error:  # no cell runs that could end with it
            self._said.value = str(error)
            return
        entry = signed.entry
        how = "with an SSH signature" if entry.signature else f"unsigned: {entry.unsigned_reason}"
        text = f"{self._seen.slug} is signed off as {entry.verdict} by {entry.by} ({how})"
        text += f"; warning: {signed.warning}" if signed.warning else ""
        self._handle.update({"text/plain": text}, raw=True)
        self._box.close()
        self._done()

    def _signed(self, verdict: Verdict) -> SignedOff:
        note = self._note.value
        if not note.isprintable():
            raise UsageError("the note takes one line of text")
        by = name_of(self._project, self._name.value)
        return self._project.sign_off(self._seen, verdict, by=by, note=note)


def _show(widget: Any, text: str) -> Any:
    """Display a widget behind a text, which front ends without widgets show; return its handle."""
    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    return _display({"text/plain": text, _VIEW: view}, raw=True, display_id=True)
