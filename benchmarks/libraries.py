"""Libraries that applications use, each cancelled in the middle of its work, many times.

    python -m benchmarks.libraries [--times 1000] [NAME ...]

Needs what it tries: ``pip install httpx2 openai anthropic aiosqlite``, PostgreSQL, and
``redis-server`` on the PATH; what is not there is named and left out. One client does all
calls of a library; in the end it must still work, and the process have as many tasks,
threads and open files as before.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import attrs
import trio

from fxtrio.config import DatabaseConfig
from fxtrio.db import open_database
from fxtrio.portal import AsyncioPortal, open_portal
from tests.db.cluster import programs, running_cluster
from tests.ports import free_port

LIMIT = 60.0
"""For one library (seconds)."""

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
    asked: int = 0
    """Requests that have come (count)."""

    connections: int = 0
    """Open now (count)."""

    _news: trio.Event = attrs.field(factory=trio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def wait_asked(self, count: int) -> None:
        while self.asked < count:
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
        elif self.asked % 2:
            await stream.send_all(whole[:-5])
        self.asked += 1
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


@attrs.frozen
class Work:
    """What a library is asked for."""

    call: Callable[[], Awaitable[object]]
    """Is cancelled in the middle."""

    begun: Callable[[int], Awaitable[object]]
    """Waits until so many calls have been in the middle, counted from the first."""

    check: Callable[[], Awaitable[object]]
    """Shows that the library still works, and raises otherwise."""

    quiet: Callable[[], Awaitable[bool]]
    """Tells whether nothing of the calls is left on the other side."""


@asynccontextmanager
async def _over_http(
    server: HangingServer, call: Callable[[], Awaitable[object]]
) -> AsyncIterator[Work]:
    async def check() -> None:
        server.answering = True
        await call()

    async def quiet() -> bool:
        return server.connections <= 1  # what the check has kept alive

    yield Work(call, server.wait_asked, check, quiet)


@asynccontextmanager
async def _httpx(name: str) -> AsyncIterator[Work]:
    client_of = import_module(name).AsyncClient
    async with open_server() as server, client_of(base_url=server.url) as client:
        async with _over_http(server, lambda: client.get("/")) as work:
            yield work


def _ask(create: Callable[..., Awaitable[object]]) -> Callable[[], Awaitable[object]]:
    messages = [{"role": "user", "content": "x"}]
    return lambda: create(model="m", max_tokens=9, messages=messages)


@asynccontextmanager
async def openai() -> AsyncIterator[Work]:
    client_of = import_module("openai").AsyncOpenAI
    async with (
        open_server() as server,
        client_of(api_key="x", base_url=f"{server.url}/v1", max_retries=0) as client,
        _over_http(server, _ask(client.chat.completions.create)) as work,
    ):
        yield work


@asynccontextmanager
async def anthropic() -> AsyncIterator[Work]:
    client_of = import_module("anthropic").AsyncAnthropic
    async with (
        open_server() as server,
        client_of(api_key="x", base_url=server.url, max_retries=0) as client,
        _over_http(server, _ask(client.messages.create)) as work,
    ):
        yield work


@asynccontextmanager
async def coredis() -> AsyncIterator[Work]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
        process = subprocess.Popen(  # noqa: ASYNC220  # before anything else runs
            ["redis-server", *options], stdout=subprocess.DEVNULL
        )
        try:
            await _reachable(port)
            async with import_module("coredis").Redis(port=port, decode_responses=True) as client:
                stopped = 0

                async def call() -> None:
                    nonlocal stopped
                    await client.echo("before")
                    process.send_signal(signal.SIGSTOP)  # so that no answer comes
                    stopped += 1
                    try:
                        await client.echo("cancelled")
                    finally:
                        process.send_signal(signal.SIGCONT)

                async def begun(calls: int) -> None:
                    while stopped < calls:  # noqa: ASYNC110  # the answer is what may not come
                        await trio.sleep(0.002)

                async def quiet() -> bool:
                    return int((await client.info("clients"))["connected_clients"]) <= 2

                async def check() -> None:
                    if await client.echo("checked") != "checked":
                        raise AssertionError("an answer to something else")

                yield Work(call, begun, check, quiet)
        finally:
            process.kill()
            process.wait()


async def _reachable(port: int) -> None:
    while True:
        try:
            await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
            return
        except OSError:
            await trio.sleep(0.01)


@asynccontextmanager
async def psycopg() -> AsyncIterator[Work]:
    """As `fx.db` drives it: its waits are trio's."""
    sleeping = (
        "select count(*) from pg_stat_activity "
        "where state = 'active' and query = 'select pg_sleep(60)'"
    )
    with running_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        settings = DatabaseConfig(url=cluster.new_database())
        async with open_database(settings, Path(folder)) as database:

            async def under_way() -> int:
                return int(await database.value(sleeping))

            async def begun(calls: int) -> None:
                while not await under_way():  # noqa: ASYNC110  # the other side tells nobody
                    await trio.sleep(0.001)

            async def check() -> None:
                if await database.value("select 7") != 7:
                    raise AssertionError("an answer to something else")

            async def quiet() -> bool:
                return await under_way() == 0

            yield Work(lambda: database.value("select pg_sleep(60)"), begun, check, quiet)


@asynccontextmanager
async def aiosqlite() -> AsyncIterator[Work]:
    """Through the portal: it knows asyncio alone."""
    connect = import_module("aiosqlite").connect
    counted = 0

    async def count(rows: int) -> int:
        nonlocal counted
        async with connect(":memory:") as database:
            counted += 1
            series = "with recursive n(x) as (select 1 union all select x + 1 from n limit ?)"
            cursor = await database.execute(f"{series} select count(*) from n", [rows])
            [result] = await cursor.fetchone()
            return int(result)

    async with open_portal() as portal:

        async def begun(calls: int) -> None:
            while counted < calls:  # noqa: ASYNC110  # another thread counts
                await trio.sleep(0.0005)

        async def check() -> None:
            if await portal.call(partial(count, 10)) != 10:
                raise AssertionError("a wrong count")

        yield Work(lambda: portal.call(partial(count, 20_000)), begun, check, _no_tasks(portal))


def _no_tasks(portal: AsyncioPortal) -> Callable[[], Awaitable[bool]]:
    async def tasks() -> int:
        return len(asyncio.all_tasks())

    async def quiet() -> bool:
        return await portal.call(tasks) == 3  # the loop's own, and the two of this call

    return quiet


Library = Callable[[], AbstractAsyncContextManager[Work]]
LIBRARIES: dict[str, Library] = {
    "httpx": partial(_httpx, "httpx"),
    "httpx2": partial(_httpx, "httpx2"),
    "openai": openai,
    "anthropic": anthropic,
    "coredis": coredis,
    "psycopg": psycopg,
    "aiosqlite": aiosqlite,
}


@attrs.frozen
class Held:
    """What a process holds (counts)."""

    tasks: int
    threads: int
    files: int

    def exceeds(self, other: Held) -> bool:
        """Whether anything is held that ``other`` did not hold; idle threads end by themselves."""
        return any(
            mine > its for mine, its in zip(attrs.astuple(self), attrs.astuple(other), strict=True)
        )

    @classmethod
    def now(cls) -> Held:
        gc.collect()
        # The threads of trio's cache wait for work, and end by themselves.
        names = [thread.name for thread in threading.enumerate()]
        working = [name for name in names if not name.startswith("Trio thread")]
        tasks = trio.lowlevel.current_statistics().tasks_living
        return cls(tasks, len(working), len(list(Path("/proc/self/fd").iterdir())))


async def cancel(library: Library, times: int) -> tuple[Held, Held, float]:
    """Cancel ``times`` calls; return what was held before and after, and seconds a call.

    Raises what the library does when it no longer works, and TooSlowError when something
    of the calls is left after a while.
    """
    with trio.fail_after(LIMIT):
        async with library() as work:
            await _cancel_one(work, 1)  # what is opened once is open
            before = Held.now()
            start = time.perf_counter()
            for number in range(2, times + 2):
                await _cancel_one(work, number)
            took = (time.perf_counter() - start) / times
            after = await _settled(before)
            await work.check()
            with trio.fail_after(10):
                while not await work.quiet():  # noqa: ASYNC110  # the other side tells nobody
                    await trio.sleep(0.01)
    return before, after, took


async def _cancel_one(work: Work, number: int) -> None:
    async def call() -> None:
        await work.call()  # which need not be a coroutine function

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await work.begun(number)
        nursery.cancel_scope.cancel()


async def _settled(before: Held) -> Held:
    """Return what is held when it is no more than before, or after some seconds."""
    with trio.move_on_after(5):
        while (now := Held.now()).exceeds(before):  # noqa: ASYNC110  # threads end untold
            await trio.sleep(0.02)
    return now


def missing(name: str) -> str:
    """Return what is not there for a library, "" when nothing is."""
    if find_spec(name) is None:
        return name
    if name == "psycopg" and not (programs() / "initdb").exists():
        return "postgresql"
    return "redis-server" if name == "coredis" and which("redis-server") is None else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(LIBRARIES))
    parser.add_argument("--times", type=int, default=1000)
    options = parser.parse_args()
    for name in options.names or LIBRARIES:
        if lacking := missing(name):
            print(f"{name:12}left out: {lacking} is not installed")
            continue
        before, after, took = trio.run(cancel, LIBRARIES[name], options.times)
        kept = "nothing is left" if before == after else f"LEFT: {before} -> {after}"
        shown = f"{name} {version(name)}"
        print(f"{shown:20}{options.times:>6} cancelled, {took * 1e3:6.2f} ms each: {kept}")


if __name__ == "__main__":
    main()
