"""Pages are rendered in Node, and nothing of it is left afterwards."""

from __future__ import annotations

import logging
import os
import signal

import pytest
import trio
import trio.testing

from fxtrio.ssr import frames
from fxtrio.ssr.errors import FrameSizeInvalid, RenderFailed, SsrBusy, SsrDown
from fxtrio.ssr.pool import Rendered, open_ssr_pool
from tests.ssr.pools import (
    PAGES,
    node_processes,
    open_descriptors,
    open_pool,
    state,
    wait_until,
)

pytestmark = pytest.mark.node


async def test_a_page_is_rendered_with_its_head() -> None:
    async with open_pool() as pool:
        assert await pool.render(0, state(name="Zoë 😀")) == Rendered(
            b"", "<p>Hello, Zoë 😀</p>".encode()
        )
        assert await pool.render(1, state()) == Rendered(
            b"<title>one</title>", b"<p>Hello, you</p>"
        )


async def test_many_renders_share_a_worker_and_get_their_own_answers() -> None:
    answers: dict[int, bytes] = {}

    async def render(number: int) -> None:
        answers[number] = (await pool.render(0, state(name=str(number)))).html

    async with open_pool() as pool:
        async with trio.open_nursery() as nursery:
            for number in range(300):
                nursery.start_soon(render, number)
        assert pool.statistics().rendered == 300
    assert answers == {number: b"<p>Hello, %d</p>" % number for number in range(300)}


async def test_large_payloads_and_pages_pass() -> None:
    size = 5_000_000
    async with open_pool() as pool:
        [large, hello] = [b"", b""]

        async def ask_large() -> None:
            nonlocal large
            large = (await pool.render(0, state("large", size=size, name="n" * size))).html

        async def ask_hello() -> None:
            nonlocal hello
            hello = (await pool.render(0, state())).html

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask_large)
            nursery.start_soon(ask_hello)
    assert (len(large), hello) == (size, b"<p>Hello, you</p>")


async def test_a_payload_that_fits_no_frame_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "FRAME_LIMIT", 1000)
    async with open_pool() as pool:
        with pytest.raises(FrameSizeInvalid):
            await pool.render(0, bytes(1000))
        assert (await pool.render(0, state())).html


async def test_work_beyond_a_millisecond_goes_to_the_next_worker() -> None:
    seen: set[bytes] = set()

    async def render() -> None:
        seen.add((await pool.render(0, state("pid"))).html)

    async def work() -> None:
        await pool.render(2, state("slow", ms=50))

    async with open_pool(workers=2) as pool:
        await work()  # from now on page 2 is known to be slow
        async with trio.open_nursery() as nursery:
            nursery.start_soon(work)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(render)
        assert seen < {b"%d" % pid for pid in pool.statistics().pids}


async def test_small_work_fills_one_worker() -> None:
    seen: set[bytes] = set()

    async def render() -> None:
        seen.add((await pool.render(0, state("pid"))).html)

    async with open_pool(workers=2) as pool:
        for _ in range(50):  # until its cost is known to be small
            await render()
        seen.clear()
        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(render)
    assert len(seen) == 1


async def test_a_component_that_throws_fails_only_its_page() -> None:
    async with open_pool() as pool:
        with pytest.raises(RenderFailed) as failed:
            await pool.render(0, state("throw", message="price is undefined"))
        error = failed.value
        assert (error.name, error.message) == ("TypeError", "price is undefined")
        assert f"{PAGES}:" in error.stack
        assert "Caused by: Error: the deeper reason" in error.stack
        assert "fxtrio/js/worker" not in error.stack
        assert str(error) == "TypeError: price is undefined"
        assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"
        assert pool.statistics().failed == 1
        assert pool.statistics().restarts == 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        ("throwText", "just text"),
        ("throwTrap", "cannot be shown"),
        ("throwSurrogate", "half \N{REPLACEMENT CHARACTER} of a pair"),
        ("wrong", "must return {head, html}"),
        ("missing", "is not a function"),
    ],
)
async def test_whatever_is_thrown_is_an_error_of_the_page(act: str, message: str) -> None:
    async with open_pool() as pool:
        with pytest.raises(RenderFailed) as failed:
            await pool.render(0, state(act))
        assert message in failed.value.message
        assert pool.statistics().restarts == 0


async def test_a_payload_that_is_no_json_is_an_error_of_the_page() -> None:
    async with open_pool() as pool:
        with pytest.raises(RenderFailed) as failed:
            await pool.render(0, b"{")
        assert failed.value.name == "SyntaxError"


async def test_too_many_renders_are_rejected_with_a_time() -> None:
    rejected: list[SsrBusy] = []

    async def render() -> None:
        try:
            await pool.render(0, state("slow", ms=5))
        except SsrBusy as busy:
            rejected.append(busy)

    async with open_pool(max_pending=10) as pool:
        async with trio.open_nursery() as nursery:
            for _ in range(25):
                nursery.start_soon(render)
        assert pool.statistics().refused == 15
        assert pool.statistics().rendered == 10
        assert (await pool.render(0, state())).html
    assert len(rejected) == 15
    assert {busy.pending for busy in rejected} == {10}
    assert all(busy.retry_after >= 1 for busy in rejected)


async def test_a_cancelled_render_leaves_no_trace() -> None:
    async with open_pool() as pool:
        with trio.move_on_after(0.02) as scope:
            await pool.render(0, state("slow", ms=150))
        assert scope.cancelled_caught
        assert pool.statistics().pending == 1  # the worker still has it
        assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"
        assert pool.statistics().pending == 0


async def test_a_render_that_is_cancelled_at_once_is_not_waited_for() -> None:
    async with open_pool() as pool:
        with trio.CancelScope() as scope:
            scope.cancel()
            await pool.render(0, state())
        assert scope.cancelled_caught
        assert (await pool.render(0, state(name="next"))).html == b"<p>Hello, next</p>"


async def test_a_waiting_render_that_is_cancelled_is_never_rendered() -> None:
    async def slow() -> None:
        await pool.render(0, state("slow", ms=30))

    async with open_pool() as pool:
        await slow()  # its cost is known now: the worker takes one at a time
        [worker] = pool.statistics().pids
        async with trio.open_nursery() as nursery:
            os.kill(worker, signal.SIGSTOP)  # on a busy machine it would have ended meanwhile
            nursery.start_soon(slow)
            await trio.testing.wait_all_tasks_blocked()
            with trio.move_on_after(0.005):
                async with trio.open_nursery() as others:
                    for _ in range(20):
                        others.start_soon(slow)
                    await trio.testing.wait_all_tasks_blocked()
                    assert pool.statistics().waiting == 20
            assert pool.statistics().waiting == 0
            os.kill(worker, signal.SIGCONT)
        assert pool.statistics().rendered == 2


async def test_renders_that_outlive_the_pool_are_reported() -> None:
    outcome: list[BaseException] = []

    async def render() -> None:
        try:
            await pool.render(0, state("slow", ms=3000))
        except SsrDown as error:
            outcome.append(error)

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            async with open_ssr_pool(bundle=PAGES) as pool:
                nursery.start_soon(render)
                await trio.testing.wait_all_tasks_blocked(0.05)
            with pytest.raises(SsrDown, match="closed"):
                await pool.render(0, state())
    assert len(outcome) == 1
    assert not node_processes()


async def test_leaving_while_a_worker_loops_leaves_no_process() -> None:
    with trio.fail_after(30):
        async with open_ssr_pool(bundle=PAGES, workers=2) as pool:
            with trio.move_on_after(0.2):
                await pool.render(0, state("loop"))
        assert not node_processes()


async def test_a_cancelled_pool_leaves_no_process() -> None:
    with trio.fail_after(30), trio.CancelScope() as scope:
        async with open_ssr_pool(bundle=PAGES, workers=2):
            scope.cancel()
            await trio.sleep_forever()
    assert not node_processes()


async def test_a_pool_cancelled_while_it_starts_leaves_no_process() -> None:
    for delay in (0, 0.001, 0.01, 0.03):
        with trio.move_on_after(delay):
            async with open_ssr_pool(bundle=PAGES, workers=2):
                await trio.sleep_forever()
        assert not node_processes()


async def test_page_code_sees_the_mode_and_not_the_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FX_SECRET_KEY", "do not tell")
    monkeypatch.setenv("FX_PUBLIC_SITE", "tell")
    monkeypatch.setenv("NODE_ENV", "whatever")
    async with open_pool() as pool:
        names = ("FX_SECRET_KEY", "FX_PUBLIC_SITE", "NODE_ENV")
        modes = [(await pool.render(0, state("environment", name=name))).html for name in names]
    assert modes == [b"undefined", b"tell", b"production"]


async def test_what_pages_print_is_logged_with_its_level(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "fx.ssr"):
        async with open_pool() as pool:
            for method in ("debug", "log", "info", "warn", "error"):
                text = f"{method}: one\ntwo \x1b[2J"
                await pool.render(0, state("print", method=method, text=text))
            await pool.render(0, state("printRaw", text="raw"))
            await wait_until(lambda: "raw" in caplog.messages)
    logged = [(record.levelno, record.getMessage()) for record in caplog.records]
    levels = {"debug": 10, "log": 20, "info": 20, "warn": 30, "error": 40}
    for method, level in levels.items():
        assert (level, f"{method}: one") in logged
        assert (level, "two \\x1b[2J") in logged
    assert (20, "raw") in logged


async def test_errors_outside_a_render_are_logged_and_cost_no_worker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG, "fx.ssr"):
        async with open_pool() as pool:
            await pool.render(0, state("rejectLater", message="nobody waits for this"))
            await pool.render(0, state("throwLater", message="nobody catches this"))
            await wait_until(lambda: "nobody catches" in caplog.text)
            assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"
            assert pool.statistics().restarts == 0
    assert "Unhandled rejection: Error: nobody waits for this" in caplog.text
    assert "Uncaught exception: Error: nobody catches this" in caplog.text


async def test_a_pool_takes_no_descriptors_along() -> None:
    before = open_descriptors()
    async with open_pool(workers=2) as pool:
        await pool.render(0, state())
    assert open_descriptors() <= before
