"""Who may call what: every address, with a recording authorizer, without a token, from elsewhere.

The server answers below ``/user/ana/``, as behind a hub (case S01).
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from tornado.httpclient import HTTPClientError

from tests.kit import Made
from tests.server.addresses import ADDRESSES, Address
from tests.server.client import Client
from vaibify_lab.handlers.routes import ROUTES

METHODS = ("get", "post", "put", "patch", "delete")


class Recording(Authorizer):
    """Refuses everything, and remembers what was asked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.asked: list[tuple[str, str]] = []

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        self.asked.append((action, resource))
        return False


@pytest.fixture
def jp_base_url() -> str:
    return "/user/ana/"


@pytest.fixture
def recording(jp_serverapp: Any) -> Recording:
    found = Recording(parent=jp_serverapp)
    jp_serverapp.web_app.settings["authorizer"] = found
    return found


def test_the_list_of_addresses_is_whole() -> None:
    listed = {(one.method.lower(), _plain(one.address)) for one in ADDRESSES}
    routes = dict(ROUTES)
    there = {
        (method, pattern)
        for pattern, handler in routes.items()
        for method in METHODS
        if method in vars(handler)
    }
    matched = {
        (method, next(one for one in routes if re.fullmatch(one, address)))
        for method, address in listed
    }
    assert matched == there


def _plain(address: str) -> str:
    return address.format(id="0123456789abcdef")


def _body(address: Address) -> str | None:
    return "{}" if address.method in ("POST", "PUT") else None


async def test_every_address_asks_the_authorizer(
    client: Client, recording: Recording, made: Made
) -> None:
    for one in ADDRESSES:
        recording.asked.clear()
        found = await client.ask(one.method, _plain(one.address), _body(one))
        assert (found.status, found.code) == (403, "forbidden"), one
        assert recording.asked == [(one.action, f"vaibify_lab:{one.resource}")], one


async def test_the_websockets_ask_the_authorizer(client: Client, recording: Recording) -> None:
    for address in ("runs/x/journal", "jobs/x/journal"):
        recording.asked.clear()
        with pytest.raises(HTTPClientError) as refused:
            await client.socket(f"projects/0123456789abcdef/{address}")
        assert refused.value.code == 403
        assert recording.asked == [("read", f"vaibify_lab:{address.split('/')[0]}")]


async def test_no_address_answers_without_a_token(client: Client, made: Made) -> None:
    for one in ADDRESSES:
        found = await client.ask(
            one.method, _plain(one.address), _body(one), headers={"Authorization": ""}
        )
        assert (found.status, found.code) == (403, "forbidden"), one
    for address in ("runs/x/journal", "jobs/x/journal"):
        with pytest.raises(HTTPClientError) as refused:
            await client.socket(f"projects/0123456789abcdef/{address}", headers={})
        assert refused.value.code == 403


async def test_a_cookie_alone_writes_nothing(client: Client, made: Made) -> None:
    """A page from elsewhere has the cookie and not the XSRF token, and names its origin."""
    cookie = await client.cookie()
    identity = await client.id()
    for one in ADDRESSES:
        address = one.address.format(id=identity)
        headers = {"Authorization": "", "Cookie": cookie}
        if one.method != "GET":
            found = await client.ask(one.method, address, _body(one), headers=headers)
            assert (found.status, found.code) == (403, "forbidden"), one
        elsewhere = {**headers, "Origin": "https://evil.example"}
        found = await client.ask(one.method, address, _body(one), headers=elsewhere)
        if not one.address.endswith(("/journal", "/a.txt", "/stdout")):
            assert found.status in (403, 404) and found.code in ("forbidden", "not-found"), one
    assert (await client.get(f"projects/{identity}/runs")).json["runs"] == []


async def test_a_websocket_from_elsewhere_is_refused(client: Client, made: Made) -> None:
    identity = await client.id()
    run = (await client.post(f"projects/{identity}/runs")).json["run_id"]
    address = f"projects/{identity}/runs/{run}/journal"
    cookie = await client.cookie()
    with pytest.raises(HTTPClientError) as refused:
        await client.socket(address, headers={"Cookie": cookie, "Origin": "https://evil.example"})
    assert refused.value.code == 403
    assert (await client.follow(address))[-1]["event"] == "runComplete"


async def test_a_token_client_needs_no_xsrf_token(client: Client, made: Made) -> None:
    identity = await client.id()
    started = await client.post(f"projects/{identity}/runs", {"mode": "all"})
    assert started.status == 202


async def test_the_panel_sends_cookie_and_xsrf_token(client: Client, made: Made) -> None:
    identity = await client.id()
    cookie = await client.cookie()
    token = re.search(r"_xsrf=([^;]+)", cookie)
    assert token is not None
    headers = {"Authorization": "", "Cookie": cookie, "X-XSRFToken": token[1]}
    found = await client.post(f"projects/{identity}/acknowledge", {}, headers=headers)
    assert (found.status, found.json) == (200, {"acknowledged": []})


async def test_polled_addresses_keep_no_idle_server_alive(
    client: Client, made: Made, jp_serverapp: Any
) -> None:
    identity = await client.id()
    settings = jp_serverapp.web_app.settings
    settings.pop("api_last_activity", None)
    for address in ("projects", *(f"projects/{identity}/{one}" for one in _POLLED)):
        assert (await client.get(address)).status == 200
    assert "api_last_activity" not in settings
    await client.get(f"projects/{identity}/check")
    assert "api_last_activity" in settings


_POLLED = ("file-status", "levels", "runs", "image", "container")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{", "not JSON"),
        ('{"mode": "some"}', "mode: expected one of"),
        ('{"step": ["make"]}', "step: no such key (did you mean 'steps'?)"),
        ('{"steps": ["make"], "mode": "all"}', "takes no step"),
        ('{"steps": ["100%s"]}', "there is no step '100%s'"),
    ],
)
async def test_a_wrong_question_says_what_is_wrong(
    client: Client, made: Made, body: str, text: str
) -> None:
    found = await client.post(f"projects/{await client.id()}/runs", body)
    assert found.status in (400, 404, 422)
    assert text in found.json["error"]["text"] and text in found.json["message"]
    assert "Traceback" not in found.body.decode()


async def test_an_address_that_is_not_there(client: Client, made: Made) -> None:
    found = await client.ask("DELETE", "projects")
    assert (found.status, found.code) == (405, "method-not-allowed")
