"""A dispatcher that another one replaces: what goes on, and what is closed with which code."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import attrs
import trio
from starlette.types import Message, Receive, Scope, Send
from trio.testing import wait_all_tasks_blocked

from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.serve.replaceable_dispatcher import Replaceable


@attrs.define
class Sent:
    """What clients have been sent, by path."""

    messages: list[tuple[str, Message]] = attrs.field(factory=list)

    async def send(self, path: str, message: Message) -> None:
        self.messages.append((path, message))


async def wait_for_ever(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer like a page whose handler waits for the client."""
    source = f"pages{scope['path']}.fxl"
    route = MatchedRoute(kind="websocket", pattern=scope["path"], source=source)
    scope[SCOPE_KEY] = route
    await send({"type": "websocket.accept"})
    await receive()


async def closed(replaced: Collection[str]) -> list[tuple[str, Message]]:
    """Return what clients of /a and /b are sent when code of ``replaced`` is another."""
    sent, app = Sent(), Replaceable(wait_for_ever)

    async def receive() -> Message:
        await trio.sleep_forever()
        raise AssertionError

    async with trio.open_nursery() as nursery:
        for path in ("/a", "/b"):
            scope = {"type": "websocket", "path": path}
            nursery.start_soon(app, scope, receive, partial(sent.send, path))
        await wait_all_tasks_blocked()
        sent.messages.clear()
        app.replace(wait_for_ever, replaced)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return sent.messages


async def test_sockets_of_a_page_that_is_replaced_are_closed_so_that_clients_come_again() -> None:
    assert await closed(["pages/a.fxl"]) == [("/a", {"type": "websocket.close", "code": 1012})]


async def test_sockets_of_all_other_pages_stay_open() -> None:
    assert await closed(["pages/c.fxl"]) == []


async def test_requests_go_to_the_dispatcher_that_is_there_when_they_begin() -> None:
    answers: list[str] = []
    begun = trio.Event()

    async def old(scope: Scope, receive: Receive, send: Send) -> None:
        await begun.wait()
        answers.append("old")

    async def new(scope: Scope, receive: Receive, send: Send) -> None:
        answers.append("new")

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    app = Replaceable(old)
    scope: Scope = {"type": "http"}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app, scope, receive, send)
        await wait_all_tasks_blocked()
        app.replace(new, ["pages/a.fxl"])
        await app(scope, receive, send)
        begun.set()

    assert answers == ["new", "old"]
