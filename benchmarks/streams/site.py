"""The application that is measured, and its server process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import httpx
import psutil

from benchmarks.processes import end
from tests.ports import free_port

PAGE = """\
import time

import trio
from fx.realtime import subscribe


@server
async def load(request):
    return {"ran": len(CANCELLED)}


CANCELLED = []


@action
async def values(request):
    asked = await request.json()
    for number in range(asked["count"]):
        yield {"number": number, "text": "*" * asked.get("size", 8), "at": time.time() * 1000}
        await trio.sleep(asked["every"])


@stream
async def idle(request):
    await trio.sleep_forever()
    yield


@stream
async def ticks(request):
    try:
        while True:
            yield {"text": "tick"}
            await trio.sleep(1)
    finally:
        CANCELLED.append(1)


@stream
async def feed(request, after: str | None):
    async with subscribe("feed", after=after) as events:
        async for event in events:
            yield event


import { useEffect } from "react";
import { useAction } from "fx/client";

export default function Page() {
  const ask = useAction("values");
  const at = ask.data?.at;
  useEffect(() => {
    if (at === undefined) return;
    requestAnimationFrame(() => {
      window.late = [...(window.late ?? []), Date.now() - at];
      window.shown = ask.data.number;
    });
  }, [at]);
  return <button onClick={() => ask({ count: 20, every: 0.1 })}>{ask.data?.number}</button>;
}
"""

SLOW = """\
import trio
from fx.runtime import defer


async def find_reviews():
    await trio.sleep(3)
    return [f"Review {number} </script> \\u2028" for number in range(30_000)]


@server
async def load(request):
    return {"title": "A book", "reviews": defer(find_reviews)}


import { useEffect, useState } from "react";
import { Await } from "fx/client";

function Reviews({ all }) {
  useEffect(() => {
    requestAnimationFrame(() => { document.body.dataset.shown = performance.now(); });
  }, []);
  return <ul>{all.map((one) => <li key={one}>{one}</li>)}</ul>;
}

export default function Slow({ data }) {
  const [clicks, setClicks] = useState(0);
  useEffect(() => { document.body.dataset.interactive = performance.now(); }, []);
  return (
    <>
      <h1>{data.title}</h1>
      <button onClick={() => setClicks(clicks + 1)}>{clicks} clicks</button>
      <Await value={data.reviews} fallback={<p>Reviews …</p>}>
        {(reviews) => <Reviews all={reviews} />}
      </Await>
    </>
  );
}
"""


def write_site(root: Path) -> None:
    """Write the project and build it."""
    (root / "pages").mkdir(parents=True)
    (root / "pages/index.fxl").write_text(PAGE, "utf-8")
    (root / "pages/slow.fxl").write_text(SLOW, "utf-8")
    (root / "fx.config.json").write_text('{"name": "Streams"}', "utf-8")
    subprocess.run([sys.executable, "-m", "fxtrio", "build"], cwd=root, check=True)


@attrs.define
class Site:
    """A server process."""

    port: int
    server: subprocess.Popen[str]
    process: psutil.Process

    def rss(self) -> float:
        """Return its memory (KiB)."""
        return float(self.process.memory_info().rss) / 1024

    def cpu(self) -> float:
        """Return its CPU time (seconds)."""
        spent = self.process.cpu_times()
        return float(spent.user + spent.system)


@contextmanager
def served(root: Path, *, port: int = 0, **settings: str) -> Iterator[Site]:
    """Serve the project in one process for the length of the block."""
    port = port or free_port()
    env = {**os.environ, "FX_SECRET_KEY": "b" * 32, "FX_LIMITS__CONNECTIONS_PER_ADDRESS": "5000"}
    env |= settings
    log = (root / "server.log").open("a")
    command = [sys.executable, "-m", "fxtrio", "serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=log, text=True)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/readyz").raise_for_status()
                break
            except httpx.HTTPError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield Site(port, server, psutil.Process(server.pid))
    finally:
        if server.poll() is None:
            end(server, patience=30)
        log.close()
