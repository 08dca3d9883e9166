"""Work that takes too long, or whose client leaves, on a server that offers its own cancel scope.

Answers are those of a request with a cancel scope of its own, as middleware gets it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from msgspec.structs import replace

from fx.testing import open_app
from fxtrio.asgi_extensions import WHOLE_RESPONSE
from fxtrio.spans import Span
from tests.http1.support import Server, open_server
from tests.trees import write_tree

VARIABLE: ContextVar[str] = ContextVar("metered")

PAGES = {
    "pages/layout.fxl": """
        export default function Layout({ children }) {
          return <main>{children}</main>;
        }
        """,
    "pages/error.fxl": """
        export default function ErrorPage({ error }) {
          return <p>{error.statusCode} {error.message}</p>;
        }
        """,
    "pages/slow.fxl": """
        import trio

        @server(timeout=0.1)
        async def load(request):
            ended = request.app.state.ended
            try:
                request.state.response.headers["x-loader"] = "begun"
                await trio.sleep(60)
            finally:
                ended.append(request.state.request_id)

        @action(timeout=0.1)
        async def save(request):
            from fx.cache import revalidate

            async def after():
                request.app.state.ended.append("after")

            revalidate("/slow")
            request.state.background.add_task(after)
            await trio.sleep(60)

        @action(timeout=0.1)
        async def stubborn(request):
            try:
                await trio.sleep(60)
            except trio.Cancelled:
                return {"saved": True}

        @action(timeout=0.1)
        async def grouped(request):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep, 60)
                try:
                    await trio.sleep(60)
                finally:
                    raise ValueError("while it was cancelled")

        export default function Slow({ actionData }) {
          return (
            <form>
              {actionData?.error}
              <input name="name" defaultValue={actionData?.values.name} />
            </form>
          );
        }
        """,
    "pages/quick.fxl": """
        @server
        async def load(request):
            return {"text": "x" * 300_000}

        export default function Quick({ data }) {
          return <p>{data.text}</p>;
        }
        """,
}
POST = (
    b"POST /api/__actions/slow/%b HTTP/1.1\r\nhost: a\r\nsec-fetch-site: same-origin\r\n"
    b"content-type: application/x-www-form-urlencoded\r\ncontent-length: 8\r\n%b\r\nname=Ann"
)
REQUESTS = {
    "page": b"GET /slow HTTP/1.1\r\nhost: a\r\n%b\r\n",
    "navigation": b"GET /slow HTTP/1.1\r\nhost: a\r\nx-fx-navigation: 1\r\n%b\r\n",
    "head": b"HEAD /slow HTTP/1.1\r\nhost: a\r\n%b\r\n",
    "compressed": b"GET /slow HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip\r\n%b\r\n",
    "action": POST % (b"save", b"%b"),
    "form": POST % (b"save", b"accept: text/html\r\n%b"),
    "stubborn": POST % (b"stubborn", b"%b"),
    "grouped": POST % (b"grouped", b"%b"),
}


@attrs.define
class Watching:
    """Passes requests on, without the extension of the server where a header says so."""

    app: Any
    interrupted: int = 0
    """Calls that the server has cancelled."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if (b"x-own-scope", b"1") in scope["headers"]:
            del scope["extensions"][WHOLE_RESPONSE]
        try:
            await self.app(scope, receive, send)
        except BaseException:  # a Cancelled, or a group of them
            self.interrupted += 1
            raise


@attrs.define
class Running:
    server: Server
    watching: Watching
    ended: list[str]
    """Loaders that have ended, by their request id, and background tasks."""


@asynccontextmanager
async def opened(folder: Path, files: dict[str, str] = PAGES) -> AsyncIterator[Running]:
    write_tree(folder, files)
    async with open_app(folder, mode="production") as client:
        ended = client.app.state.ended = []
        watching = Watching(client.app)
        async with open_server(watching) as server:
            yield Running(server, watching, ended)


async def ask(server: Server, request: bytes) -> bytes:
    """Return the response to a client that stays until it has come."""
    async with await server.connect() as client:
        await client.send(request)
        return await client.read_all()


def normal(data: bytes) -> bytes:
    """Return a response without its ids, its nonces, its tokens and its time."""
    head, _, body = data.partition(b"\r\n\r\n")
    if b"content-encoding: gzip" in head:  # the nonce decides how long it is
        head, body = re.sub(rb"content-length: \d+\r\n", b"", head), b""
    head = b"\r\n".join(sorted(head.split(b"\r\n")))
    data = re.sub(rb"[0-9a-f]{32}", b"H", head + b"\r\n\r\n" + body)
    return re.sub(rb"date: [^\r]*", b"date", data)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", [name for name in REQUESTS if name != "stubborn"])
async def test_a_timeout_is_answered_as_one_with_a_scope_of_its_own(
    kind: str, tmp_path: Path
) -> None:
    async with opened(tmp_path) as running:
        server, request = running.server, REQUESTS[kind]
        own = await ask(server, request % b"x-own-scope: 1\r\nconnection: close\r\n")
        assert running.watching.interrupted == 0
        shared = await ask(server, request % b"x-own-scope: 0\r\nconnection: close\r\n")
        assert running.watching.interrupted == 1
        assert normal(shared) == normal(own)
        assert shared.startswith(b"HTTP/1.1 504 ")
        server.log.take(0)
        if kind in ("action", "form"):
            assert running.ended.count("after") == 2


async def test_an_action_that_catches_its_cancellation_has_timed_out(tmp_path: Path) -> None:
    async with opened(tmp_path) as running:
        answer = await ask(running.server, REQUESTS["stubborn"] % b"connection: close\r\n")
        assert answer.startswith(b"HTTP/1.1 504 ")
        running.server.log.take(0)


class Ended:
    """A listener that notes the statuses of requests that have ended."""

    def __init__(self) -> None:
        self.statuses: list[object] = []

    def begin(self, span: Span) -> None:
        pass

    def end(self, span: Span) -> None:
        if span.kind == "request":
            self.statuses.append(span.values.get("status"))

    def carry(self, span: Span) -> str | None:
        return None


class Meter:
    """Counts requests by their status, in the context in which they are served."""

    def __init__(self) -> None:
        self.statuses: list[int] = []

    def begin(self, scope: Any) -> Any:
        return VARIABLE.set("begun")

    def end(self, scope: Any, status: int, begun: Any) -> None:
        VARIABLE.reset(begun)
        self.statuses.append(status)


async def test_a_timeout_is_counted_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as running:
        lifetime = running.watching.app.lifetime
        meter = Meter()
        lifetime.running = replace(lifetime.running, meter=meter)
        answer = await ask(running.server, REQUESTS["action"] % b"connection: close\r\n")
        assert answer.startswith(b"HTTP/1.1 504 ")
        assert meter.statuses == [504]
        assert running.watching.interrupted == 1
        running.server.log.take(0)


async def test_a_timeout_is_answered_within_the_span_of_its_request(tmp_path: Path) -> None:
    async with opened(tmp_path) as running:
        listener = Ended()
        running.watching.app.spans.add(listener)
        answer = await ask(running.server, REQUESTS["page"] % b"connection: close\r\n")
        assert answer.startswith(b"HTTP/1.1 504 ")
        assert listener.statuses == [504]
        running.server.log.take(0)


async def test_a_connection_serves_on_behind_a_timeout(tmp_path: Path) -> None:
    async with opened(tmp_path) as running, await running.server.connect() as client:
        page = REQUESTS["page"] % b""
        quick = b"GET /quick HTTP/1.1\r\nhost: a\r\n\r\n"
        await client.send(page + quick + page + quick)  # in one read
        statuses = [(await client.reply()).status for _ in range(4)]
        assert statuses == [504, 200, 504, 200]
        assert len(running.ended) == 2
        running.server.log.take(0)


async def test_a_client_that_leaves_ends_the_loader(tmp_path: Path) -> None:
    slow = PAGES["pages/slow.fxl"].replace("timeout=0.1", "timeout=60")
    async with opened(tmp_path, {**PAGES, "pages/slow.fxl": slow}) as running:
        async with await running.server.connect() as client:
            await client.send(REQUESTS["page"] % b"")
            await trio.sleep(0.02)
        with trio.fail_after(30):
            while not running.ended:  # noqa: ASYNC110  # the loader sets no event
                await trio.sleep(0.005)
            while not running.watching.interrupted:  # noqa: ASYNC110
                await trio.sleep(0.005)
