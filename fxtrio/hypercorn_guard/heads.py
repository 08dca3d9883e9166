"""Defects of Hypercorn's HTTP/1.1: heads that it takes, and should not."""

from __future__ import annotations

from typing import Any

from fxtrio.http1.fields import repeated
from fxtrio.hypercorn_guard.source import source_of


def fields_repeat() -> bool:
    """Return whether a request is given to the application with whatever fields it has."""
    from hypercorn.protocol.h11 import H11Protocol

    source = source_of(H11Protocol._create_stream)
    return "headers = list(request.headers)" in source and "_send_error_response" not in source


def refuse_repeated_fields() -> None:
    """Answer 400, and close, when what must stand alone does not."""
    from hypercorn.events import Closed
    from hypercorn.protocol.h11 import H11Protocol

    create = H11Protocol._create_stream

    async def checking(self: Any, request: Any) -> None:
        if repeated(request.headers) is None:
            await create(self, request)
            return
        await self._send_error_response(400)
        await self.send(Closed())

    H11Protocol._create_stream = checking  # type: ignore[method-assign]
