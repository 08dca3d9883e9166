"""What a worker has read stays what it was when it reads again, into the same buffer."""

from __future__ import annotations

import socket
import struct

import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.ssr.attached_renderer import AttachedNode
from fxtrio.ssr.frames import CHUNK, END, HAS_HEAD, HTML, Rendered, encode_frame
from fxtrio.ssr.render_worker import RenderWorker
from fxtrio.ssr.renders import DocumentRender, StreamRender
from fxtrio.ssr.statistics import Costs, Counters

LIMIT = 30.0
"""Longest time the test may take (seconds): a hang is a failure."""


class Owner:
    """Of one worker, which always has room."""

    def __init__(self) -> None:
        self.costs = Costs()
        self.counters = Counters()

    def worker_has_room(self, worker: RenderWorker) -> None:
        """Have no more renders for it."""


def text(first: int, size: int) -> bytes:
    """Return bytes that are nowhere the same."""
    return b"".join(b"%08d" % number for number in range(first, first + size // 8))


async def test_html_and_chunks_stay_when_more_is_read() -> None:
    long, html = text(0, 300_000), text(50_000, 40_000)  # the first takes more than one read
    part, last = text(100_000, 40_000), text(200_000, 40_000)
    head = struct.pack("<I", 4) + b"head"
    near, far = socket.socketpair()
    near.setblocking(False)
    worker, stream = RenderWorker(AttachedNode(near), Owner()), StreamRender(1, b"")
    rendered: list[Rendered] = []

    async def render() -> None:
        for _ in range(2):
            document = DocumentRender(0, b"", trio.lowlevel.current_task(), forget=lambda _: None)
            worker.begin(document)
            rendered.append(await trio.lowlevel.wait_task_rescheduled(document.abort))

    with near, trio.fail_after(LIMIT):
        async with (
            trio.open_nursery() as nursery,
            trio.SocketStream(trio.socket.from_stdlib_socket(far)) as node,
        ):
            worker.begin(stream)
            nursery.start_soon(render)
            nursery.start_soon(worker.read)
            for frames in (
                encode_frame(HTML, 2, 0, head + long),
                encode_frame(HTML, 3, 0, head + html),
                encode_frame(CHUNK, 1, 0, head + part, HAS_HEAD) + encode_frame(CHUNK, 1, 0, last),
                encode_frame(CHUNK, 9, 0, bytes(500_000)) + encode_frame(END, 1, 0, b""),
            ):
                await wait_all_tasks_blocked()  # it has read all that was sent before
                await node.send_all(frames)
            parts = [await stream.take() for _ in range(3)]
    assert rendered == [Rendered(b"head", long), Rendered(b"head", html)]
    assert parts == [Rendered(b"head", part), Rendered(b"", last), None]
