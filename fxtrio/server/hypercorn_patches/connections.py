"""Defects of Hypercorn's connection: what escapes from it, holds it up, or outlives its client.

Its HTTP/2 has so many that all of it is replaced.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import trio

from fxtrio.send_budget import Unread
from fxtrio.server.http1.hypercorn_adapter import limits_of
from fxtrio.server.http1.limits import ServerLimits
from fxtrio.server.hypercorn_patches.source import source_of
from fxtrio.tracebacks import first_of

_log = logging.getLogger("fx.server")

_WRITTEN_AT_ONCE = 64 * 1024
_LINE = 200  # characters

_HTTP2_DEFECTS = (
    "await self.streams[event.stream_id].handle(\n                    Body",
    "except (h2.exceptions.StreamClosedError, KeyError, h2.exceptions.ProtocolError):",
    "self.priority.insert_stream(\n                stream_id=event.stream_id,",
    'method = value.decode("ascii").upper()',
)
"""Lines of Hypercorn's HTTP/2, each a defect: without one, it is not what was examined."""


def errors_escape() -> bool:
    """Return whether an exception leaves a connection."""
    from hypercorn.trio.tcp_server import TCPServer

    source = source_of(TCPServer.run)
    return "except OSError" in source and "except Exception" not in source


def contain_errors() -> None:
    """End the connection instead, with a line in the log."""
    from hypercorn.trio.tcp_server import TCPServer

    run = TCPServer.run

    async def contained(self: TCPServer) -> None:
        try:
            await run(self)
        except* Exception as group:
            # One line: whoever sends such bytes must not fill the log.
            _log.error("a connection was dropped: %.*r", _LINE, first_of(group))

    TCPServer.run = contained  # type: ignore[method-assign]


def sends_are_endless() -> bool:
    """Return whether a write may last for ever."""
    from hypercorn.trio.tcp_server import TCPServer

    source = source_of(TCPServer.protocol_send)
    return "shield = True" in source and "deadline" not in source and "_after" not in source


def bound_sends() -> None:
    """Limit each piece of a write, and let the end of the worker end it."""
    from hypercorn.events import Closed, RawData
    from hypercorn.trio.tcp_server import TCPServer

    send = TCPServer.protocol_send

    async def bounded(self: TCPServer, event: Any) -> None:
        if not isinstance(event, RawData):
            return await send(self, event)
        is_closed = False
        async with self.send_lock:
            # A task of the connection writes: the application's own cancellation must not
            # cut a frame in two, but the end of the worker must end this.
            written = trio.Event()
            nursery: trio.Nursery | None = self._task_group._nursery
            if nursery is None:
                return None
            results: list[bool] = []
            limits = limits_of(self.config)
            nursery.start_soon(_write, self.stream, event.data, limits, results, written)
            with trio.CancelScope(shield=True):
                await written.wait()
            is_closed = results != [True]
        if is_closed:
            await self.protocol.handle(Closed())
        return None

    TCPServer.protocol_send = bounded  # type: ignore[method-assign]


async def _write(
    stream: Any, data: bytes, limits: ServerLimits, results: list[bool], written: trio.Event
) -> None:
    view = memoryview(data)
    with trio.CancelScope() as writing:
        unread = Unread("", writing.cancel)
        try:
            for start in range(0, len(view), _WRITTEN_AT_ONCE):
                if start:  # the first piece is mostly taken at once
                    unread.taken += _WRITTEN_AT_ONCE
                    if start == _WRITTEN_AT_ONCE:
                        unread.hold(data)
                    if unread.is_too_slow(
                        trio.current_time(), limits.write_stall, limits.write_rate
                    ):
                        raise trio.TooSlowError
                with trio.fail_after(limits.write_stall):
                    await stream.send_all(view[start : start + _WRITTEN_AT_ONCE])
            results.append(True)
        except trio.TooSlowError:
            await trio.aclose_forcefully(stream)
        except (
            *(trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError),
            OSError,
        ):
            return
        finally:
            unread.clear()
            written.set()
    if writing.cancelled_caught:
        await trio.aclose_forcefully(stream)


def idle_stays() -> bool:
    """Return whether the timer of an idle connection outlives its reading."""
    from hypercorn.trio.tcp_server import TCPServer

    return "idle_task" not in source_of(TCPServer._read_data)


def end_idle() -> None:
    """Stop that timer when nothing more is read."""
    from hypercorn.trio.tcp_server import TCPServer

    read = TCPServer._read_data

    async def reading(self: TCPServer) -> None:
        await read(self)
        await self.idle_task.stop()

    TCPServer._read_data = reading  # type: ignore[method-assign]


def reading_waits_for_ever() -> bool:
    """Return whether reading goes on after a response alone, whatever becomes of that."""
    from hypercorn.protocol.h11 import H11Protocol

    waits = "can_read.wait()" in source_of(H11Protocol._handle_events)
    return waits and "can_read" not in source_of(H11Protocol.handle)


def end_reading() -> None:
    """Take no further request of a connection that is closed, and wait for none."""
    import h11
    from hypercorn.events import Closed
    from hypercorn.protocol.h11 import H11Protocol

    handle = H11Protocol.handle

    async def handling(self: H11Protocol, event: Any) -> None:
        await handle(self, event)
        if isinstance(event, Closed):
            self.connection.next_event = lambda: h11.NEED_DATA  # type: ignore[method-assign]
            await self.can_read.set()

    H11Protocol.handle = handling  # type: ignore[method-assign]


def disconnect_is_hidden() -> bool:
    """Return whether messages are taken from a channel with a checkpoint before."""
    from hypercorn.trio.task_group import TaskGroup

    return "app_receive_channel.receive," in source_of(TaskGroup.spawn_app)


def show_disconnect() -> None:
    """Let messages wait in a `ReceiveQueue`, whose reader sees a disconnect at once."""
    from hypercorn.trio import task_group

    from fxtrio.server.http2.receive_queue import ReceiveQueue, run_application

    async def spawn_app(self: Any, app: Any, config: Any, scope: Any, send: Any) -> Any:
        queue = ReceiveQueue()
        self._nursery.start_soon(run_application, app, config, scope, queue, send)
        return queue.put

    task_group.TaskGroup.spawn_app = spawn_app  # type: ignore[method-assign]


def _streams() -> tuple[Any, ...]:
    from hypercorn.protocol import http_stream, ws_stream

    return http_stream, ws_stream


def durations_go_back() -> bool:
    """Return whether a clock that is set back makes durations in the access log negative."""
    sources = [source_of(module) for module in _streams()]
    return all(module.time is time.time for module in _streams()) and all(
        source.count("time()") == 1 + source.count("time() - self.start_time") for source in sources
    )


def measure_durations() -> None:
    """Measure durations by a clock that only goes on."""
    for module in _streams():
        module.time = time.monotonic


def http2_is_open() -> bool:
    """Return whether HTTP/2 is the one that was examined."""
    import hypercorn.protocol

    source = source_of(getattr(hypercorn.protocol, "H2Protocol"))  # noqa: B009  # not exported
    return all(line in source for line in _HTTP2_DEFECTS)


def guard_http2() -> None:
    """Put our protocol in its place."""
    import hypercorn.protocol

    from fxtrio.server.http1.hypercorn_adapter import limits_of
    from fxtrio.server.http2.protocol import GuardedProtocol

    def make(app: Any, config: Any, *others: Any) -> GuardedProtocol:
        return GuardedProtocol(app, config, *others, limits=limits_of(config))

    setattr(hypercorn.protocol, "H2Protocol", make)  # noqa: B010  # as above
