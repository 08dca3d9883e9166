"""A page can come in parts, as fast as its reader takes them and no faster."""

from __future__ import annotations

import logging
import os
import signal

import pytest
import trio
import trio.testing

from fxtrio.ssr.errors import RenderCrashed, RenderFailed, RenderTimeout, SsrBusy, SsrDown
from fxtrio.ssr.frames import STREAM_WINDOW
from fxtrio.ssr.pool import Rendered, RenderStream, open_ssr_pool
from tests.ssr.pools import PAGES, open_pool, state, wait_restarts, wait_until

pytestmark = pytest.mark.node


async def collect(stream: RenderStream) -> tuple[bytes, bytes]:
    """Return the head, and all of the HTML."""
    parts = [part async for part in stream]
    assert not any(part.head for part in parts[1:])
    return parts[0].head, b"".join(part.html for part in parts)


async def test_the_shell_comes_first_and_the_rest_as_its_data_does() -> None:
    async with open_pool() as pool:
        payload = state("deferred", names=["one", "two"])
        async with pool.stream(0, payload) as stream:
            assert await anext(stream) == Rendered(b"<title>streamed</title>", b"<main>")
            with trio.move_on_after(0.05) as scope:
                await anext(stream)
            assert scope.cancelled_caught, "nothing comes before its data"
            await stream.resolve("one", b'{"a":1}')
            assert await anext(stream) == Rendered(b"", b'<p>{"a":1}</p>')
            await stream.reject("two", b'{"message":"no luck"}')
            rest = [part.html async for part in stream]
            assert b"".join(rest) == b"<p>failed: no luck</p></main>"
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        assert pool.statistics().rendered == 1


async def test_data_may_be_there_before_anybody_reads() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("deferred", names=["one"])) as stream:
            await stream.resolve("one", b"1")
            assert await collect(stream) == (
                b"<title>streamed</title>",
                b"<main><p>1</p></main>",
            )


async def test_a_shell_may_wait_for_data() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("waitingShell")) as stream:
            await stream.resolve("shell", b'"<title>late</title>"')
            assert await collect(stream) == (b"<title>late</title>", b"")


async def test_renders_continue_beside_an_open_stream() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("deferred", names=["one"])) as stream:
            await anext(stream)
            for _ in range(20):
                assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"
            await stream.resolve("one", b"1")
            assert [part async for part in stream]


async def test_waiting_for_data_is_no_timeout() -> None:
    async with open_pool(timeout=1) as pool:
        async with pool.stream(0, state("waitingShell")) as stream:
            await trio.sleep(2)
            await stream.resolve("shell", b'"x"')
            assert await collect(stream) == (b"x", b"")
        assert pool.statistics().restarts == 0


async def test_a_reader_that_takes_nothing_stops_only_its_own_stream() -> None:
    size = 32 * 1024
    async with open_pool() as pool:
        async with pool.stream(0, state("endless", size=size)) as stream:
            await anext(stream)
            await wait_until(lambda: len(stream._render._parts) > 1)
            for _ in range(200):
                assert (await pool.render(0, state())).html == b"<p>Hello, you</p>"
            held = sum(len(part.html) for part in stream._render._parts)
            assert held <= STREAM_WINDOW + size
            taken = 0
            while taken < 20 * STREAM_WINDOW:
                taken += len((await anext(stream)).html)
        assert pool.statistics().restarts == 0


async def test_a_large_stream_arrives_whole() -> None:
    names = [str(number) for number in range(300)]
    async with open_pool() as pool:
        async with pool.stream(0, state("deferred", names=names)) as stream:
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def _resolve() -> None:
                    for name in names:
                        await stream.resolve(name, b'"%b"' % (b"x" * 10_000))

                _, html = await collect(stream)
            assert html.count(b"x" * 10_000) == 300


async def test_leaving_ends_the_page_and_frees_its_place(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "fx.ssr"):
        async with open_pool() as pool:
            async with pool.stream(0, state("endless", size=1000)) as stream:
                await anext(stream)
            await wait_until(lambda: not pool.statistics().pending)
            await wait_until(lambda: "aborted: the client has left" in caplog.messages)
            assert (await pool.render(0, state())).html


async def test_leaving_before_the_shell_ends_the_page() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("waitingShell")) as stream:
            with trio.move_on_after(0.02):
                await anext(stream)
        await wait_until(lambda: not pool.statistics().pending)


@pytest.mark.parametrize(
    ("act", "name", "message"),
    [("throw", "Error", "no shell"), ("shellError", "RangeError", "a broken shell")],
)
async def test_a_shell_that_fails_is_an_error(act: str, name: str, message: str) -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state(act)) as stream:
            with pytest.raises(RenderFailed) as failed:
                await anext(stream)
        assert (failed.value.name, failed.value.message) == (name, message)
        assert pool.statistics().failed == 1


async def test_an_error_within_a_boundary_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("errorLater")) as stream:
            assert (await collect(stream))[1] == b"<main></main>"
        await wait_until(lambda: "a boundary caught this" in caplog.text)


async def test_streams_count_as_pending() -> None:
    async with open_pool(max_pending=1) as pool:
        async with pool.stream(0, state("deferred", names=["one"])) as stream:
            await anext(stream)
            with pytest.raises(SsrBusy):
                await pool.render(0, state())
            with pytest.raises(SsrBusy):
                async with pool.stream(0, state("nothing")):
                    pytest.fail("opened")
        await wait_until(lambda: not pool.statistics().pending)


async def test_only_one_task_may_read_a_stream() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("waitingShell")) as stream:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(anext, stream)
                await trio.testing.wait_all_tasks_blocked()
                with pytest.raises(trio.BusyResourceError):
                    await anext(stream)
                nursery.cancel_scope.cancel()


async def test_a_stream_without_a_part_begins_again_after_a_kill_from_outside() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("waitingShell")) as stream:
            await stream.resolve("other", b"1")
            with trio.move_on_after(0.05):
                await anext(stream)
            os.kill(pool.statistics().pids[0], signal.SIGKILL)
            await wait_until(lambda: pool.statistics().retried == 1)
            await stream.resolve("shell", b'"again"')
            assert await collect(stream) == (b"again", b"")


async def test_resolved_values_are_sent_to_the_next_worker() -> None:
    async with open_pool() as pool:
        [pid] = pool.statistics().pids
        os.kill(pid, signal.SIGSTOP)
        async with pool.stream(0, state("waitingShell")) as stream:
            await stream.resolve("shell", b'"kept"')
            os.kill(pid, signal.SIGKILL)
            assert await collect(stream) == (b"kept", b"")


async def test_a_stream_that_has_begun_fails_with_its_worker() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("deferred", names=["one"])) as stream:
            await anext(stream)
            os.kill(pool.statistics().pids[0], signal.SIGKILL)
            with pytest.raises(RenderCrashed, match="SIGKILL"):
                await anext(stream)


async def test_kills_from_outside_are_not_held_against_streams() -> None:
    payload = state("deferred", names=["one"])
    async with open_pool() as pool:
        for kills in range(1, 4):
            async with pool.stream(0, payload) as stream:
                await anext(stream)
                os.kill(pool.statistics().pids[0], signal.SIGKILL)
                with pytest.raises(RenderCrashed):
                    await anext(stream)
            await wait_restarts(pool, kills)
        async with pool.stream(0, payload) as stream:
            await stream.resolve("one", b"1")
            assert (await collect(stream))[1] == b"<main><p>1</p></main>"


async def test_a_stream_that_kills_costs_a_worker_twice() -> None:
    async with open_pool() as pool:
        async with pool.stream(0, state("exit")) as stream:
            with pytest.raises(RenderCrashed, match="exited with code 5"):
                await anext(stream)
        assert pool.statistics().crashes == 1
        assert (await pool.render(0, state())).html
        assert pool.statistics().restarts == 2


async def test_renders_survive_a_stream_that_kills_later() -> None:
    answers = []

    async def ask() -> None:
        for _ in range(100):
            answers.append(await pool.render(0, state()))

    async with open_pool() as pool:
        async with pool.stream(0, state("exitLater")) as stream:
            await anext(stream)
            async with trio.open_nursery() as nursery:
                for _ in range(10):
                    nursery.start_soon(ask)
                await stream.resolve("go", b"1")
            with pytest.raises(RenderCrashed, match="exited with code 4"):
                await anext(stream)
    assert len(answers) == 1000


async def test_an_endless_loop_beside_a_stream_fails_at_its_deadline() -> None:
    async with open_pool(timeout=0.4) as pool:
        async with pool.stream(0, state("deferred", names=["one"])) as stream:
            await anext(stream)
            with pytest.raises(RenderTimeout):
                await pool.render(2, state("loop"))
            with pytest.raises(RenderCrashed, match="did not answer"):
                await anext(stream)


async def test_streams_that_outlive_the_pool_are_reported() -> None:
    with trio.fail_after(30):
        async with open_ssr_pool(bundle=PAGES) as pool:
            opened = pool.stream(0, state("deferred", names=["one"]))
            stream = await opened.__aenter__()
            await anext(stream)
        with pytest.raises(SsrDown, match="the pool is closed"):
            await anext(stream)
        await stream.resolve("one", b"1")
        await opened.__aexit__(None, None, None)
        with pytest.raises(SsrDown):
            async with pool.stream(0, state("nothing")):
                pytest.fail("opened")
