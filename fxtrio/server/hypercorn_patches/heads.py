"""Defects of Hypercorn's HTTP/1.1: heads that it takes, and should not, or sends incomplete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fxtrio.server.header_fields import is_host, repeated
from fxtrio.server.http1.hypercorn_adapter import takes_h2c
from fxtrio.server.hypercorn_patches.source import source_of


def fields_repeat() -> bool:
    """Return whether a request reaches the application with whatever fields it has."""
    from hypercorn.protocol.h11 import H11Protocol

    source = source_of(H11Protocol._create_stream)
    return "headers = list(request.headers)" in source and "_send_error_response" not in source


def reject_repeated_fields() -> None:
    """Answer 400, and close, when what must stand alone does not, or the host is none."""
    from hypercorn.events import Closed
    from hypercorn.protocol.h11 import H11Protocol

    create = H11Protocol._create_stream

    async def checking(self: Any, request: Any) -> None:
        hosts = [value for name, value in request.headers if name == b"host"]
        if repeated(request.headers) is None and all(map(is_host, hosts)):
            await create(self, request)
            return
        await self._send_error_response(400)
        await self.send(Closed())

    H11Protocol._create_stream = checking  # type: ignore[method-assign]


def upgrade_is_taken() -> bool:
    """Return whether a client gets HTTP/2 by offering it in HTTP/1.1."""
    from hypercorn.protocol.h11 import H11Protocol

    return "H2CProtocolRequiredError" in source_of(H11Protocol._check_protocol)


def ignore_upgrade() -> None:
    """Answer in HTTP/1.1, as to any other offer that is not taken up."""
    import h11
    from hypercorn.protocol.h11 import H11Protocol

    check = H11Protocol._check_protocol

    async def ignoring(self: Any, event: Any) -> None:
        headers = [field for field in event.headers if field[0].lower() != b"upgrade"]
        if len(headers) != len(event.headers):
            event = h11.Request(
                method=event.method,
                target=event.target,
                headers=headers,
                http_version=event.http_version,
            )
        await check(self, event)

    H11Protocol._check_protocol = ignoring  # type: ignore[method-assign]


def prior_knowledge_is_taken() -> bool:
    """Return whether any client gets HTTP/2 by speaking it at once."""
    from hypercorn.protocol import ProtocolWrapper
    from hypercorn.protocol.h11 import H11Protocol

    return "await self._check_protocol(event)" in source_of(
        H11Protocol._handle_events
    ) and "except H2ProtocolAssumedError" in source_of(ProtocolWrapper.handle)


def reject_prior_knowledge() -> None:
    """Answer 400, and close, over TLS, and where the config's attribute ``h2c`` is not set."""
    from hypercorn.events import Closed
    from hypercorn.protocol.h11 import H2ProtocolAssumedError, H11Protocol

    handle_events = H11Protocol._handle_events

    async def handling(self: Any) -> None:
        try:
            await handle_events(self)
        except H2ProtocolAssumedError:
            if takes_h2c(self.config) and not self.ssl:
                raise
            await self._send_error_response(400)
            await self.send(Closed())

    H11Protocol._handle_events = handling  # type: ignore[method-assign]


def end_is_unannounced() -> bool:
    """Return whether a connection that closes after a response does not say so in it."""
    from hypercorn.protocol.h11 import H11Protocol

    announced = "their_state" in source_of(H11Protocol.stream_send)
    return not announced and "their_state is h11.DONE" in source_of(H11Protocol._maybe_recycle)


def announce_end() -> None:
    """Send ``Connection: close`` where the request has not been read through."""
    import h11
    from hypercorn.protocol.events import Response
    from hypercorn.protocol.h11 import H11Protocol

    send = H11Protocol.stream_send

    async def announcing(self: Any, event: Any) -> None:
        if (
            isinstance(event, Response)
            and event.status_code >= 200
            and self.connection.their_state is not h11.DONE
            and not any(name.lower() == b"connection" for name, _ in event.headers)
        ):
            event = replace(event, headers=[*event.headers, (b"connection", b"close")])
        await send(self, event)

    H11Protocol.stream_send = announcing  # type: ignore[method-assign]
