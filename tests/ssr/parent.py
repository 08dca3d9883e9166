"""A server that waits to be killed: prints the ids of its workers, one of which loops for ever.

Started by `test_lifetime.py` with ``kernel`` or ``thread``: what has to end the workers.
"""

from __future__ import annotations

import sys
from functools import partial

import trio
import trio.testing

from fxtrio.ssr.pool import open_ssr_pool
from fxtrio.ssr.process import launch
from fxtrio.ssr.process.launch import ParentDeathPipe
from tests.ssr.pools import PAGES, state


async def main(how: str) -> None:
    """Serve until the process is killed."""
    setattr(launch, "ParentDeathPipe", partial(ParentDeathPipe, by_kernel=how == "kernel"))  # noqa: B010
    async with (
        open_ssr_pool(bundle=PAGES, workers=2, timeout=60) as pool,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(pool.render, 0, state("loop"))
        await trio.testing.wait_all_tasks_blocked(0.2)
        print(*pool.statistics().pids, flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(main, sys.argv[1])
