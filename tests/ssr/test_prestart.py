"""Node processes that are started before the pool that is going to use them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from fxtrio.ssr.errors import RenderCrashed, SsrStartFailed
from fxtrio.ssr.pool import open_ssr_pool
from fxtrio.ssr.process.launch import Launch
from fxtrio.ssr.process.prestart import prestart, take_prestarted
from tests.ssr.pools import (
    BUNDLES,
    LIMIT,
    PAGES,
    node_processes,
    open_descriptors,
    state,
    wait_until,
)

LAUNCH = Launch(bundle=PAGES, node="node", heap_mb=512)

pytestmark = pytest.mark.node


async def test_a_pool_uses_the_processes_that_were_started_ahead() -> None:
    before = open_descriptors()
    with trio.fail_after(LIMIT):
        with prestart(LAUNCH, 2) as started_early:
            await wait_until(lambda: len(node_processes()) == 2)
            started = node_processes()
            async with open_ssr_pool(bundle=PAGES, workers=2) as pool:
                started_early.close()
                pids = set(pool.statistics().pids)
                rendered = await pool.render(0, state())
            assert node_processes() == set()
    assert len(started) == 2
    assert pids == started
    assert b"you" in rendered.html
    assert open_descriptors() <= before


async def test_a_pool_with_other_settings_starts_its_own_processes() -> None:
    with trio.fail_after(LIMIT), prestart(LAUNCH, 1) as started_early:
        await wait_until(node_processes)
        started = node_processes()
        async with open_ssr_pool(bundle=PAGES, heap_mb=256) as pool:
            assert node_processes() == started | set(pool.statistics().pids)
            started_early.close()
            assert node_processes() == set(pool.statistics().pids)
            assert started.isdisjoint(pool.statistics().pids)


async def test_a_process_that_nobody_takes_ends_with_the_block() -> None:
    before = open_descriptors()
    with trio.fail_after(LIMIT), pytest.raises(ZeroDivisionError), prestart(LAUNCH, 2):
        # A process has the command line of its program a moment after it has begun.
        await wait_until(lambda: len(node_processes()) == 2)
        raise ZeroDivisionError  # the app cannot be imported
    assert node_processes() == set()
    assert take_prestarted(LAUNCH) is None
    assert open_descriptors() <= before


async def test_a_process_is_taken_once() -> None:
    with prestart(LAUNCH, 1):
        taken = take_prestarted(LAUNCH)
        assert taken is not None
        assert take_prestarted(LAUNCH) is None
        taken.kill()


def test_a_node_that_cannot_be_started_is_reported_at_once(tmp_path: Path) -> None:
    with (
        pytest.raises(SsrStartFailed, match=r"fxtrio\[node\]"),
        prestart(replace(LAUNCH, node=str(tmp_path / "node")), 1),
    ):
        pytest.fail("the block was entered")


async def test_a_bundle_that_is_broken_is_reported_by_the_pool_as_ever() -> None:
    bundle = BUNDLES / "no-such-file.mjs"
    with trio.fail_after(LIMIT), prestart(replace(LAUNCH, bundle=bundle), 1):
        with pytest.raises(SsrStartFailed, match="no-such-file"):
            async with open_ssr_pool(bundle=bundle):
                pytest.fail("the pool was opened")
        assert node_processes() == set()


async def test_the_end_of_a_process_is_noticed_without_pidfd(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raise_missing(pid: int, flags: int = 0) -> int:
        raise OSError(38, os.strerror(38))  # what an old kernel says

    monkeypatch.setattr(os, "pidfd_open", raise_missing)
    with trio.fail_after(LIMIT):
        async with open_ssr_pool(bundle=PAGES) as pool:
            with pytest.raises(RenderCrashed, match="exited with code 3"):
                await pool.render(0, state("exit", code=3))
        assert node_processes() == set()
