"""What one exchange with an SSR worker costs, without React.

Prints exchanges a second, and microseconds of CPU in Python and in Node for each. Run it with
``python benchmarks/ssr_exchange.py [--concurrency 32] [--seconds 3]``; it takes that time three
times.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import trio

from fxtrio.ssr.pool import SsrPool, open_ssr_pool

BUNDLE = Path(__file__).with_suffix(".mjs")
TICK = os.sysconf("SC_CLK_TCK")
PAYLOAD = (
    b'{"ok":true,"routePath":"/hello","page":{"module":"/_fx/hello-abc.js","layouts":'
    b'["/_fx/layout-abc.js"],"css":[],"id":0},"statusCode":200,"requestedPath":"/hello",'
    b'"params":{},"props":{"data":{"message":"Hello"},"layoutData":{}},"layouts":[null],'
    b'"head":[],"ttl":0}'
)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


async def measure(pool: SsrPool, concurrency: int, seconds: float) -> tuple[float, float, float]:
    """Return exchanges a second, and microseconds of CPU of Python and of Node for each."""
    done = 0
    deadline = time.perf_counter() + seconds

    async def client() -> None:
        nonlocal done
        while time.perf_counter() < deadline:
            for _ in range(50):
                await pool.render(0, PAYLOAD)
            done += 50

    (pid,) = pool.statistics().pids
    node, python, began = cpu_seconds(pid), time.process_time(), time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(concurrency):
            nursery.start_soon(client)
    wall = time.perf_counter() - began
    python = time.process_time() - python
    return done / wall, 1e6 * python / done, 1e6 * (cpu_seconds(pid) - node) / done


async def main(concurrency: int, seconds: float) -> None:
    """Measure three times, after a warm-up, and print the medians."""
    async with open_ssr_pool(bundle=BUNDLE) as pool:
        await measure(pool, concurrency, min(1.0, seconds))
        runs = [await measure(pool, concurrency, seconds) for _ in range(3)]
    rate, python, node = (statistics.median(column) for column in zip(*runs, strict=True))
    print(
        f"concurrency {concurrency}: {rate:,.0f} exchanges/s, "
        f"{python:.1f} µs CPU in Python, {node:.1f} µs in Node"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    trio.run(main, options.concurrency, options.seconds)
