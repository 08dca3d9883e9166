"""The application that the attacks on HTTP/2 meet, and what it tells about its process."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import trio

if os.environ.get("GUARDED", "1"):
    from fxtrio.server.hypercorn_patches import install_guard

    install_guard()

_events: list[str] = []
"""What applications have seen that no response can report."""


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer by the path."""
    if scope["type"] == "lifespan":
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})
        return
    await PATHS[scope["path"]](scope, receive, send)


async def _answer(send: Any, body: bytes, status: int = 200, *headers: Any) -> None:
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": body})


async def _fine(scope: Any, receive: Any, send: Any) -> None:
    await _answer(send, b"fine")


async def _state(scope: Any, receive: Any, send: Any) -> None:
    events, _events[:] = list(_events), []
    process = psutil.Process()
    root = trio.lowlevel.current_root_task()
    assert root is not None
    state = {
        "events": events,
        "tasks": _count(root),
        "files": process.num_fds(),
        "bytes": process.memory_info().rss,
    }
    await _answer(send, json.dumps(state).encode())


def _count(task: trio.lowlevel.Task) -> int:
    return 1 + sum(
        _count(child) for nursery in task.child_nurseries for child in nursery.child_tasks
    )


async def _about(scope: Any, receive: Any, send: Any) -> None:
    request = {
        "headers": [[name.decode(), value.decode("latin-1")] for name, value in scope["headers"]],
        **{name: scope[name] for name in ("method", "path", "scheme", "http_version", "client")},
    }
    await _answer(send, json.dumps(request).encode())


async def _length(scope: Any, receive: Any, send: Any) -> None:
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            _events.append("left in the body")
            return None
        size += len(message["body"])
        if not message["more_body"]:
            return await _answer(send, b"%d" % size)


async def _leaving(scope: Any, receive: Any, send: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    _events.append("left")


async def _asking(scope: Any, receive: Any, send: Any) -> None:
    from starlette.requests import Request

    request = Request(scope, receive)
    await request.body()
    while not await request.is_disconnected():  # noqa: ASYNC110  # it is what is tested
        await trio.sleep(0.005)
    _events.append("asked")


async def _deaf(scope: Any, receive: Any, send: Any) -> None:
    """Read nothing for as long as the client stays; end at the disconnect."""
    await trio.sleep(0.05)
    await _answer(send, b"unread")


async def _big(scope: Any, receive: Any, send: Any) -> None:
    await _answer(send, b"*" * 10_000_000)
    _events.append("sent")


async def _much(scope: Any, receive: Any, send: Any) -> None:
    await _answer(send, b"*" * 1_000_000)
    _events.append("sent")


async def _endless(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    try:
        while True:
            await send({"type": "http.response.body", "body": b"*" * 1000, "more_body": True})
    finally:
        _events.append("stopped")


async def _streams(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 203})
    for _ in range(3):
        await send({"type": "http.response.body", "body": b"*" * 40_000, "more_body": True})
    await send({"type": "http.response.body"})


async def _raises(scope: Any, receive: Any, send: Any) -> None:
    raise LookupError("on purpose")


async def _raises_in_its_body(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"*", "more_body": True})
    raise LookupError("on purpose")


async def _says_nothing(scope: Any, receive: Any, send: Any) -> None:
    pass


async def _wrong_message(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.accept"})


async def _wrong_header(scope: Any, receive: Any, send: Any) -> None:
    await _answer(send, b"", 200, (b"x-bad", b"a\r\nb: c"))


async def _connection_header(scope: Any, receive: Any, send: Any) -> None:
    await _answer(send, b"fine", 200, (b"connection", b"close"), (b"X-Upper", b"1"))


async def _slow(scope: Any, receive: Any, send: Any) -> None:
    _events.append("slow began")
    await trio.sleep(0.7)
    await _answer(send, b"slow")


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})
    _events.append(f"closed {message['code']}")


async def _talks(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    try:
        while True:
            await send({"type": "websocket.send", "text": "*" * 100})
    finally:
        _events.append("stopped")


async def _silent(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    await trio.sleep(0.3)
    while (message := await receive())["type"] == "websocket.receive":
        pass
    _events.append(f"closed {message['code']}")


async def _rejecting(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.http.response.start", "status": 401, "headers": []})
    await send({"type": "websocket.http.response.body", "body": b"no"})


PATHS: dict[str, Callable[[Any, Any, Any], Awaitable[None]]] = {
    "/": _fine,
    "/state": _state,
    "/about": _about,
    "/length": _length,
    "/leaving": _leaving,
    "/asking": _asking,
    "/deaf": _deaf,
    "/big": _big,
    "/much": _much,
    "/endless": _endless,
    "/streams": _streams,
    "/raises": _raises,
    "/raises-late": _raises_in_its_body,
    "/says-nothing": _says_nothing,
    "/wrong-message": _wrong_message,
    "/wrong-header": _wrong_header,
    "/connection-header": _connection_header,
    "/slow": _slow,
    "/echo": _echo,
    "/talks": _talks,
    "/silent": _silent,
    "/refusing": _rejecting,
}
