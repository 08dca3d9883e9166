"""Origins are compared as origins, and only the auth plugin is called for the user."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import HTTPConnection

from fxtrio.realtime import Authenticator, authenticate_websocket, origin_allowed, same_origin
from fxtrio.realtime.handshake import OriginUnreadable
from tests.realtime.client import make_app


def connection(*headers: tuple[str, str], app: Starlette | None = None) -> Any:
    return HTTPConnection(
        {
            "type": "websocket",
            "path": "/",
            "app": app or make_app(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        }
    )


@pytest.mark.parametrize(
    ("sent", "allowed"),
    [
        ("https://example.com", "https://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com", "https://example.com:443/"),
        ("http://example.com", "http://example.com:80"),
        ("https://EXAMPLE.com", "https://example.COM"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("app://example", "app://example"),
    ],
)
def test_equal_origins_are_allowed(sent, allowed):
    assert origin_allowed(connection(("origin", sent)), ["https://other.example", allowed])


@pytest.mark.parametrize(
    "sent",
    [
        "http://example.com",
        "https://example.com:8443",
        "https://example.com.evil.example",
        "https://evil-example.com",
        "https://sub.example.com",
        "https://user@example.com",
        "https://example.com/",
        "https://example.com/path",
        "https://example.com?x",
        "https://example.com#x",
        "https://example.com:443443443",
        "https://example.com:x",
        "https://[::1",
        "https://example.com:",
        "https://example.com?",
        "https://example.com#",
        "https://exam\tple.com",
        "https://example.com\n",
        "https://@example.com",
        "https:\\\\example.com",
        "https://example.com:99999",
        " https://example.com",
        "https://example.com, https://example.com",
        "example.com",
        "//example.com",
        "null",
        "",
    ],
)
def test_other_origins_are_not(sent):
    assert not origin_allowed(connection(("origin", sent)), ["https://example.com"])


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_no_origin_that_a_client_can_send_raises_or_passes(sent):
    assert not origin_allowed(connection(("origin", sent)), ["https://example.com"])


def test_more_than_one_origin_is_not_allowed():
    twice = connection(("origin", "https://example.com"), ("origin", "https://example.com"))
    assert not origin_allowed(twice, ["https://example.com"])


def test_a_missing_origin_is_allowed():
    assert origin_allowed(connection(), ["https://example.com"])


@pytest.mark.parametrize("sent", ["https://anything.example", "null", "nonsense"])
def test_without_allowed_origins_all_are_allowed(sent):
    assert origin_allowed(connection(("origin", sent)), [])


@pytest.mark.parametrize("wrong", ["example.com", "*", "", "https://example.com/path", "https://"])
def test_an_allowed_origin_that_is_none_is_an_error(wrong):
    with pytest.raises(OriginUnreadable, match="scheme, host and port"):
        origin_allowed(connection(("origin", "https://example.com")), [wrong])


# --- who is signed in


class Auth:
    """Knows one session, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def authenticate(self, connection: HTTPConnection) -> str | None:
        self.calls += 1
        return {"s1": "ann"}.get(connection.cookies.get("session", ""))


class Unrelated:
    pass


def signed_in(plugins: dict[str, Any], *headers: tuple[str, str]) -> Any:
    return connection(*headers, app=make_app(plugins=plugins))


async def test_the_user_of_the_session_cookie_is_returned():
    plugins = {"db": Unrelated(), "auth": Auth()}
    assert await authenticate_websocket(signed_in(plugins, ("cookie", "session=s1"))) == "ann"


async def test_a_plugin_that_merely_has_such_a_method_is_not_called():
    other = Auth()
    plugins = {"database": other, "auth": Auth(), "mail": other}
    assert await authenticate_websocket(signed_in(plugins, ("cookie", "session=s1"))) == "ann"
    del plugins["auth"]
    assert await authenticate_websocket(signed_in(plugins, ("cookie", "session=s1"))) is None
    assert other.calls == 0


async def test_an_unknown_session_has_no_user():
    plugins = {"auth": Auth()}
    assert await authenticate_websocket(signed_in(plugins, ("cookie", "session=s2"))) is None


async def test_without_a_cookie_the_plugin_is_not_called():
    auth = Auth()
    assert await authenticate_websocket(signed_in({"auth": auth})) is None
    assert auth.calls == 0


@pytest.mark.parametrize("plugins", [{}, {"db": Unrelated()}, {"nothing": None}])
async def test_without_the_plugin_there_is_no_user(plugins):
    assert await authenticate_websocket(signed_in(plugins, ("cookie", "session=s1"))) is None


async def test_in_an_app_that_is_not_ours_there_is_no_user():
    ws = connection(("cookie", "session=s1"), app=Starlette())
    assert await authenticate_websocket(ws) is None


def test_what_authenticates_connections_is_an_authenticator():
    assert isinstance(Auth(), Authenticator)
    assert not isinstance(Unrelated(), Authenticator)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://shop.example", "shop.example"),
        ("https://shop.example", "shop.example"),
        ("https://SHOP.example:443", "shop.example"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
def test_pages_of_this_site_have_the_same_origin(origin, host):
    assert same_origin(connection(("origin", origin), ("host", host)))


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", "shop.example"),
        ("https://shop.example:8443", "shop.example"),
        ("https://shop.example.evil.example", "shop.example"),
        ("app://shop.example", "shop.example"),
        ("null", "null"),
        ("", ""),
        ("https://shop.example", ""),
        ("https://shop.example", "evil@shop.example"),
    ],
)
def test_other_pages_have_not(origin, host):
    assert not same_origin(connection(("origin", origin), ("host", host)))


def test_two_origins_are_not_the_same_and_none_is_allowed():
    twice = connection(
        ("origin", "http://a.example"), ("origin", "http://a.example"), ("host", "a.example")
    )
    assert not same_origin(twice)
    assert same_origin(connection(("host", "a.example")))
