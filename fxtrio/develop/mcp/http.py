"""One request to the server of `fx dev` on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import attrs
import h11
import trio

from fxtrio.develop.mcp.tools import ToolFailed

MOST = 16 * 1024 * 1024
"""The most that is read of a response (bytes)."""


@attrs.frozen
class Answer:
    """A response."""

    status: int
    request_id: str
    body: bytes


async def request(method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
    """Return the response. Raises OSError without a server, and ToolFailed for a broken one."""
    parts = urlsplit(url)
    sent = [("host", parts.netloc), ("connection", "close"), *headers.items()]
    sent += [("content-length", str(len(body)))] if body else []
    connection = h11.Connection(h11.CLIENT)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    data = connection.send(h11.Request(method=method, target=target, headers=sent)) or b""
    data += (connection.send(h11.Data(data=body)) or b"") if body else b""
    data += connection.send(h11.EndOfMessage()) or b""
    stream = await trio.open_tcp_stream(parts.hostname or "", parts.port or 80)
    try:
        async with stream:
            await stream.send_all(data)
            return await _read(connection, stream)
    except (h11.RemoteProtocolError, trio.BrokenResourceError) as error:
        raise ToolFailed("the server closed the connection. Is it being restarted?") from error


async def _read(connection: h11.Connection, stream: trio.SocketStream) -> Answer:
    status, request_id, body = 0, "-", bytearray()
    while not isinstance(event := connection.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Response):
            status = event.status_code
            request_id = dict(event.headers).get(b"x-request-id", b"-").decode("latin-1")
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MOST:
                raise ToolFailed(f"the response is longer than {MOST} bytes.")
    return Answer(status, request_id, bytes(body))
