"""A client that resets one stream of its connection ends what produces the response, at once."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fx.testing import open_app

from ..http1.support import open_h2c_server
from ..trees import page, write_tree
from .client import PATIENCE, Answer, Header, Http2

CANCEL = 8

PAGE = """
    import trio
    from fx.runtime import defer

    async def values(request, name):
        ended = request.app.state.ended = trio.Event()
        try:
            while True:
                yield {"name": name}
                await trio.sleep(0.01)
        finally:
            ended.set()

    async def wait(request):
        ended = request.app.state.ended = trio.Event()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    @action
    async def ask(request):
        async with trio.open_nursery():
            async for value in values(request, "action"):
                yield value

    @stream
    async def news(request):
        async for value in values(request, "stream"):
            yield value

    @server
    async def load(request):
        return {"late": defer(wait, request)}
    """

SAME: Header = ("sec-fetch-site", "same-origin")


@pytest.mark.parametrize(
    ("path", "method", "header", "first"),
    [
        ("/api/__actions/index/ask", "POST", SAME, b'data: {"name":"action"}'),
        ("/api/__streams/index/news", "GET", SAME, b'data: {"name":"stream"}'),
        ("/", "GET", ("x-fx-navigation", "1"), b'"promises":["page:late"]'),
    ],
)
async def test_a_reset_stream_cancels_its_generator_and_leaves_the_connection(
    path: str, method: str, header: Header, first: bytes, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/other.fxl": page("")})
    async with (
        open_app(tmp_path) as app,
        open_h2c_server(app.app) as server,
        await server.connect() as plain,
    ):
        client = await Http2(plain.stream).begin()
        stream = await client.ask(path, method, header, ("accept", "text/event-stream"))
        with trio.fail_after(PATIENCE):
            while first not in client.answers.setdefault(stream, Answer()).body:
                await client.read()
        ended: trio.Event = app.app.state.ended
        assert not ended.is_set()
        client.h2.reset_stream(stream, CANCEL)
        await client.flush()
        with trio.fail_after(1):
            await ended.wait()
        assert (await client.get("/other")).status == 200
