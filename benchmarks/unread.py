"""What clients that do not read cost a server process: its memory, and what others notice.

    python -m benchmarks.unread [KIND ...] [--clients 1000] [--seconds 40]

The kinds are those of `KINDS`, all without any. Builds an application in a temporary folder,
serves it with `fx serve`, and has so many clients leave its responses or messages unread. Prints
the memory of the server process (RSS) before, at its highest and in the end, and the longest time
in which another client got a small page. HTTP/2 clients give no window and ask 100 times on each
of a fifth as many connections; of patient clients, which read what they can, there are a twentieth;
and each of those that publish has two connections.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path

import attrs
import h2.config
import h2.connection
import psutil
import trio

from benchmarks.processes import end
from tests.http1.frames import TEXT, frame, upgrade
from tests.ports import free_port

PAGES = {
    "pages/large.fxl": """\
import secrets

@server
async def load(request):
    return {"text": secrets.token_hex(8) + "*" * int(request.query_params["size"])}

export default function Page({ data }) {
  return <p>{data.text}</p>;
}
""",
    "pages/index.fxl": "export default function Page() {\n  return <p>small</p>;\n}\n",
    "pages/rooms/[room].fxl": """\
from fx.realtime import channel

async def websocket(ws):
    await ws.accept()
    async with channel(ws, ws.path_params["room"]) as room:
        async for text in ws.iter_text():
            await room.publish(text)

export default function Page() {
  return <p>room</p>;
}
""",
}

LARGE, MIDDLE = 1_500_000, 100_000
"""Characters of a text that its page has twice, in the HTML and in the payload."""

STREAMS = 100
IN_A_ROOM = 20
MESSAGES, MESSAGE = 60, 60_000
PATIENCE = 30.0


@attrs.frozen
class Site:
    port: int
    process: psutil.Process

    async def connect(self, *, buffer: int = 4096) -> trio.SocketStream:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, buffer)
        return stream


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


async def http1(site: Site, number: int) -> None:
    """Ask for a page of 3 MB, and read nothing."""
    async with await site.connect() as stream:
        await stream.send_all(get(f"/large?size={LARGE}"))
        await trio.sleep_forever()


async def trickle(site: Site, number: int) -> None:
    """Ask for a page of 3 MB, and read 2 kB of it every ten seconds."""
    async with await site.connect() as stream:
        await stream.send_all(get(f"/large?size={LARGE}"))
        while await stream.receive_some(2000):  # noqa: ASYNC110  # a slow client is what it is
            await trio.sleep(10)


async def patient(site: Site, number: int) -> None:
    """Ask for a page of 3 MB again and again, and read it just fast enough not to be cut off."""
    if number % 20:
        return
    while True:
        with suppress(OSError, trio.BrokenResourceError):
            async with await site.connect(buffer=65_536) as stream:
                await stream.send_all(get(f"/large?size={LARGE}"))
                while await stream.receive_some(32_000):  # noqa: ASYNC110  # as above
                    await trio.sleep(0.1)
        await trio.sleep(0.1)


async def http2(site: Site, number: int) -> None:
    """Ask for 100 pages of 200 kB, and give no window."""
    if number % 5:
        return
    client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    client.local_settings.initial_window_size = 0
    client.local_settings.acknowledge()
    client.initiate_connection()
    for _ in range(STREAMS):
        head = {":method": "GET", ":scheme": "http", ":authority": "localhost"}
        head[":path"] = f"/large?size={MIDDLE}"
        client.send_headers(client.get_next_available_stream_id(), [*head.items()], end_stream=True)
    async with await site.connect() as stream:
        await stream.send_all(client.data_to_send())
        await trio.sleep_forever()


async def websocket(site: Site, number: int) -> None:
    """Join a room of twenty and read nothing; each room has one more, who publishes and reads."""
    room, place = divmod(number, IN_A_ROOM)
    async with await site.connect() as silent:
        await silent.send_all(upgrade(f"/rooms/{room}".encode()))
        if place > 0:
            await trio.sleep_forever()
        await _publish(site, room)


async def publishing(site: Site, number: int) -> None:
    """Join a room of one's own twice: one reads nothing, the other one publishes and reads."""
    async with await site.connect() as silent:
        await silent.send_all(upgrade(f"/rooms/{number}".encode()))
        await _publish(site, number)


async def _publish(site: Site, room: int) -> None:
    async with await site.connect() as stream, trio.open_nursery() as nursery:
        await stream.send_all(upgrade(f"/rooms/{room}".encode()))
        nursery.start_soon(_read_all, stream)
        for _ in range(MESSAGES):
            await stream.send_all(_message(MESSAGE))
            await trio.sleep(0.5)
        await trio.sleep_forever()


async def unfinished(site: Site, number: int) -> None:
    """Begin a message of 1 MB, and never end it."""
    async with await site.connect() as stream:
        await stream.send_all(upgrade(f"/rooms/{number}".encode()))
        await stream.send_all(_message(1_000_000)[:-1])
        await trio.sleep_forever()


@cache
def _message(size: int) -> bytes:
    """Return the same bytes to all clients: to mask them takes longer than to send them."""
    return frame(TEXT, b"*" * size)


async def _read_all(stream: trio.SocketStream) -> None:
    while await stream.receive_some(1_000_000):
        pass


KINDS: dict[str, Callable[[Site, int], Awaitable[None]]] = {
    "http1": http1,
    "trickle": trickle,
    "patient": patient,
    "http2": http2,
    "websocket": websocket,
    "publishing": publishing,
    "unfinished": unfinished,
}


async def _client(kind: str, site: Site, number: int) -> None:
    try:
        await KINDS[kind](site, number)
    except* (OSError, trio.BrokenResourceError):  # it was cut off
        pass


async def _visit(site: Site, waits: list[float]) -> None:
    """Get a small page now and then, and note for how long that took."""
    while True:
        began = trio.current_time()
        with suppress(OSError, trio.BrokenResourceError), trio.move_on_after(PATIENCE):
            async with await site.connect() as stream:
                await stream.send_all(get("/"))
                await stream.receive_some(65_536)
        waits.append(trio.current_time() - began)
        await trio.sleep(0.5)


async def measure(kind: str, site: Site, clients: int, seconds: float) -> str:
    before, peak = site.process.memory_info().rss, 0
    waits: list[float] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_visit, site, waits)
        for number in range(clients):
            nursery.start_soon(_client, kind, site, number)
        with trio.move_on_after(seconds):
            while True:
                peak = max(peak, site.process.memory_info().rss)
                await trio.sleep(0.1)
        nursery.cancel_scope.cancel()
    last = site.process.memory_info().rss
    figures = (value / 1e6 for value in (before, peak, last))
    return "{:10} {:5.0f} {:5.0f} {:5.0f} MB".format(kind, *figures) + (
        f"   others waited {max(waits, default=0):.2f} s at most"
    )


@contextmanager
def served(root: Path) -> Iterator[Site]:
    """Serve the application in a process of its own; the first start also builds it."""
    fx = [sys.executable, "-m", "fxtrio"]
    env = {**os.environ, "FX_SECRET_KEY": "a secret key of the benchmark of 32 bytes or more"}
    for name, text in PAGES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if not (root / ".fx").exists():
        subprocess.run([*fx, "build"], cwd=root, env=env, check=True, stdout=sys.stderr)
    port = free_port()
    command = [*fx, "serve", "--h2c", "--port", str(port)]
    with (root / "log").open("ab") as log:
        server = subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=log, text=True)
        try:
            trio.run(_wait_until_served, port)
            yield Site(port, _largest(psutil.Process(server.pid)))
        finally:
            end(server, patience=PATIENCE)


async def _wait_until_served(port: int) -> None:
    with trio.fail_after(2 * PATIENCE):
        while True:
            with suppress(OSError):
                async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                    await stream.send_all(get("/"))
                    if await stream.receive_some():
                        return
            await trio.sleep(0.1)


def _largest(first: psutil.Process) -> psutil.Process:
    """Return the process that serves: the Python process with most memory."""
    family = [first, *first.children(recursive=True)]
    pythons = [one for one in family if "python" in one.name()]
    return max(pythons, key=lambda one: one.memory_info().rss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], default=[])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    print("           before peak  last", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds or KINDS:
            with served(Path(folder)) as site:
                print(trio.run(partial(measure, kind, site, options.clients, options.seconds)))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
