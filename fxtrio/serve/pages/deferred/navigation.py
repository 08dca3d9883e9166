"""A navigation payload with deferred values: the payload is a line, then each value is one."""

from __future__ import annotations

from collections.abc import Sequence

import trio
from msgspec.structs import replace

from fxtrio.serve.pages.deferred.values import (
    DeferredValue,
    Settled,
    deliver,
    names_of,
    without_deferred,
)
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content
from fxtrio.serve.request.client_protocol import PAYLOAD_LINES
from fxtrio.serve.request.response.payload_media_type import SENT
from fxtrio.serve.request.response.response import NO_STORE, NOTHING, UNBUFFERED, Answer
from fxtrio.serve.request.response.send_response import complete_headers


async def send_lines(
    page: PageEvent, content: Content, deferred: Sequence[DeferredValue]
) -> Answer:
    """Send the payload, and each value when it has come. Raises what `PageEvent.payload` raises."""
    plan, event = page.target.plan, page.event
    names = names_of(deferred, plan)
    values = without_deferred(content.values)
    payload = page.payload(plan, replace(content, values=values, promises=names))
    event.draft.settle(content.status)
    own = [(b"content-type", PAYLOAD_LINES), NO_STORE, UNBUFFERED, page.site.vary]
    headers = complete_headers(event, own)
    if SENT in event.scope:
        event.scope[SENT].append(True)
    writing = trio.Lock()

    async def send(settled: Settled) -> None:
        line = settled.entry(plan) + b"\n"
        async with writing:
            await event.send({"type": "http.response.body", "body": line, "more_body": True})

    event.status = content.status
    await event.send({"type": "http.response.start", "status": content.status, "headers": headers})
    body = payload + b"\n"
    await event.send({"type": "http.response.body", "body": body, "more_body": True})
    await deliver(page, deferred, send)
    await event.send({"type": "http.response.body", "body": b""})
    return NOTHING
