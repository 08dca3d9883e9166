"""Orders to Node: who gives one up hurts neither whoever answers nor the next one."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.develop.processes.launch import ViteSettings
from fxtrio.develop.processes.line_stream import read_lines
from fxtrio.develop.vite import vite_supervisor
from fxtrio.develop.vite.vite import OrderVoid, Vite

TIMES = 40
"""Which of two tasks comes first is left to chance."""

SETTINGS = ViteSettings(root="", folder="", base="", toolchain="", sockets="")


@attrs.frozen(eq=False)
class FakeProcess:
    """Node, as far as `Vite` asks for it."""

    stdin: Any
    stdout: Any
    stderr: Any = None
    returncode: int | None = None
    process: Any = attrs.field(factory=lambda: SimpleNamespace(pid=4321))
    ended: trio.Event = attrs.field(factory=trio.Event)

    async def wait(self) -> None:
        await self.ended.wait()


async def test_an_answer_to_an_order_that_was_abandoned_is_dropped() -> None:
    for _ in range(TIMES):
        orders, _ = trio.testing.memory_stream_one_way_pair()
        answers, child_output = trio.testing.memory_stream_one_way_pair()
        vite = Vite(SETTINGS, FakeProcess(stdin=orders, stdout=child_output))  # type: ignore[arg-type]
        ready, _ = trio.open_memory_channel[Any](1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(vite.begin, ready)
            abandoned = trio.CancelScope()

            async def ask(scope: trio.CancelScope = abandoned, vite: Vite = vite) -> None:
                with scope:
                    await vite.ask("look")

            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            abandoned.cancel()
            await answers.send_all(b'{"id": 1, "done": {}}\n')
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(answers.send_all, b'{"id": 2, "done": 3}\n')
            assert await vite.ask("site") == 3
            nursery.cancel_scope.cancel()


async def test_an_order_that_is_abandoned_while_it_is_sent_is_sent_whole() -> None:
    orders, heard = trio.testing.lockstep_stream_one_way_pair()
    answers, child_output = trio.testing.memory_stream_one_way_pair()
    vite = Vite(SETTINGS, FakeProcess(stdin=orders, stdout=child_output))  # type: ignore[arg-type]
    lines = b""
    async with trio.open_nursery() as nursery:
        abandoned = trio.CancelScope()

        async def ask() -> None:
            with abandoned:
                await vite.ask("look", files=["one", "two"])
            await vite.ask("site")

        nursery.start_soon(ask)
        lines += bytes(await heard.receive_some(5))
        abandoned.cancel()
        with trio.fail_after(5):
            while lines.count(b"\n") < 2:
                lines += bytes(await heard.receive_some(5))
        nursery.cancel_scope.cancel()
    first, second = map(json.loads, lines.splitlines())
    assert (first["files"], second["op"]) == (["one", "two"], "site")
    await answers.aclose()


async def test_an_order_may_take_long_in_a_process_that_responds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    orders, heard = trio.testing.memory_stream_one_way_pair()
    answers, child_output = trio.testing.memory_stream_one_way_pair()
    vite = Vite(SETTINGS, FakeProcess(stdin=orders, stdout=child_output))  # type: ignore[arg-type]
    ready, _ = trio.open_memory_channel[Any](1)

    async def respond() -> None:
        async for line in read_lines(heard):
            order = json.loads(line)
            if order["op"] == "ping":
                await answers.send_all(b'{"id": %d, "done": {}}\n' % order["id"])
        await answers.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(vite.begin, ready)
        nursery.start_soon(respond)
        with trio.move_on_after(200) as bundling:
            await vite.ask("change")
        nursery.cancel_scope.cancel()
    assert bundling.cancelled_caught
    assert not vite.hung


async def test_a_process_that_does_not_respond_is_killed(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, _ = trio.testing.memory_stream_one_way_pair()
    answers, child_output = trio.testing.memory_stream_one_way_pair()
    process = FakeProcess(stdin=orders, stdout=child_output)
    vite = Vite(SETTINGS, process)  # type: ignore[arg-type]
    ready, _ = trio.open_memory_channel[Any](1)
    killed: list[tuple[int, int]] = []

    def kill(group: int, number: int) -> None:
        killed.append((group, number))
        process.ended.set()
        answers.close()

    monkeypatch.setattr("os.killpg", kill)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(vite.begin, ready)
        with trio.fail_after(10), pytest.raises(BundlerCrashed):
            await vite.ask("change")
    assert killed == [(process.process.pid, signal.SIGKILL)]
    assert vite.hung


async def test_orders_are_void_when_the_process_is_abandoned() -> None:
    orders, heard = trio.testing.memory_stream_one_way_pair()
    answers, child_output = trio.testing.memory_stream_one_way_pair()
    vite = Vite(SETTINGS, FakeProcess(stdin=orders, stdout=child_output))  # type: ignore[arg-type]
    void: list[str] = []

    async def ask(op: str) -> None:
        with pytest.raises(OrderVoid):
            await vite.ask(op)
        void.append(op)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, "look")
        await trio.testing.wait_all_tasks_blocked()
        vite.give_up()
        await orders.aclose()
    await ask("warm")
    assert void == ["look", "warm"]
    await heard.aclose()
    await answers.aclose()


async def test_what_could_not_be_restarted_is_started_by_the_next_who_needs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    failing = {"other"}

    @asynccontextmanager
    async def opening(settings: ViteSettings, *_: object) -> AsyncIterator[Vite]:
        opened.append(settings.base)
        if settings.base in failing:
            raise BundlerCrashed(1, "its folder is away")
        yield Vite(settings, FakeProcess(stdin=None, stdout=None))  # type: ignore[arg-type]

    monkeypatch.setattr(vite_supervisor, "open_vite", opening)
    (tmp_path / "runtime").mkdir()
    async with trio.open_nursery() as nursery:
        nothing: Any = None
        node = vite_supervisor.ViteSupervisor(tmp_path, nursery, nothing, nothing, nothing)
        first = attrs.evolve(SETTINGS, folder=str(tmp_path), base="first")
        other = attrs.evolve(first, base="other")
        assert await node.start(first)
        with pytest.raises(BundlerCrashed):
            await node.start(other)
        assert not node.runs
        failing.clear()
        assert await node.start(first)
        assert node.runs
        nursery.cancel_scope.cancel()
    assert opened == ["first", "other", "first"]
