"""Users and origins of WebSockets."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fx.realtime import authenticate_websocket
from fx.testing import Client
from tests.contract.projects import open_pages
from tests.contract.rules import rule

AUTH = """
    from fx.realtime import authenticate_websocket

    async def websocket(ws):
        await ws.accept()
        user = await authenticate_websocket(ws)
        await ws.send_json(None if user is None else user.email)
"""
EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}


@pytest.fixture
async def members(tmp_path: Path) -> AsyncIterator[Client]:
    """An app with the auth plugin and one user, who is not signed in yet."""
    plugins = [{"name": "auth", "settings": {"argon2": CHEAP}}]
    async with open_pages(tmp_path, AUTH, plugins=plugins) as client:
        await client.app.state.fx.plugins["auth"].add_user(EMAIL, PASSWORD)
        yield client


async def log_in(client: Client) -> None:
    body = {"email": EMAIL, "password": PASSWORD}
    assert (await client.post("/api/__auth/login", json=body)).status == 200


async def user_of_socket(client: Client, **headers: str) -> Any:
    async with client.websocket("/", headers=headers) as socket:
        return await socket.receive_json()


def queries(client: Client) -> int:
    count: int = client.app.state.fx.plugins["auth"].storage.statistics().queries
    return count


@rule("realtime.authenticate", "realtime.authenticate_user")
async def test_realtime_authenticate_is_async_and_gives_the_user_or_none(members: Client) -> None:
    assert inspect.iscoroutinefunction(authenticate_websocket)
    assert await user_of_socket(members) is None
    await log_in(members)
    assert await user_of_socket(members) == EMAIL


@rule("realtime.authenticate_cookie")
async def test_realtime_authenticate_cookie_is_that_of_the_handshake(members: Client) -> None:
    await log_in(members)
    ((name, value),) = [pair for pair in members.cookies.items() if "csrf" not in pair[0]]
    members.cookies.clear()
    assert await user_of_socket(members) is None
    assert await user_of_socket(members, cookie=f"{name}={value}") == EMAIL
    forged = value[:-1] + ("a" if value[-1] != "a" else "b")
    assert await user_of_socket(members, cookie=f"{name}={forged}") is None
    assert await user_of_socket(members, cookie=f"other={value}") is None


@rule("realtime.authenticate_free")
async def test_realtime_authenticate_free_of_database_work_without_a_cookie(
    members: Client,
) -> None:
    before = queries(members)
    assert await user_of_socket(members) is None
    assert await user_of_socket(members, cookie="theme=dark") is None
    assert queries(members) == before
    await log_in(members)
    before = queries(members)
    assert await user_of_socket(members) == EMAIL
    assert queries(members) > before


@rule("realtime.authenticate_free")
async def test_realtime_authenticate_free_of_work_without_the_plugin(tmp_path: Path) -> None:
    async with open_pages(tmp_path, AUTH) as client:
        assert await user_of_socket(client, cookie="sid=x.y") is None
    assert not (tmp_path / "data").exists()


ORIGINS = """
    from fx.realtime import origin_allowed

    ALLOWED = {allowed!r}

    async def websocket(ws):
        await ws.accept()
        await ws.send_json(origin_allowed(ws, ALLOWED))
"""


async def allows(root: Path, allowed: list[str], origin: str | None) -> bool:
    headers = {} if origin is None else {"origin": origin}
    async with open_pages(root, ORIGINS.format(allowed=allowed)) as client:
        async with client.websocket("/", headers=headers) as socket:
            answer = await socket.receive_json()
    assert isinstance(answer, bool)
    return answer


@rule("realtime.origin")
@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://app.test", True),
        ("https://app.test:443", True),
        ("https://other.test:8443", True),
        ("http://app.test", False),
        ("https://app.test:8443", False),
        ("https://evil.test", False),
        ("https://app.test.evil.test", False),
        ("null", False),
    ],
)
async def test_realtime_origin_is_permitted_when_it_is_listed(
    tmp_path: Path, origin: str, allowed: bool
) -> None:
    listed = ["https://app.test", "https://other.test:8443"]
    assert await allows(tmp_path, listed, origin) is allowed


@rule("realtime.origin_empty")
@pytest.mark.parametrize("origin", ["https://evil.test", "null", None])
async def test_realtime_origin_empty_list_allows_all(tmp_path: Path, origin: str | None) -> None:
    assert await allows(tmp_path, [], origin) is True


@rule("realtime.origin_missing")
async def test_realtime_origin_missing_is_allowed(tmp_path: Path) -> None:
    assert await allows(tmp_path, ["https://app.test"], None) is True
