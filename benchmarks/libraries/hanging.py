"""An HTTP server that lets its clients wait."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import attrs
import trio

_ANSWERS = {
    "/v1/chat/completions": {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "done"},
            }
        ],
    },
    "/v1/messages": {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


@attrs.define
class HangingServer:
    """An HTTP server that answers nothing, or the half, until it is told to."""

    port: int = 0
    answering: bool = False
    requests: int = 0
    """Requests that have come (count)."""

    connections: int = 0
    """Open now (count)."""

    _news: trio.Event = attrs.field(factory=trio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def wait_requests(self, count: int) -> None:
        while self.requests < count:
            await self._news.wait()

    async def serve(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            async with stream:
                while await self._answer(stream):
                    pass
        except trio.BrokenResourceError:
            pass
        finally:
            self.connections -= 1

    async def _answer(self, stream: trio.SocketStream) -> bool:
        """Take one request; return whether there may be another."""
        head = b""
        while b"\r\n\r\n" not in head:
            data = await stream.receive_some()
            if not data:
                return False
            head += data
        head, _, body = head.partition(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(body) < length:
            body += await stream.receive_some()
        answer = json.dumps(_ANSWERS.get(head.split()[1].decode(), {"done": True})).encode()
        start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        whole = start % len(answer) + answer
        if self.answering:
            await stream.send_all(whole)
        elif self.requests % 2:
            await stream.send_all(whole[:-5])
        self.requests += 1
        self._news.set()
        self._news = trio.Event()
        if not self.answering:
            await stream.receive_some()  # the client leaves
        return self.answering


@asynccontextmanager
async def open_server() -> AsyncIterator[HangingServer]:
    server = HangingServer()
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, server.serve, 0, host="127.0.0.1")
        [listener] = await nursery.start(serve)
        server.port = listener.socket.getsockname()[1]
        yield server
        nursery.cancel_scope.cancel()
