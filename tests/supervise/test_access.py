"""The lines of the access log: who left, who was refused, and that nobody can forge one."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from ..http1.frames import upgrade
from ..http1.support import App, open_server, read_body

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Lines:
    """Serves applications and reads the lines that were written about their requests."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    async def after(self, app: App, data: bytes, *, leave: trio.Event | None = None) -> Any:
        """Return the JSON of the only line after ``data`` was sent, and the client left or read."""
        async with open_server(app, access_log="json") as server:
            async with await server.connect() as client:
                await client.send(data)
                if leave is not None:
                    await leave.wait()
                else:
                    await client.read_all()
        (line,) = self._capture.readouterr().out.splitlines()
        return json.loads(line)


@pytest.fixture
def log(capfd: pytest.CaptureFixture[str]) -> Lines:
    return Lines(capfd)


async def test_a_request_whose_client_left_before_the_answer_is_499(log: Lines) -> None:
    waits = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        waits.set()
        assert (await receive())["type"] == "http.disconnect"

    line = await log.after(app, GET, leave=waits)

    assert (line["status"], line["bytes"]) == (499, 0)


async def test_a_websocket_whose_client_left_before_the_answer_is_499(log: Lines) -> None:
    waits = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        waits.set()
        assert (await receive())["type"] == "websocket.disconnect"

    line = await log.after(app, upgrade(b"/"), leave=waits)

    assert (line["method"], line["status"]) == ("WEBSOCKET", 499)


async def test_an_application_that_does_not_answer_is_500(log: Lines) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)

    line = await log.after(app, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    assert line["status"] == 500
