"""Sends responses, with the headers that every response carries."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import Message

from fxtrio.application_errors import application_error, leave_to_server
from fxtrio.asgi_extensions import WHOLE_RESPONSE, WholeResponse
from fxtrio.compression.middleware import EncodingSend
from fxtrio.serve.request.client_protocol import PAYLOAD
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.payload_media_type import SENT, without_payload_type
from fxtrio.serve.request.response.response import (
    NO_STORE,
    Answer,
    Header,
    Nothing,
    Reply,
    keep_private,
)
from fxtrio.serve.request.response.unwrap import require_status
from fxtrio.server.http1.response import header_lines
from fxtrio.status import BODILESS
from fxtrio.tracebacks import trimmed

log = logging.getLogger("fx.serve")

_FRAMING = frozenset({b"content-length", b"transfer-encoding"})


def complete_headers(event: RequestEvent, headers: list[Header]) -> list[Header]:
    """Return ``headers`` with the draft's, which go before them, and the standard ones."""
    draft, request_id = event.draft, event.request_id
    standard = event.terms.standard
    if draft.raw_headers:
        own = {name.lower() for name, _ in draft.raw_headers} - {b"set-cookie"}
        headers = [header for header in headers if header[0] not in own]
        headers += without_payload_type(draft.raw_headers)
        return headers + standard.missing(headers, request_id)
    headers += standard.fixed
    if request_id is not None:
        headers.append((b"x-request-id", request_id))
    return headers


async def send_reply(event: RequestEvent, reply: Reply) -> None:
    """Send ``reply`` with the draft's and the standard headers; to HEAD, without its body."""
    event.status = reply.status
    whole: WholeResponse | None = event.scope.get("extensions", {}).get(WHOLE_RESPONSE)
    if whole is None or reply.status in BODILESS or not await _send_whole(whole, event, reply):
        await _send_messages(event, reply)


def direct_parts(event: RequestEvent) -> WholeResponse | None:
    """Return the server's own way to take parts of a body that has begun without waiting.

    None for other servers, behind middleware, and where the body is encoded.
    """
    whole: WholeResponse | None = event.scope.get("extensions", {}).get(WHOLE_RESPONSE)
    send = event.send
    if isinstance(send, EncodingSend) and send.is_identity:
        send = send.inner
    return whole if whole is not None and send == whole.send else None


async def _send_whole(whole: WholeResponse, event: RequestEvent, reply: Reply) -> bool:
    """Send ``reply`` in one call; return whether nothing but compression is before the server."""
    send, body = event.send, reply.body
    headers = [(b"content-type", reply.media), *reply.headers]
    if event.draft.raw_headers:
        headers = complete_headers(event, headers)
    if send != whole.send:
        if not isinstance(send, EncodingSend) or send.inner != whole.send:
            return False
        if event.scope["method"] == "HEAD":
            return False
        headers, body = await send.encode(reply.status, headers, body)
    lines = header_lines(headers)
    if lines is None:  # the server must look at one of them
        return False
    all_lines = (lines,) if event.draft.raw_headers else _all_lines(event, lines)
    if not whole(reply.status, all_lines, body):
        await whole.flush()
    return True


def _all_lines(event: RequestEvent, lines: bytes) -> tuple[bytes, ...]:
    """Return header lines with the standard ones, which nothing of the application's replaces.

    They come in pieces, which the server joins with the rest.
    """
    standard, request_id = event.terms.standard.lines, event.request_id
    if request_id is None:
        return lines, standard
    return lines, standard, b"x-request-id: ", request_id, b"\r\n"


async def _send_messages(event: RequestEvent, reply: Reply) -> None:
    """Send ``reply`` through middleware, or to a server that is not ours."""
    body, headers = reply.body, reply.headers
    if reply.status in BODILESS:
        body = b""
        if reply.status == 205:
            headers = [(b"content-length", b"0"), *headers]
    else:
        headers = [
            (b"content-type", reply.media),
            (b"content-length", b"%d" % len(body)),
            *headers,
        ]
    headers = complete_headers(event, headers)
    sent = b"" if event.scope["method"] == "HEAD" else body
    if reply.media == PAYLOAD and SENT in event.scope:
        event.scope[SENT].append(True)
    send = event.send
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": sent})


def completing(event: RequestEvent) -> Callable[[Message], Awaitable[None]]:
    """Return a ``send`` that adds the draft's and the standard headers to a response."""

    bodiless = False

    async def complete(message: Message) -> None:
        nonlocal bodiless
        if message["type"] == "http.response.start":
            status = require_status(message["status"], f"{event.scope['method']} {event.path}")
            bodiless = status in BODILESS
            headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            if not any(name.lower() == b"cache-control" for name, _ in headers):
                event.draft.settle(message["status"])
            headers = without_payload_type(headers + event.draft.raw_headers)
            headers += event.terms.standard.missing(headers, event.request_id)
            if bodiless and status != 304:  # a 304 may give the length of the omitted body
                headers = [header for header in headers if header[0].lower() not in _FRAMING]
                headers += [(b"content-length", b"0")] if status == 205 else []
            message = {**message, "status": status, "headers": headers}
            event.begun, event.status = True, status
        elif bodiless and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await event.send(message)

    return complete


def send_at_once(event: RequestEvent, answer: Answer) -> bool | None:
    """Send an ordinary answer to a server of ours, without waiting.

    Returns whether it is out; if not, `WholeResponse.flush` must follow. None for all others,
    which `send_answer` sends: nothing of them is sent then.
    """
    whole, draft = event.server, event.draft
    if (
        whole is None
        or event.send is not event.direct
        or not isinstance(answer, Reply)
        or answer.lines is None
        or draft.policy is not None
        or draft.raw_headers
        or answer.status in BODILESS
    ):
        return None
    event.status = answer.status
    return whole(answer.status, _all_lines(event, answer.lines), answer.body)


async def send_answer(event: RequestEvent, answer: Answer) -> None:
    """Send ``answer``, of whichever type; nothing if it was already sent."""
    draft = event.draft
    if isinstance(answer, Reply):
        if draft.policy is not None:
            draft.settle(answer.status)
        lines, whole = answer.lines, event.server
        if (
            lines is not None
            and whole is not None
            and not draft.raw_headers
            and answer.status not in BODILESS
        ):
            send, status = event.send, answer.status
            encoded: tuple[bytes, bytes] | None = None
            if send == whole.send:
                encoded = lines, answer.body
            elif (
                isinstance(send, EncodingSend)
                and send.inner == whole.send
                and event.scope["method"] != "HEAD"
            ):
                encoded = await send.encode_lines(status, lines, answer.body, event.headers)
            if encoded is not None:
                event.status = status
                if not whole(status, _all_lines(event, encoded[0]), encoded[1]):
                    await whole.flush()
                return
        if event.navigation or event.negotiated:
            if NO_STORE not in answer.headers:
                keep_private(answer.headers)
            if draft.raw_headers:
                keep_private(draft.raw_headers)
        await send_reply(event, answer)
    elif not isinstance(answer, Nothing):
        await send_response(event, answer)


async def send_failure(
    event: RequestEvent, answer: Answer, raised: BaseException, fail: Callable[[], Answer]
) -> None:
    """Send the response of ``fail`` for a request that failed with ``raised`` before its start.

    Raises the Exception if the response has started.
    """
    error = application_error(raised)
    if event.begun or not isinstance(answer, Response):
        leave_to_server(error)
    log_defect(event, error)
    await send_answer(event, fail())


def log_defect(event: RequestEvent, error: BaseException) -> None:
    """Log an error of ours, or of an application's route, with its traceback."""
    named = event.scope["method"], event.scope["path"]
    log.error("%s %r failed", *named, exc_info=trimmed(error))


async def send_response(event: RequestEvent, response: Response) -> None:
    """Send a Starlette response with the draft's and the standard headers."""
    await response(event.scope, event.receive, completing(event))
