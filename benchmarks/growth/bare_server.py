"""A server of Trio alone: the least that a WebSocket costs. ``python -m …bare_server PORT``.

One task for each connection, which reads the request, answers that it becomes a WebSocket, and
waits for the end. Garbage is collected as seldom as by `fx serve`.
"""

from __future__ import annotations

import sys

import trio

from fxtrio.server.supervise.garbage import collect_seldom

_SWITCHING = (
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
    b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
_BACKLOG = 1024
_READ = 64 * 1024


async def serve(stream: trio.SocketStream) -> None:
    """Serve one client."""
    try:
        await stream.receive_some(_READ)
        await stream.send_all(_SWITCHING)
        await stream.receive_some(_READ)
    except trio.BrokenResourceError:
        pass  # it has left without a word


async def main(port: int) -> None:
    """Serve until the process is ended."""
    listeners = await trio.open_tcp_listeners(port, host="127.0.0.1", backlog=_BACKLOG)
    await trio.serve_listeners(serve, listeners)


if __name__ == "__main__":
    collect_seldom()
    trio.run(main, int(sys.argv[1]))
