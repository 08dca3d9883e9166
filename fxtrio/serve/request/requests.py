"""The requests and WebSockets that application code gets: Starlette's, with bounds.

Text is UTF-8, cookies are parsed in linear time, and bodies are within `limits.body`
and the budget of the process.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from starlette.datastructures import FormData, Headers
from starlette.exceptions import WebSocketException
from starlette.requests import Request, empty_send
from starlette.types import Message, Scope
from starlette.websockets import WebSocketDisconnect

from fxtrio.errors import BadBody
from fxtrio.realtime.handshake import ORIGIN_UNCHECKED, same_origin
from fxtrio.realtime.typed_socket import WebSocket
from fxtrio.serve.request.bodies.forms import (
    LARGEST_FIELD,
    MOST_FIELDS,
    options_of,
)
from fxtrio.serve.request.bodies.json_body import parse_json
from fxtrio.serve.request.bodies.spool import Body
from fxtrio.serve.request.csrf import FIELD

OTHER_ORIGIN = 4403
"""Closes the WebSocket of a page from another site; the client does not try again."""

log = logging.getLogger("fx.realtime")

_Payload = TypeVar("_Payload", str, bytes)


class BadMessage(WebSocketException, ValueError):
    """A WebSocket message that is not the JSON a handler expects; closes with 1007."""

    def __init__(self, reason: str, code: int = 1007) -> None:
        super().__init__(code, reason)


class MessageOfOtherKind(BadMessage):
    """Bytes where a handler expects text, or the other way round; closes with 1003."""

    def __init__(self, wanted: str) -> None:
        super().__init__(f"A {wanted} message was expected.", 1003)


class _Cookies:
    """Reads cookies with `parse_cookies`."""

    headers: Headers
    _parsed_cookies: dict[str, str] | None = None

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies, by name."""
        if self._parsed_cookies is None:
            self._parsed_cookies = parse_cookies(self.headers.getlist("cookie"))
        return self._parsed_cookies


class PageRequest(_Cookies, Request):
    """The request that loaders and page hooks receive."""


async def _no_body() -> Message:
    """ASGI ``receive`` of a page: a GET has no body."""
    return {"type": "http.request", "body": b"", "more_body": False}


class BodilessRequest(PageRequest):
    """The same, without a body.

    Each page has one, so all but the scope that Starlette sets on each request is the class's.
    """

    _receive = staticmethod(_no_body)
    _send = staticmethod(empty_send)
    _stream_consumed = _is_disconnected = False
    _form = None

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class PageSocket(_Cookies, WebSocket[Any]):
    """The WebSocket that handlers and their hooks receive.

    A client's message of the wrong kind closes the connection unless the handler catches
    the error, and is not logged as a defect of the handler.
    """

    async def accept(
        self,
        subprotocol: str | None = None,
        headers: Iterable[tuple[bytes, bytes]] | None = None,
    ) -> None:
        """Accept the handshake.

        With `realtime.sameOrigin`, closes with 4403 and raises WebSocketDisconnect if the
        handler has not looked at the origin, and it is not this site's.
        """
        if ORIGIN_UNCHECKED in self.scope and not same_origin(self):
            log.warning(
                "%s: a WebSocket from %r was closed with 4403, since 'realtime.sameOrigin' is "
                "set. To accept that site, call origin_allowed() in the handler.",
                self.url.path,
                self.headers.get("origin"),
            )
            await self.close(OTHER_ORIGIN)
            raise WebSocketDisconnect(OTHER_ORIGIN)
        await super().accept(subprotocol, headers)

    async def receive_text(self) -> str:
        """Return the next message. Raises MessageOfOtherKind for bytes."""
        return await self._require_kind("text", super().receive_text)

    async def receive_bytes(self) -> bytes:
        """Return the next message. Raises MessageOfOtherKind for text."""
        return await self._require_kind("binary", super().receive_bytes)

    async def receive_json(self, mode: str = "text") -> Any:
        """Return the JSON of the next message, within the bounds of bodies.

        ``mode`` is ``text`` or ``binary``. Raises BadMessage for anything else.
        """
        if mode not in ("text", "binary"):
            raise RuntimeError('The "mode" argument should be "text" or "binary".')
        text = mode == "text"
        data = (await self.receive_text()).encode() if text else bytes(await self.receive_bytes())
        try:
            return parse_json(data)
        except BadBody as error:
            raise BadMessage(error.message) from None

    @staticmethod
    async def _require_kind(wanted: str, receive: Callable[[], Awaitable[_Payload]]) -> _Payload:
        payload = None
        with suppress(KeyError):  # servers omit the absent kind, or set it to None
            payload = await receive()
        if payload is None:
            raise MessageOfOtherKind(wanted)
        return payload


class BodyRequest(PageRequest):
    """A request with a body, as endpoints receive it."""

    def __init__(self, scope: Scope, body: Body) -> None:
        super().__init__(scope, body.receive)
        self._held = body

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """Iterate over the body without storing it. Raises BodyTooLarge and BodiesFull."""
        if self._held.complete:
            async for chunk in self._held.stream():
                yield chunk
            yield b""
            return
        async for chunk in super().stream():
            yield chunk

    async def body(self) -> bytes:
        """Return the complete body. Raises BodyTooLarge and BodiesFull."""
        await self._read()
        return await self._held.data()

    async def json(self) -> Any:
        """Return the body's JSON. Raises BadBody (status 400), and CharsetUnsupported (415)."""
        if not self._held.complete:
            await self._read()
        options_of(self._held.content_type)
        value = self._held.small_value(parse_json)
        return await self._held.value(parse_json) if value is None else value

    async def _get_form(
        self,
        *,
        max_files: float = MOST_FIELDS,
        max_fields: float = MOST_FIELDS,
        max_part_size: int = LARGEST_FIELD,
    ) -> FormData:
        """Return the form without the token of `csrf`, which is the runtime's.

        Raises BadBody (status 400), and CharsetUnsupported (415).
        """
        await self._read()
        form = await self._held.form(
            self.headers.get("content-type", ""),
            max_files=max_files,
            max_fields=max_fields,
            max_part_size=max_part_size,
        )
        if FIELD in form:
            form = FormData([item for item in form.multi_items() if item[0] != FIELD])
        self._form = form
        return form

    async def sent_token(self) -> dict[str, Any]:
        """Return the CSRF token in the form's field; raises as `form` does."""
        await self._read()
        form = await self._held.form(self.headers.get("content-type", ""))
        return {FIELD: form[FIELD]} if FIELD in form else {}

    async def _read(self) -> None:
        if not self._held.complete:
            if self._stream_consumed or self._held.size:
                raise RuntimeError("Stream consumed")
            await self._held.read()


_ESCAPE = re.compile(r"\\(?:([0-3][0-7][0-7])|(.))", re.DOTALL)


def parse_cookies(headers: Iterable[str]) -> dict[str, str]:
    """Return the cookies of `Cookie` headers; of equal names the last.

    As Starlette has it, with quoted values as `http.cookies` writes them, whose own
    parser is quadratic before CPython 3.13.6: 30 kB of backslashes take it 1.6 s.
    """
    cookies: dict[str, str] = {}
    for header in headers:
        for chunk in header.split(";"):
            name, separator, value = chunk.partition("=")
            if not separator:
                name, value = "", chunk
            name, value = name.strip(), value.strip()
            if name or value:
                cookies[name] = _unquoted(value)
    return cookies


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != '"' or value[-1] != '"':
        return value
    return _ESCAPE.sub(_character, value[1:-1]) if "\\" in value else value[1:-1]


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code else str(escape[2])
