"""WebSockets of a whole app end with the sessions that let them in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.testing import Client, SocketClosed, SocketRejected, open_app
from fxtrio.plugins.auth import AuthService, User
from fxtrio.plugins.auth.plugin import AuthPlugin
from tests.auth.harness import EMAIL, KEY, PASSWORD, Clock
from tests.trees import page, write_tree

GUARD = "fxtrio.plugins.auth.require_user"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
WAITS = """
    import trio
    from fx.realtime import authenticate_websocket

    SEEN = []

    async def websocket(ws):
        user = await authenticate_websocket(ws)
        await ws.accept()
        if user is None:
            await ws.close(4401)
            return
        await ws.send_text(user.email)
        try:
            {body}
        finally:
            SEEN.append("over")
    """
BODIES = {
    "receive": "await ws.receive_text()",
    "iterate": "async for text in ws.iter_text(): pass",
    "sleep": "await trio.sleep_forever()",
}
GUARDED = """
    async def websocket(ws):
        await ws.accept()
        await ws.send_text(ws.state.user.email)
        await ws.receive_text()
    """
pytestmark = pytest.mark.parametrize("root", ["own-file", "postgresql"], indirect=True)
FILES = {f"pages/{name}.fxl": page(WAITS.format(body=body)) for name, body in BODIES.items()}
FILES["pages/guarded.fxl"] = page(GUARDED)
SETTINGS: dict[str, Any] = {"argon2": CHEAP, "maxSessions": 2}


def service_of(client: Client) -> AuthService:
    found: AuthService = client.app.state.fx.plugins["auth"]
    return found


@pytest.fixture
async def client(root: Path) -> AsyncIterator[Client]:
    plugins = [{"name": "auth", "settings": SETTINGS}]
    options: dict[str, Any] = {"plugins": plugins, "secret_keys": (KEY,)}
    async with open_app(write_tree(root, FILES), data=root / "data", **options) as client:
        await service_of(client).add_user(EMAIL, PASSWORD)
        yield client


async def log_in(client: Client) -> None:
    body = {"email": EMAIL, "password": PASSWORD}
    assert (await client.post("/api/__auth/login", json=body)).status == 200


async def user_of(client: Client) -> User:
    account = await service_of(client).storage.find_account(EMAIL)
    assert account is not None
    return account.user


async def close_of(socket: Any) -> int:
    with trio.fail_after(10), pytest.raises(SocketClosed) as closed:
        await socket.receive()
    return closed.value.code


async def log_out(client: Client) -> None:
    assert (await client.post("/api/__auth/logout")).status == 200


async def log_out_everywhere(client: Client) -> None:
    assert (await client.post("/api/__auth/logout-all")).status == 200


async def change_password(client: Client) -> None:
    changed = service_of(client).change_password(await user_of(client), PASSWORD, "some other one")
    assert await changed is None


async def remove(client: Client) -> None:
    assert await service_of(client).remove_user(await user_of(client))


async def log_in_elsewhere(client: Client) -> None:
    for _ in range(2):
        await log_in(Client(client.app))


async def expire(client: Client) -> None:
    (plugin,) = client.app.plugins
    assert isinstance(plugin, AuthPlugin)
    clock = Clock()
    clock.now = plugin.clock() + 31 * 86400
    plugin.clock = clock


async def end_in_another_process(client: Client) -> None:
    await elsewhere(client, lambda service, user: service.log_out_everywhere(user.id))


async def remove_in_another_process(client: Client) -> None:
    await elsewhere(client, lambda service, user: service.remove_user(user))


async def elsewhere(
    client: Client, change: Callable[[AuthService, User], Awaitable[object]]
) -> None:
    """Do something as `fx auth` does it."""
    (plugin,) = client.app.plugins
    assert isinstance(plugin, AuthPlugin)
    async with plugin.open_service() as service:
        await change(service, await user_of(client))


@pytest.mark.parametrize(
    "end",
    [
        log_out,
        log_out_everywhere,
        change_password,
        remove,
        log_in_elsewhere,
        expire,
        end_in_another_process,
        remove_in_another_process,
    ],
)
async def test_a_socket_is_closed_with_4401_when_its_session_ends(
    client: Client, end: Callable[[Client], Awaitable[None]]
) -> None:
    await log_in(client)
    async with client.websocket("/receive") as socket:
        assert await socket.receive() == EMAIL
        await end(client)
        assert await close_of(socket) == 4401
    assert len(service_of(client).sockets) == 0


@pytest.mark.parametrize("name", BODIES)
async def test_whatever_the_handler_waits_for_it_is_cancelled(client: Client, name: str) -> None:
    await log_in(client)
    async with client.websocket(f"/{name}") as socket:
        assert await socket.receive() == EMAIL
        await log_out(client)
        assert await close_of(socket) == 4401


async def test_sockets_of_other_sessions_and_of_nobody_stay_open(client: Client) -> None:
    other = Client(client.app)
    await log_in(client)
    await log_in(other)
    async with client.websocket("/receive") as ended, other.websocket("/receive") as other_socket:
        assert (await ended.receive(), await other_socket.receive()) == (EMAIL, EMAIL)
        await log_out(client)
        assert await close_of(ended) == 4401
        assert len(service_of(client).sockets) == 1
        with trio.move_on_after(0.7) as waited:
            await other_socket.receive()
        assert waited.cancelled_caught


async def test_a_closed_socket_is_no_longer_tracked(client: Client) -> None:
    await log_in(client)
    async with client.websocket("/receive") as socket:
        assert await socket.receive() == EMAIL
        assert len(service_of(client).sockets) == 1
    assert len(service_of(client).sockets) == 0


@asynccontextmanager
async def guarded(root: Path) -> AsyncIterator[Client]:
    plugins = [{"name": "auth", "settings": SETTINGS}]
    options: dict[str, Any] = {"plugins": plugins, "secret_keys": (KEY,)}
    options["route_middleware"] = {"pages": [GUARD], "actions": [GUARD]}
    async with open_app(write_tree(root, FILES), **options) as client:
        await service_of(client).add_user(EMAIL, PASSWORD)
        yield client


async def test_a_socket_that_only_the_guard_has_let_in_is_closed_too(root: Path) -> None:
    async with guarded(root) as client:
        with pytest.raises(SocketRejected):
            async with client.websocket("/guarded"):
                raise AssertionError("must not open")
        await log_in(client)
        async with client.websocket("/guarded") as socket:
            assert await socket.receive() == EMAIL
            await log_out_everywhere(client)
            assert await close_of(socket) == 4401


PROXY = """
    async def trust_the_proxy(connection):
        connection.state.user = "from the proxy"
    """
NAMED = """
    from fx.realtime import authenticate_websocket

    async def websocket(ws):
        user = await authenticate_websocket(ws)
        await ws.accept()
        await ws.send_json([ws.state.user, None if user is None else user.email])
    """


async def test_a_user_that_a_hook_has_set_stays(root: Path) -> None:
    files = {"proxy_hooks.py": PROXY, "pages/named.fxl": page(NAMED)}
    plugins = [{"name": "auth", "settings": SETTINGS}]
    hooks = {"pages": ["proxy_hooks.trust_the_proxy", GUARD]}
    options: dict[str, Any] = {"plugins": plugins, "secret_keys": (KEY,)}
    async with open_app(write_tree(root, files), route_middleware=hooks, **options) as client:
        async with client.websocket("/named") as socket:
            assert await socket.receive_json() == ["from the proxy", None]
        await service_of(client).add_user(EMAIL, PASSWORD)
        await log_in(client)
        async with client.websocket("/named") as socket:
            assert await socket.receive_json() == ["from the proxy", EMAIL]


async def test_a_hook_that_knows_no_user_leaves_it_to_the_cookie(root: Path) -> None:
    named = NAMED.replace("ws.state.user", "ws.state.user.email")
    unknown = PROXY.replace('"from the proxy"', "None")
    files = {"proxy_hooks.py": unknown, "pages/named.fxl": page(named)}
    plugins = [{"name": "auth", "settings": SETTINGS}]
    hooks = {"pages": ["proxy_hooks.trust_the_proxy", GUARD]}
    options: dict[str, Any] = {"plugins": plugins, "secret_keys": (KEY,)}
    async with open_app(write_tree(root, files), route_middleware=hooks, **options) as client:
        await service_of(client).add_user(EMAIL, PASSWORD)
        await log_in(client)
        async with client.websocket("/named") as socket:
            assert await socket.receive_json() == [EMAIL, EMAIL]
