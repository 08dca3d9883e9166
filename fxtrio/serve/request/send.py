"""Sends what a request ended in, with the headers that every response carries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import Message

from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.reply import NO_STORE, Answer, Header, Nothing, Reply, keep_private


def complete_headers(event: RequestEvent, headers: list[Header]) -> list[Header]:
    """Return ``headers`` with the draft's, which go before them, and the standard ones."""
    draft, request_id = event.draft, event.request_id
    standard = event.terms.standard
    if draft.raw_headers:
        own = {name.lower() for name, _ in draft.raw_headers} - {b"set-cookie"}
        headers = [header for header in headers if header[0] not in own]
        headers += draft.raw_headers
        return headers + standard.missing(headers, request_id)
    headers += standard.fixed
    if request_id is not None:
        headers.append((b"x-request-id", request_id))
    return headers


async def send_reply(event: RequestEvent, reply: Reply) -> None:
    """Send ``reply`` with the draft's and the standard headers; to HEAD, without its body."""
    body, headers = reply.body, reply.headers
    if reply.status != 304:  # which tells of a body that the client has
        headers = [
            (b"content-type", reply.media),
            (b"content-length", b"%d" % len(body)),
            *headers,
        ]
    headers = complete_headers(event, headers)
    sent = b"" if event.scope["method"] == "HEAD" else body
    send = event.send
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": sent})


def completing(event: RequestEvent) -> Callable[[Message], Awaitable[None]]:
    """Return a ``send`` that adds the draft's and the standard headers to a response."""

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            if not any(name.lower() == b"cache-control" for name, _ in headers):
                event.draft.settle(message["status"])
            headers += event.draft.raw_headers
            headers += event.terms.standard.missing(headers, event.request_id)
            message = {**message, "headers": headers}
        await event.send(message)

    return complete


async def send_answer(event: RequestEvent, answer: Answer) -> None:
    """Send ``answer``, whichever kind it is; nothing when it was sent already."""
    draft = event.draft
    if isinstance(answer, Reply):
        if draft.policy is not None:
            draft.settle(answer.status)
        if event.navigation or event.negotiated:
            if NO_STORE not in answer.headers:
                keep_private(answer.headers)
            if draft.raw_headers:
                keep_private(draft.raw_headers)
        await send_reply(event, answer)
    elif not isinstance(answer, Nothing):
        await send_response(event, answer)


async def send_response(event: RequestEvent, response: Response) -> None:
    """Send a Starlette response with the draft's and the standard headers."""
    await response(event.scope, event.receive, completing(event))
