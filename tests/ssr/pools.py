"""Pools of real Node processes for tests, with short times."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from fxtrio.ssr.pool import SsrPool, open_ssr_pool

BUNDLES = Path(__file__).parent / "bundles"
PAGES = BUNDLES / "pages.mjs"
LIMIT = 30.0
"""Longest time a test may take (seconds): a hang is a failure."""


def state(act: str = "hello", **more: Any) -> bytes:
    """Return a payload that tells a page of `pages.mjs` what to do."""
    return json.dumps({"act": act, "name": "you", **more}).encode()


def node_processes() -> set[int]:
    """Return the SSR workers that this process has started and that still run."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    children = {pid for pid in pids if read_status(pid)[1] == os.getpid() and is_running(pid)}
    return {pid for pid in children if b"worker.cjs" in read_command(pid)}


def read_command(pid: int) -> bytes:
    """Return the command line of a process, nothing if there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_running(pid: int) -> bool:
    """Return whether a process runs (one that has only not been waited for does not)."""
    return read_status(pid)[0] not in ("Z", "")


def read_status(pid: int) -> tuple[str, int]:
    """Return state and parent of a process, nothing and 0 if there is none."""
    try:
        state, parent, *_ = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "", 0
    return state, int(parent)


def open_descriptors() -> int:
    """Return how many files, sockets and pipes this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def wait_until(holds: Callable[[], object]) -> None:
    """Wait for something outside this process, which tells nobody when it happens."""
    while not holds():  # noqa: ASYNC110
        await trio.sleep(0.002)


@asynccontextmanager
async def open_pool(
    *,
    bundle: Path = PAGES,
    node: str = "node",
    workers: int = 1,
    timeout: float = 5.0,
    max_pending: int = 1000,
    heap_mb: int = 128,
) -> AsyncIterator[SsrPool]:
    """Open a pool, and check that nothing is left of it."""
    with trio.fail_after(LIMIT):
        async with open_ssr_pool(
            bundle=bundle,
            node=node,
            workers=workers,
            timeout=timeout,
            max_pending=max_pending,
            heap_mb=heap_mb,
        ) as pool:
            pids = set(pool.statistics().pids)
            assert len(pids) == workers
            yield pool
            pids |= set(pool.statistics().pids)
            await wait_until(lambda: not pool.statistics().pending)
            assert pool.statistics().waiting == 0
    assert not pids & node_processes()


async def wait_restarts(pool: SsrPool, count: int) -> None:
    """Wait until ``count`` workers have been replaced, and all are there again."""
    await wait_until(lambda: pool.statistics().restarts >= count)
    await wait_until(lambda: len(pool.statistics().pids) == pool.statistics().workers)
