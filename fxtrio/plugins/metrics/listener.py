"""A listener of its own for the metrics, which answers nothing else.

Whoever collects metrics is no visitor: the app's address need not be open to him, nor this one
to visitors. It reads one request from a connection, answers it, and closes.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import h11
import trio

from fxtrio.plugins.metrics.worker_files import WorkerFiles
from fxtrio.tracebacks import trimmed

MOST = 8
"""Connections at a time; more wait to be accepted (count)."""

LIMIT = 10.0
"""How long a connection may last (seconds)."""

HEAD = 2.0
"""How long its request may take to arrive (seconds)."""

RETRY = 1.0
"""Time between two attempts to listen (seconds)."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

log = logging.getLogger("fx.app")

Answer = Callable[[], Awaitable[bytes]]


async def run_listener(bind: str, path: str, answer: Answer, files: WorkerFiles | None) -> None:
    """Serve the metrics at ``path`` of ``bind``, until cancelled.

    Of several processes one listens; when it ends, another one takes its place. An address that
    is in use is tried again: the server that this one replaces may still hold it.
    """
    claimed = None
    reported = False
    while files is not None and claimed is None:
        claimed = files.claim_serving()
        if claimed is None:
            await trio.sleep(RETRY)
    host, _, port = bind.rpartition(":")
    while True:
        try:
            listeners = await trio.open_tcp_listeners(int(port), host=host.strip("[]"))
        except OSError as error:
            if not reported:
                reported = True
                log.error(
                    "observability.metricsBind: cannot listen on %s: %s. Name another address, or "
                    "end what uses it. It is tried again until then.",
                    bind,
                    error.strerror or error,
                )
            await trio.sleep(RETRY)
            continue
        await _serve(listeners, path, answer)


async def _serve(listeners: list[trio.SocketListener], path: str, answer: Answer) -> None:
    slots = trio.Semaphore(MOST)
    async with trio.open_nursery() as nursery:
        for listener in listeners:
            nursery.start_soon(_accept, listener, slots, path, answer, nursery)


async def _accept(
    listener: trio.SocketListener,
    slots: trio.Semaphore,
    path: str,
    answer: Answer,
    nursery: trio.Nursery,
) -> None:
    async with listener:
        while True:
            await slots.acquire()
            try:
                stream = await listener.accept()
            except OSError:  # the process has no descriptor left, or the client is gone already
                slots.release()
                await trio.sleep(RETRY)
                continue
            nursery.start_soon(_converse, stream, slots, path, answer)


async def _converse(
    stream: trio.SocketStream, slots: trio.Semaphore, path: str, answer: Answer
) -> None:
    """Answer the one request of a connection."""
    try:
        with trio.move_on_after(LIMIT), suppress(trio.BrokenResourceError, h11.RemoteProtocolError):
            async with stream:
                await _answer(stream, path, answer)
    finally:
        slots.release()


async def _read_request(
    connection: h11.Connection, stream: trio.SocketStream
) -> h11.Request | None:
    """Return the request; None where there is none, or it does not arrive in time."""
    with trio.move_on_after(HEAD):
        while not isinstance(event := connection.next_event(), h11.Request):
            if event is not h11.NEED_DATA:
                return None
            connection.receive_data(await stream.receive_some())
        return event
    return None


async def _answer(stream: trio.SocketStream, path: str, answer: Answer) -> None:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=16 * 1024)
    event = await _read_request(connection, stream)
    if event is None:
        return
    requested = event.target.partition(b"?")[0].decode("latin-1")
    if requested != path:
        status, body = 404, f"Metrics are at {path}.\n".encode()
    elif event.method not in (b"GET", b"HEAD"):
        status, body = 405, b"Metrics are read by GET.\n"
    else:
        try:
            status, body = 200, await answer()
        except Exception as error:  # of metrics that the application has made, or of its database
            log.error("the metrics cannot be read", exc_info=trimmed(error))
            status, body = 500, b"The metrics cannot be read: see the log.\n"
    headers = [
        ("content-type", CONTENT_TYPE),
        ("content-length", str(len(body))),
        ("cache-control", "no-store"),
        ("connection", "close"),
    ]
    data = connection.send(h11.Response(status_code=status, headers=headers)) or b""
    await stream.send_all(data + (b"" if event.method == b"HEAD" else body))
