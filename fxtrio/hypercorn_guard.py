"""Mends Hypercorn's own trio worker while an application of ours runs in it.

Takes nothing, changes classes of Hypercorn 0.18, and returns which defects it closed.
Called by `create_app`, so that ``hypercorn --worker-class trio app:app`` is safe, and by
`fx serve` for the HTTP/2 connections that it leaves to Hypercorn.

Each `Patch` names the defect it stands for, and recognises it in Hypercorn's source:
where that has changed, upstream has answered it, and the patch stays off.
"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable
from typing import Any

import attrs
import trio

from fxtrio.errors import ClientDisconnected

_log = logging.getLogger("fx.server")

_VERSIONS = ("0.18.",)
"""The releases that were examined; others are left as they are."""

_STALL = 30.0
"""Seconds in which a client must accept a piece of an answer."""

_PIECE = 64 * 1024
_MARK = "__fx_guard__"


@attrs.frozen
class Patch:
    """A way around one defect."""

    defect: str
    """What goes wrong without it, and where upstream knows of it."""

    present: Callable[[], bool]
    """Whether the installed source still has it."""

    apply: Callable[[], None]


def install_guard() -> tuple[str, ...]:
    """Close the known defects of Hypercorn's trio worker; return the names of those closed.

    Does nothing in a process in which Hypercorn's trio worker is not loaded, and
    nothing the second time.
    """
    server = sys.modules.get("hypercorn.trio.tcp_server")
    if server is None:
        return ()
    done: tuple[str, ...] | None = getattr(server, _MARK, None)
    if done is not None:
        return done
    # Heavy, and only needed beside Hypercorn.
    from importlib.metadata import version

    installed = version("hypercorn")
    if not installed.startswith(_VERSIONS):
        _log.info("Hypercorn %s is not one that the guard knows: nothing is changed", installed)
        return ()
    closed = []
    for name, patch in PATCHES.items():
        if patch.present():
            patch.apply()
            closed.append(name)
    setattr(server, _MARK, tuple(closed))
    return tuple(closed)


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # no source, or replaced by something else
        return ""


# One connection ends the worker


def _errors_escape() -> bool:
    from hypercorn.trio.tcp_server import TCPServer

    source = _source(TCPServer.run)
    return "except OSError" in source and "except Exception" not in source


def _contain_errors() -> None:
    from hypercorn.trio.tcp_server import TCPServer

    run = TCPServer.run

    async def contained(self: TCPServer) -> None:
        try:
            await run(self)
        except* Exception as group:
            # One line: whoever sends such bytes must not fill the log.
            _log.error("a connection was dropped: %r", _first(group))

    TCPServer.run = contained  # type: ignore[method-assign]


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


# A client that does not read


def _sends_are_endless() -> bool:
    from hypercorn.trio.tcp_server import TCPServer

    source = _source(TCPServer.protocol_send)
    return "shield = True" in source and "deadline" not in source and "_after" not in source


def _bound_sends() -> None:
    from hypercorn.events import Closed, RawData
    from hypercorn.trio.tcp_server import TCPServer

    send = TCPServer.protocol_send

    async def bounded(self: TCPServer, event: Any) -> None:
        if not isinstance(event, RawData):
            return await send(self, event)
        gone = False
        async with self.send_lock:
            # A task of the connection writes: the application's own cancellation must not
            # cut a frame in two, but the end of the worker must end this.
            written = trio.Event()
            nursery: trio.Nursery | None = self._task_group._nursery
            if nursery is None:
                return None
            results: list[bool] = []
            nursery.start_soon(_write, self.stream, event.data, results, written)
            with trio.CancelScope(shield=True):
                await written.wait()
            gone = results != [True]
        if gone:
            await self.protocol.handle(Closed())
        return None

    TCPServer.protocol_send = bounded  # type: ignore[method-assign]


async def _write(stream: Any, data: bytes, results: list[bool], written: trio.Event) -> None:
    view = memoryview(data)
    try:
        for start in range(0, len(view), _PIECE):
            with trio.fail_after(_STALL):
                await stream.send_all(view[start : start + _PIECE])
        results.append(True)
    except trio.TooSlowError:
        await trio.aclose_forcefully(stream)
    except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError, OSError):
        return
    finally:
        written.set()


# A disconnect that cannot be asked for


def _disconnect_is_hidden() -> bool:
    from hypercorn.trio.task_group import TaskGroup

    return "app_receive_channel.receive," in _source(TaskGroup.spawn_app)


def _show_disconnect() -> None:
    from hypercorn.trio import task_group

    async def spawn_app(self: Any, app: Any, config: Any, scope: Any, send: Any) -> Any:
        put, take = trio.open_memory_channel[Any](config.max_app_queue_size)

        async def receive() -> Any:
            # Starlette asks in a cancelled scope: only what is there already counts.
            try:
                return take.receive_nowait()
            except trio.WouldBlock:
                return await take.receive()

        self._nursery.start_soon(
            task_group._handle,
            app,
            config,
            scope,
            receive,
            send,
            trio.to_thread.run_sync,
            trio.from_thread.run,
        )
        return put.send

    task_group.TaskGroup.spawn_app = spawn_app  # type: ignore[method-assign]


# The close code of the other side


def _close_code_is_lost() -> bool:
    from hypercorn.protocol.ws_stream import WSStream

    return "event.code" not in _source(WSStream._handle_events) and "ABNORMAL_CLOSURE" in _source(
        WSStream.handle
    )


def _keep_close_code() -> None:
    from hypercorn.protocol.events import StreamClosed
    from hypercorn.protocol.ws_stream import WSStream
    from wsproto.events import CloseConnection

    handle, handle_events = WSStream.handle, WSStream._handle_events

    async def noting(self: Any) -> None:
        connection = self.connection
        events = connection.events

        def noted() -> Any:
            for event in events():
                if isinstance(event, CloseConnection):
                    code = 1005 if event.code is None else int(event.code)
                    self._fx_close = (code, event.reason or "")
                yield event

        connection.events = noted
        try:
            await handle_events(self)
        finally:
            connection.events = events

    async def telling(self: Any, event: Any) -> None:
        close = getattr(self, "_fx_close", None)
        if close is None or self.closed or not isinstance(event, StreamClosed):
            return await handle(self, event)
        self.closed = True
        if self.app_put is not None:
            code, reason = close
            await self.app_put({"type": "websocket.disconnect", "code": code, "reason": reason})
        return None

    WSStream._handle_events = noting  # type: ignore[method-assign]
    WSStream.handle = telling  # type: ignore[method-assign]


# A loop that only sends


def _sends_go_nowhere() -> bool:
    from hypercorn.protocol.ws_stream import WSStream

    source = _source(WSStream.app_send)
    return "if self.closed:" in source and "raise" not in source.split("if message is None")[0]


def _refuse_sends() -> None:
    from hypercorn.protocol.ws_stream import WSStream

    send = WSStream.app_send

    async def refusing(self: Any, message: Any) -> None:
        if self.closed and message is not None and message["type"] == "websocket.send":
            # Without this the loop never waits again, and the worker serves nobody else.
            await trio.lowlevel.checkpoint()
            raise ClientDisconnected
        await send(self, message)
        if message is not None and message["type"] == "websocket.send":
            await trio.lowlevel.checkpoint()

    WSStream.app_send = refusing  # type: ignore[method-assign]


PATCHES = {
    "errors": Patch(
        "an exception in one connection ends every worker, with exit code 0 "
        "(pgjones/hypercorn issues 225 and 177)",
        _errors_escape,
        _contain_errors,
    ),
    "stalled": Patch(
        "a client that does not read makes the worker deaf to SIGTERM: "
        "sends are shielded and have no deadline",
        _sends_are_endless,
        _bound_sends,
    ),
    "disconnected": Patch(
        "is_disconnected() never turns true on trio (pgjones/hypercorn issue 210)",
        _disconnect_is_hidden,
        _show_disconnect,
    ),
    "close code": Patch(
        "a WebSocket's close code reaches the application as 1006 (pgjones/hypercorn issue 127)",
        _close_code_is_lost,
        _keep_close_code,
    ),
    "send loop": Patch(
        "a handler that only sends freezes the worker once its client has left: "
        "sends after the end return at once, without an error",
        _sends_go_nowhere,
        _refuse_sends,
    ),
}
"""The defects by name, in the order in which they are closed."""
