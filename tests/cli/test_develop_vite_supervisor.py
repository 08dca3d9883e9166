"""Node ends by itself: it is restarted, and the next process gets its orders."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from trio.testing import MockClock

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.develop.processes.launch import Ahead, ViteSettings
from fxtrio.develop.report.overlay_errors import OverlayProblem
from fxtrio.develop.vite import vite_supervisor
from fxtrio.develop.vite.vite_supervisor import ViteSupervisor

WRONG = OverlayProblem(title="a.fxl", message="wrong", file="", line=1, column=1, frame="")
SETTINGS = ViteSettings(root="", folder="", base="", toolchain="", sockets="")


@attrs.define(eq=False)
class Node:
    """A process, as far as `ViteSupervisor` asks for it."""

    settings: ViteSettings
    deadly: list[str]
    """Orders that end it, each once."""

    hung: bool = False
    ended: trio.Event = attrs.field(factory=trio.Event)
    orders: list[str] = attrs.field(factory=list)

    async def ask(self, op: str, **fields: Any) -> str:
        await trio.lowlevel.checkpoint()
        self.orders.append(op)
        if op in self.deadly:
            self.deadly.remove(op)
            self.ended.set()
        if self.ended.is_set():
            raise BundlerCrashed(-9, "")
        return op


@attrs.define(eq=False)
class Supervised:
    """One `ViteSupervisor`, with the processes that it has started."""

    vite: ViteSupervisor
    nodes: list[Node]
    messages: list[str]
    deadly: list[str]


@pytest.fixture
async def supervised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Supervised]:
    nodes: list[Node] = []
    messages: list[str] = []
    deadly: list[str] = []

    @asynccontextmanager
    async def open_vite(settings: ViteSettings, *_: object) -> AsyncIterator[Node]:
        await trio.sleep(0.2)
        nodes.append(Node(settings, deadly))
        yield nodes[-1]

    async def begin() -> None:
        await vite.start(SETTINGS)
        await vite.ask_now("site", {})

    async def packages(_: ViteSupervisor) -> bytes:  # for a thread the clock would not wait
        return b""

    monkeypatch.setattr(vite_supervisor, "open_vite", open_vite)
    monkeypatch.setattr(ViteSupervisor, "_packages_now", packages)
    async with trio.open_nursery() as nursery:
        vite = ViteSupervisor(tmp_path, nursery, Ahead(), messages.append, begin)
        await begin()
        yield Supervised(vite, nodes, messages, deadly)
        nursery.cancel_scope.cancel()


async def test_it_is_restarted_a_limited_number_of_times(
    supervised: Supervised, autojump_clock: MockClock
) -> None:
    for _ in range(4):
        supervised.nodes[-1].ended.set()
        await trio.sleep(1)

    assert [node.orders for node in supervised.nodes] == [["site"]] * 4
    assert supervised.messages[:3] == ["The bundler has exited, and restarts."] * 3
    assert supervised.messages[3:] == ["The bundler has exited again. Save a file to restart it."]
    async with trio.open_nursery() as nursery:  # several at the same time start but one
        for op in ("look", "problems", "change"):
            nursery.start_soon(supervised.vite.ask, op, {})
    assert len(supervised.nodes) == 5
    assert supervised.nodes[4].orders[0] == "site"
    assert sorted(supervised.nodes[4].orders[1:]) == ["change", "look", "problems"]
    await trio.sleep(60)
    supervised.nodes[4].ended.set()
    await trio.sleep(1)
    assert len(supervised.nodes) == 6


async def test_an_order_goes_to_the_next_one_and_no_further(
    supervised: Supervised, autojump_clock: MockClock
) -> None:
    supervised.deadly.append("change")
    assert await supervised.vite.ask("change", {}) == "change"
    assert [node.orders for node in supervised.nodes] == [["site", "change"], ["site", "change"]]

    supervised.deadly += ["look", "look"]
    with pytest.raises(BundlerCrashed):
        await supervised.vite.ask("look", {})
    assert len(supervised.nodes) == 3


async def test_the_next_one_shows_the_problems_of_before(
    supervised: Supervised, autojump_clock: MockClock
) -> None:
    for key in ("pages", "types"):
        supervised.vite.problems.put({key: [WRONG]})
        await supervised.vite.send_problems([key])
        await supervised.vite.send_problems()  # it has them
    assert supervised.nodes[0].orders == ["site", "problems", "problems"]

    supervised.vite.problems.put({"types": []})
    await supervised.vite.send_problems()
    supervised.nodes[0].ended.set()
    await trio.sleep(1)
    assert supervised.nodes[1].orders == ["site", "problems"]
