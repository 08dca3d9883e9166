"""CPU of a burst of messages over a shared broker, alone or against another source tree.

    python -m benchmarks.brokers redis://localhost [--against TREE] [--rounds 9]

A process with 60 subscribers publishes 2,000 messages of 100 bytes to itself, from ten
tasks. Prints CPU microseconds of the process for each message, the median over rounds;
with ``--against`` both trees take turns, and their ratio is printed, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.websockets import WebSocket

SUBSCRIBERS, MESSAGES, PUBLISHERS, SIZE = 60, 2_000, 10, 100


async def burst(url: str) -> None:
    """Print the CPU time of one burst (seconds)."""
    from fxtrio.asgi_extensions import RAW_FRAMES
    from fxtrio.config import RealtimeConfig
    from fxtrio.realtime import channel
    from fxtrio.realtime.open import open_broker

    received = 0
    done = trio.Event()
    expected = SUBSCRIBERS * MESSAGES * (SIZE + 2)

    def take(data: bytes) -> bool:
        nonlocal received
        received += len(data)
        if received >= expected:
            done.set()
        return True

    async def send_raw(data: bytes) -> None:
        take(data)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(event: Any) -> None:
        """Take what is no message."""

    async def publish() -> None:
        for _ in range(MESSAGES // PUBLISHERS):
            await app.state.fx_broker.publish("burst", "x" * SIZE)

    app = Starlette()
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(open_broker(RealtimeConfig(broker=url)))
        app.state.fx_broker = broker
        for _ in range(SUBSCRIBERS):
            extensions = {RAW_FRAMES: {"send": send_raw, "write": take}}
            scope = {"type": "websocket", "app": app, "headers": [], "extensions": extensions}
            ws = WebSocket(scope, receive, send)
            await ws.accept()
            await stack.enter_async_context(channel(ws, "burst"))
        began = time.process_time()
        async with trio.open_nursery() as nursery:
            for _ in range(PUBLISHERS):
                nursery.start_soon(publish)
        with trio.fail_after(60):
            await done.wait()
        print(time.process_time() - began)


def measure(url: str, tree: Path) -> float:
    """Return the CPU of a message with the source in ``tree`` (microseconds)."""
    command = [sys.executable, "-P", str(Path(__file__).resolve()), url, "--once"]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=120,
    )
    return float(done.stdout) / MESSAGES * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        trio.run(burst, options.url)
        return
    here, pairs = Path(__file__).resolve().parents[1], []
    for _ in range(options.rounds):
        there = measure(options.url, options.against) if options.against else 0.0
        pairs.append((measure(options.url, here), there))
    ours = statistics.median(one for one, _ in pairs)
    print(f"{ours:.0f} CPU µs for a message to {SUBSCRIBERS} subscribers")
    if options.against:
        theirs = statistics.median(two for _, two in pairs)
        print(f"{theirs:.0f} in {options.against}; {ours / theirs:.2f} times as much")


if __name__ == "__main__":
    main()
