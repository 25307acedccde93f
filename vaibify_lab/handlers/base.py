"""What every address has in common: who may, JSON in and out, and the one map of errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from tornado import web

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import (
    CannotCheck,
    QuestionError,
    ReviewerMode,
    UsageError,
    VaibifyError,
)
from vaibify_lab.core.spec import Shape

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.serving.bench import Bench
    from vaibify_lab.serving.shelf import Entry, Shelf

_Value = TypeVar("_Value")
SETTING = "vaibify_lab"
Action = Literal["read", "write", "execute"]
_Method = TypeVar("_Method", bound=Callable[..., Awaitable[None]])
_LARGEST_BODY = 16 * 2**20
STATUSES = {
    "unknown-project": 404,
    "unknown-step": 404,
    "missing-file": 404,
    "not-a-repository": 404,
    "version-unknown": 404,
    "repository-above-root": 403,
    "reviewer-mode": 403,
    "repository-not-trusted": 409,
    "too-large": 413,
    "invalid-file": 422,
    "later-format": 422,
    "preflight": 422,
    "disk-full": 507,
    "internal": 500,
}
_CODES = {400: "usage", 403: "forbidden", 404: "not-found", 405: "method-not-allowed"}


def status_of(error: VaibifyError) -> int:
    """Return the HTTP status of an error."""
    if error.code in STATUSES:
        return STATUSES[error.code]
    if isinstance(error, QuestionError) or error.exit_code == 2:
        return 400
    return 503 if isinstance(error, CannotCheck) else 409


def allowed(action: Action, name: str) -> Callable[[_Method], _Method]:
    """Let a method be called only by who is logged in and may do this to ``vaibify_lab:name``.

    What writes is refused on a reviewer's server.
    """

    def wrap(method: _Method) -> _Method:
        @wraps(method)
        async def checked(self: Common, *path: str) -> None:
            if action == "write":
                require_recording(self)
            await method(self, *path)

        authorizing: _Method = authorized(action, resource=f"vaibify_lab:{name}")(checked)
        return cast(_Method, web.authenticated(authorizing))

    return wrap


def require_recording(handler: Common) -> None:
    """Refuse to record anything in a project on a reviewer's server.

    Raises
    ------
    ReviewerMode
    """
    if handler.bench.settings.reviewer:
        text = "this server is in reviewer mode, which records nothing in the project"
        raise ReviewerMode(text, action="start Jupyter without it to work on the project")


class Common(JupyterHandler):
    """What an address has, plain or as a websocket. Methods raise; nothing below catches."""

    @property
    def bench(self) -> Bench:
        """What the extension keeps."""
        bench: Bench = self.settings[SETTING]
        return bench

    @property
    def shelf(self) -> Shelf:
        """The projects."""
        return self.bench.shelf

    async def ask(self, identity: str, question: Callable[[Project], _Value]) -> _Value:
        """Ask something short of a project that is kept open."""
        return await self.shelf.ask(await self.entry(identity), question)

    async def entry(self, identity: str) -> Entry:
        """Return the project of an id."""
        return await self.shelf.entry(identity)

    def body(self, shape: Shape) -> dict[str, Any]:
        """Return the request's JSON object, checked.

        Raises
        ------
        UsageError
            Naming the key and what was expected.
        """
        data = self.request.body
        value = jsonio.loads(data, "the request", limit=_LARGEST_BODY) if data.strip() else {}
        fault = shape.fault(value)
        if fault is not None:
            place = fault[0].lstrip(".")
            raise UsageError(f"{place}: {fault[1]}" if place else fault[1])
        for name, near in shape.unknown(value):
            hint = f" (did you mean {near!r}?)" if near else ""
            raise UsageError(f"{name}: no such key{hint}")
        found: dict[str, Any] = value
        return found

    def number(self, name: str) -> int:
        """Return a whole number of the query; 0 when it is not given."""
        given = self.get_query_argument(name, "0")
        if not (given.isascii() and given.isdigit() and len(given) < 16):
            raise UsageError(f"{name}: expected a whole number, found {given[:40]!r}")
        return int(given)

    def get_login_url(self) -> str:
        """Refuse who is not logged in, instead of sending them to a page to log in."""
        raise web.HTTPError(403)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Send what went wrong as JSON, with the status that it has."""
        raised = kwargs.get("exc_info", (None, None, None))[1]
        error = raised if isinstance(raised, VaibifyError) else _as_error(status_code, raised)
        code = status_of(error) if isinstance(raised, VaibifyError) else status_code
        self.set_status(code)
        self.set_header("Content-Type", "application/json")
        found = {**error.details, "error": error.to_json(), "message": str(error)}
        self.finish(jsonio.line(found))

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """Write one line for a user's mistake; a traceback only for one of ours."""
        if isinstance(value, VaibifyError):
            self.log.info("%s %s: %s", self.request.method, self.request.path, value)
        else:
            super().log_exception(typ, value, tb)


class Handler(Common, APIHandler):
    """An address that answers in JSON."""

    def answer(self, value: Any, status: int = 200) -> None:
        """Send JSON."""
        self.set_status(status)
        self.finish(jsonio.line(value))


def _as_error(status: int, raised: BaseException | None) -> VaibifyError:
    """Return Jupyter's own refusals, and mistakes of ours, as errors of ours."""
    error = VaibifyError(_text(status, raised))
    error.code = _CODES.get(status, "internal" if status >= 500 else "refused")
    return error


def _text(status: int, raised: BaseException | None) -> str:
    if isinstance(raised, web.HTTPError) and raised.log_message:
        return raised.log_message % raised.args  # tornado doubles the % of one without arguments
    if status >= 500:
        return "internal error; the server's log says more, please report it"
    return HTTPStatus(status).phrase
