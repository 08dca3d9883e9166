"""One SSR worker as the pool sees it: renders go in, replies wake their tasks.

`RenderWorker` communicates with a process that `worker_lifecycle` runs; renders come from
`scheduler`, which is notified when the worker has room for more.
"""

from __future__ import annotations

from typing import Final, Protocol

import msgspec
import trio

from fxtrio.ssr.attached_renderer import AttachedNode
from fxtrio.ssr.errors import FrameSizeInvalid, RenderFailed
from fxtrio.ssr.frames import (
    ABORT,
    CHUNK,
    END,
    ERROR,
    HAS_HEAD,
    HTML,
    PING,
    PONG,
    READY,
    RENDER,
    RESOLVE,
    STREAM,
    TIME_UNIT,
    FrameReader,
    Rendered,
    RenderFrame,
    encode_credit,
    encode_frame,
    split_rendered,
)
from fxtrio.ssr.process.node_process import NodeProcess
from fxtrio.ssr.renders import AnyRender, DocumentRender, StreamRender
from fxtrio.ssr.statistics import Costs, Counters

READ_SIZE: Final = 256 * 1024
"""Bytes taken from the socket at once: more than a worker writes at once, as far as the kernel has
room for it. Read into one buffer, since new memory of that size takes 25 µs each time."""

_SHORT: Final = 8 * 1024
"""Bytes up to which to copy what was read takes less time than to divide a view of it."""

OUT_LIMIT: Final = 1024 * 1024
"""Unsent bytes above which a worker gets no more renders, and a RESOLVE waits."""

_LAST_ID: Final = 0xFFFFFFFF


class _Thrown(msgspec.Struct):
    """The payload of an ERROR."""

    name: str
    message: str
    stack: str

    def error(self) -> RenderFailed:
        return RenderFailed(self.message, self.stack, self.name)


class _Ready(msgspec.Struct):
    """The used part of the payload of a READY."""

    buildId: str = ""  # as it is on the wire


_ERROR: Final = msgspec.json.Decoder(_Thrown)
_READY: Final = msgspec.json.Decoder(_Ready)


class Owner(Protocol):
    """Callbacks of a worker, from its reading or writing task; they never wait."""

    costs: Costs
    counters: Counters

    def worker_has_room(self, worker: RenderWorker) -> None:
        """``worker`` has replied, or sent its pending frames."""


class RenderWorker:
    """Renders in order of arrival. Valid until its process has ended.

    Every started render stays in `pending` until its last reply, even if its task was
    cancelled: `pending` is the remaining work of the process.
    """

    def __init__(self, node: NodeProcess | AttachedNode, owner: Owner) -> None:
        self.node = node
        self.owner = owner

        self.pending: dict[int, AnyRender] = {}
        """Renders by the id of their request, oldest first."""

        self.load = 0.0
        """Estimated work of the pending renders (microseconds)."""

        self.alone = False
        """Whether it has one suspicious render, and gets no other one before it has ended."""

        self.retired = False
        """Whether it only finishes its pending renders."""

        self.ready = trio.Event()
        """Set once the bundle is loaded."""

        self.heard = 0
        """How many times something has been read from the process."""

        self.build_id = ""
        """The bundle's own name; known when `ready`."""

        self.cause = ""
        """Why this side has ended the process; empty if it has not."""

        self.hung = False
        """Whether that was because it did not respond."""

        self._frames = FrameReader()
        self._out = bytearray()
        self._unsent = trio.Event()
        self._room = trio.lowlevel.ParkingLot()
        self._last_id = 0
        self._pinged = False
        self._ended = False

    @property
    def congested(self) -> bool:
        """Whether the process reads more slowly than it is written to."""
        return len(self._out) > OUT_LIMIT

    def begin(self, render: AnyRender) -> None:
        """Hand ``render`` to the process without waiting.

        If the process has just ended, the render stays pending and is placed again with the
        others when that is noticed.
        """
        self._last_id = id = self._last_id + 1 if self._last_id < _LAST_ID else 1
        cost = self.owner.costs.of(render.page)
        render.cost = cost
        render.placed = True
        self.load += cost
        self.pending[id] = render
        if isinstance(render, DocumentRender):
            self._write(encode_frame(RENDER, id, render.page, render.payload))
        else:
            render.worker, render.id = self, id
            self._write(encode_frame(STREAM, id, render.page, render.payload))
            for flags, settled in render.settled:
                self._write(encode_frame(RESOLVE, id, 0, settled, flags))

    def credit(self, id: int, size: int) -> None:
        """Let the process send ``size`` more bytes of a stream."""
        self._write(encode_credit(id, size))

    def abort(self, id: int) -> None:
        """Tell the process to abort a stream; it confirms with the stream's end."""
        self._write(encode_frame(ABORT, id, 0, b""))

    async def settle(self, id: int, flags: int, payload: bytes) -> None:
        """Send a RESOLVE, and wait until the process has read most of the sent data."""
        self._write(encode_frame(RESOLVE, id, 0, payload, flags))
        while self.congested and not self._ended:
            await self._room.park()

    def ping(self) -> None:
        """Ask for a sign of life, unless one is on its way."""
        if not self._pinged:
            self._pinged = True
            self._write(encode_frame(PING, 0, 0, b""))

    def kill(self, cause: str, *, hung: bool = False) -> None:
        """End the process; ``cause`` completes "the worker ..."."""
        if not self.cause:
            self.cause, self.hung = cause, hung
            self.node.kill()

    def close(self) -> list[tuple[int, AnyRender]]:
        """Return the renders without a reply, oldest first. The process has ended."""
        left = list(self.pending.items())
        self.pending.clear()
        self._ended = True
        self._room.unpark_all()
        return left

    async def read(self) -> None:
        """Deliver replies, until the process has closed its end."""
        receive, wait_readable = self.node.socket.recv_into, trio.lowlevel.wait_readable
        buffer = memoryview(bytearray(READ_SIZE))
        while True:
            await wait_readable(self.node.socket)
            try:
                size = receive(buffer)
            except BlockingIOError:
                continue
            except ConnectionError:
                return
            if not size:
                return
            self.heard += 1
            data = buffer[:size]
            try:
                self._receive(data if size > _SHORT else bytes(data))
            except (FrameSizeInvalid, msgspec.DecodeError) as error:
                self.kill(f"sent an invalid message ({error})")
                return
            if not self.pending:
                self.load = 0.0  # without rounding errors
            self.owner.worker_has_room(self)

    async def write(self) -> None:
        """Send buffered frames. Runs as long as the process does."""
        send = self.node.socket.send
        while True:
            await self._unsent.wait()
            self._unsent = trio.Event()
            while self._out:
                try:
                    del self._out[: send(self._out)]
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(self.node.socket)
                except ConnectionError:
                    return  # the reading task meets the end of the file
                if not self.congested:
                    self._room.unpark_all()
            self.owner.worker_has_room(self)

    def _write(self, frame: bytes) -> None:
        """Send a frame: at once to an idle process, else together with others.

        A busy process loses no time by that, and one call for many frames makes an exchange
        cheaper (`benchmarks/ssr_exchange.py`: 8 instead of 10 µs).
        """
        if self._out or len(self.pending) > 1:
            self._out += frame
            self._unsent.set()
            return
        try:
            sent = self.node.socket.send(frame)
        except BlockingIOError:
            sent = 0
        except ConnectionError:
            return  # the reading task meets the end of the file
        if sent < len(frame):
            self._out += memoryview(frame)[sent:]
            self._unsent.set()

    def _receive(self, data: bytes | memoryview) -> None:
        for frame in self._frames.feed(data):
            if frame.type == HTML:
                self._finish_render(frame)
            elif frame.type == CHUNK:
                self._add_chunk(frame)
            elif frame.type == END or frame.type == ERROR:
                self._end(frame)
            elif frame.type == PONG:
                self._pinged = False
            elif frame.type == READY:
                self.build_id = _READY.decode(frame.payload).buildId
                self.ready.set()

    def _finish_render(self, frame: RenderFrame) -> None:
        rendered = split_rendered(frame.payload)
        render = self.pending.pop(frame.id, None)
        if isinstance(render, DocumentRender):
            owner = self.owner
            owner.costs.learn(render.page, frame.page * TIME_UNIT)
            owner.counters.rendered += 1
            owner.counters.pending -= 1
            self.load -= render.cost
            render.finish(rendered)

    def _add_chunk(self, frame: RenderFrame) -> None:
        has_head = frame.flags & HAS_HEAD
        part = split_rendered(frame.payload) if has_head else Rendered(b"", bytes(frame.payload))
        render = self.pending.get(frame.id)
        if isinstance(render, StreamRender):
            self.load -= render.cost  # its remaining work comes in small pieces
            render.cost = 0.0
            render.add(part)

    def _end(self, frame: RenderFrame) -> None:
        render = self.pending.pop(frame.id, None)
        if render is None:
            return
        self.load -= render.cost
        self.owner.counters.pending -= 1
        if frame.type == ERROR:
            self.owner.counters.failed += 1
            render.fail(_ERROR.decode(frame.payload).error())
        elif isinstance(render, StreamRender):
            self.owner.counters.rendered += 1
            render.end()
