"""WebSocket fan-out over real sockets: how many deliveries a second, at what cost, how late.

    python -m benchmarks.realtime [--server fx|hypercorn] [--json]

A server process with one channel, and this process as its subscribers:

- ``burst``: 200 subscribers, 500 messages of 100 bytes as fast as they can be
  published. Deliveries a second, from the request that starts the publisher to the
  last byte; CPU microseconds of the server for each.
- ``paced``: the same subscribers, 50 messages a second. Milliseconds from `publish`
  to the client, 50th and 99th percentile.
- ``stalled``: 20 subscribers, 20,000 messages of 1 kB, 2,000 a second, without and
  with one more subscriber that never reads. The same percentiles of the others,
  and the code the stalled one was closed with.

Every run checks that each subscriber got every message once and in order.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import attrs
import msgspec
import trio
from starlette.applications import Starlette
from starlette.websockets import WebSocket, WebSocketDisconnect

from fxtrio.realtime import MemoryBroker, channel
from fxtrio.realtime.handler import serve_websocket

TICKS = os.sysconf("SC_CLK_TCK")

# --- the server process


class ChannelApp:
    """``/`` is a WebSocket on the channel; ``/publish`` starts a publisher."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.broker = MemoryBroker()
        self.closed: list[int] = []
        self.starlette = Starlette()
        self.starlette.state.fx_broker = self.broker

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})
        elif scope["type"] == "websocket":
            scope["app"] = self.starlette
            await serve_websocket(self.subscribe, WebSocket(scope, receive, send))
        else:
            await self.answer(scope, send)

    async def subscribe(self, ws: WebSocket) -> None:
        await ws.accept()
        try:
            async with channel(ws, "bench"):
                async for _ in ws.iter_text():
                    pass
        except WebSocketDisconnect as gone:
            self.closed.append(gone.code)

    async def answer(self, scope: Any, send: Any) -> None:
        if scope["path"] == "/publish":
            query = {key: float(value[0]) for key, value in parse_qs(scope["query_string"]).items()}
            self.nursery.start_soon(
                self.publish, int(query[b"count"]), int(query[b"size"]), query[b"rate"]
            )
        report = {"closed": self.closed, **msgspec.structs.asdict(self.broker.statistics())}
        body = json.dumps(report).encode()
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def publish(self, count: int, size: int, rate: float) -> None:
        due = trio.current_time()
        for number in range(count):
            if rate:
                await trio.sleep_until(due)
                due += 1 / rate
            message = f"{number:08d} {time.monotonic_ns():020d} "
            await self.broker.publish("bench", message + "x" * (size - len(message)))


async def serve(server: str, listening: socket.socket) -> None:
    from hypercorn.config import Config

    async with trio.open_nursery() as nursery:
        app: Any = ChannelApp(nursery)
        if server == "hypercorn":
            import hypercorn.trio

            config = Config()
            config.bind = [f"fd://{listening.detach()}"]
            nursery.start_soon(partial(hypercorn.trio.serve, app, config))
        else:
            from fxtrio.server.http1 import ServerLimits
            from fxtrio.server.supervise.hypercorn_config import make_config
            from fxtrio.server.supervise.listening.binding import Sockets
            from fxtrio.server.supervise.options import ServeOptions
            from fxtrio.server.supervise.server import run_server

            await nursery.start(
                partial(
                    run_server,
                    app,
                    make_config(ServeOptions(app="", limits=ServerLimits(websocket_ping=None))),
                    sockets=Sockets([], [listening]),
                    stop=trio.Event(),
                )
            )


# --- this process: the clients


@contextmanager
def running_server(server: str) -> Iterator[tuple[int, int]]:
    """Yield the port and the process id of a server."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        listening.setblocking(False)
        port = listening.getsockname()[1]
        command = [sys.executable, "-m", "benchmarks.realtime", "--server", server]
        command += ["--serve-fd", str(listening.fileno())]
        process = subprocess.Popen(command, pass_fds=[listening.fileno()])
    try:
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(10)


def request(port: int, path: str) -> Any:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n".encode())
        answer = b""
        while data := client.recv(65536):
            answer += data
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def open_websocket(port: int, receive_buffer: int | None = None) -> socket.socket:
    client = socket.socket()
    if receive_buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.settimeout(10)
    client.connect(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    client.sendall(
        f"GET / HTTP/1.1\r\nhost: bench\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        f"sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n".encode()
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += client.recv(1)
    assert head.startswith(b"HTTP/1.1 101"), head
    return client


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@attrs.frozen
class Run:
    """``count`` messages of ``size`` bytes to each of ``subscribers``; ``rate`` 0 is unpaced."""

    subscribers: int
    count: int
    size: int
    rate: float = 0

    @property
    def frame(self) -> int:
        return self.size + (2 if self.size < 126 else 4)

    def publish(self, port: int) -> None:
        request(port, f"/publish?count={self.count}&size={self.size}&rate={self.rate}")


def receive_all(
    run: Run, clients: list[socket.socket]
) -> tuple[float, list[list[tuple[int, int]]]]:
    """Read until every client has everything; check it.

    Returns when the last byte came (monotonic seconds), and for each client when
    how many bytes had come in all (nanoseconds, bytes).
    """
    expected = run.count * run.frame
    first = bytearray()  # what the first one got; of the others a checksum is enough
    totals, checksums = [0] * len(clients), [0] * len(clients)
    arrivals: list[list[tuple[int, int]]] = [[] for _ in clients]
    selector = selectors.EpollSelector()
    for index, client in enumerate(clients):
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ, index)
    waiting = len(clients)
    while waiting:
        ready = selector.select(timeout=20)
        assert ready, f"{waiting} subscribers still wait; {min(totals)} of {expected}"
        for key, _ in ready:
            index = key.data
            data = clients[index].recv(1 << 18)
            assert data, "a subscriber was cut off"
            totals[index] += len(data)
            arrivals[index].append((time.monotonic_ns(), totals[index]))
            checksums[index] = zlib.crc32(data, checksums[index])
            if index == 0:
                first += data
            if totals[index] >= expected:
                selector.unregister(clients[index])
                waiting -= 1
    ended = time.monotonic()
    for client in clients:
        client.setblocking(True)
    payloads = [
        bytes(first[end - run.size : end]) for end in range(run.frame, expected + 1, run.frame)
    ]
    numbers = [int(payload[:8]) for payload in payloads]
    assert numbers == list(range(run.count)), "a message was lost, doubled or out of order"
    assert set(totals) == {expected}, "a message came twice"
    assert len(set(checksums)) == 1, "subscribers got different messages"
    sent = [int(payload[9:29]) for payload in payloads]
    return ended, [list(_latencies(run, sent, came)) for came in arrivals]


def _latencies(
    run: Run, sent: list[int], arrivals: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield ``(message number, nanoseconds from publish to client)``."""
    number = 0
    for at, total in arrivals:
        while number < run.count and (number + 1) * run.frame <= total:
            yield number, at - sent[number]
            number += 1


def percentiles(latencies: list[list[tuple[int, int]]]) -> dict[str, float]:
    cuts = statistics.quantiles((latency for one in latencies for _, latency in one), n=100)
    return {"p50_ms": round(cuts[49] / 1e6, 2), "p99_ms": round(cuts[98] / 1e6, 2)}


def measure(run: Run, port: int, pid: int, rounds: int) -> dict[str, float]:
    """Return medians of deliveries a second and CPU µs for each, and percentiles of all."""
    clients = [open_websocket(port) for _ in range(run.subscribers)]
    rates, costs, latencies = [], [], []
    deliveries = run.subscribers * run.count
    for number in range(rounds + 1):
        cpu, began = cpu_seconds(pid), time.monotonic()
        run.publish(port)
        ended, delays = receive_all(run, clients)
        if number:  # the first round warms up
            rates.append(deliveries / (ended - began))
            costs.append((cpu_seconds(pid) - cpu) / deliveries * 1e6)
            latencies += delays
    for client in clients:
        client.close()
    return {
        "deliveries_per_second": round(statistics.median(rates)),
        "cpu_us": round(statistics.median(costs), 2),
        **percentiles(latencies),
    }


def measure_stalled(run: Run, port: int) -> dict[str, Any]:
    """Return the percentiles of the others, and what became of the stalled subscriber."""
    clients = [open_websocket(port) for _ in range(run.subscribers)]
    stalled = open_websocket(port, receive_buffer=4096)
    run.publish(port)
    _, latencies = receive_all(run, clients)
    deadline = time.monotonic() + 20
    while not request(port, "/")["closed"] and time.monotonic() < deadline:
        time.sleep(0.1)
    report = request(port, "/")
    for client in (*clients, stalled):
        client.close()
    return {**percentiles(latencies), "stalled_closed_with": report["closed"][:1]}


def measure_all(server: str, rounds: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    stalled = Run(subscribers=20, count=20_000, size=1000, rate=2000)
    with running_server(server) as (port, pid):
        results["burst"] = measure(Run(200, 500, 100), port, pid, rounds)
        results["paced"] = measure(Run(200, 250, 100, rate=50), port, pid, 1)
        results["without a stalled reader"] = measure(stalled, port, pid, 1)
    with running_server(server) as (port, _):
        results["beside a stalled reader"] = measure_stalled(stalled, port)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--server", choices=["fx", "hypercorn"], default="fx")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve-fd", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_fd is not None:
        trio.run(serve, options.server, socket.socket(fileno=options.serve_fd))
        return
    results = measure_all(options.server, options.rounds)
    if options.json:
        print(json.dumps(results))
        return
    for name, figures in results.items():
        print(
            name,
            ", ".join(
                f"{key} {value:,}" if isinstance(value, (int, float)) else f"{key} {value}"
                for key, value in figures.items()
            ),
            sep=": ",
        )


if __name__ == "__main__":
    main()
