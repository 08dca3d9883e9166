"""The requests and WebSockets that application code gets: Starlette's, with bounds.

Text is UTF-8, cookies are parsed in linear time, and bodies are within `limits.body`
and the budget of the process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from starlette.datastructures import FormData, Headers
from starlette.requests import Request
from starlette.types import Scope
from starlette.websockets import WebSocket

from fxtrio.errors import BadBody, BadMessage
from fxtrio.serve.request.cookies import parse_cookies
from fxtrio.serve.request.forms import (
    LARGEST_FIELD,
    MOST_FIELDS,
    options_of,
)
from fxtrio.serve.request.json_body import parse_json
from fxtrio.serve.request.spool import Body


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
    """What loaders and hooks of pages get."""


class PageSocket(_Cookies, WebSocket):
    """What WebSocket handlers and their hooks get."""

    async def receive_json(self, mode: str = "text") -> Any:
        """Return the JSON of the next message, within the bounds of bodies.

        ``mode`` is ``text`` or ``binary``. Raises BadMessage for anything else, which
        closes the connection with 1007 when the handler lets it pass.
        """
        if mode not in ("text", "binary"):
            raise RuntimeError('The "mode" argument should be "text" or "binary".')
        try:
            if mode == "text":
                data = (await self.receive_text()).encode()
            else:
                data = bytes(await self.receive_bytes())
        except (KeyError, AttributeError, TypeError):  # None, or nothing, in its place
            raise BadMessage(f"A {mode} message was expected.") from None
        try:
            return parse_json(data)
        except BadBody as error:
            raise BadMessage(error.message) from None


class BodyRequest(PageRequest):
    """A request with a body: what endpoints get."""

    def __init__(self, scope: Scope, body: Body) -> None:
        super().__init__(scope, body.receive)
        self._held = body

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """Iterate over the body, which is not kept. Raises BodyTooLarge and BodiesFull."""
        if self._held.complete:
            async for chunk in self._held.stream():
                yield chunk
            yield b""
            return
        async for chunk in super().stream():
            yield chunk

    async def body(self) -> bytes:
        """Return the whole body. Raises BodyTooLarge and BodiesFull."""
        await self._read()
        return await self._held.data()

    async def json(self) -> Any:
        """Return the body's JSON. Raises BadBody (status 400), and CharsetRefused (415)."""
        await self._read()
        options_of(self.headers.get("content-type", ""))
        return await self._held.value(parse_json)

    async def _get_form(
        self,
        *,
        max_files: float = MOST_FIELDS,
        max_fields: float = MOST_FIELDS,
        max_part_size: int = LARGEST_FIELD,
    ) -> FormData:
        """Return the form. Raises BadBody (status 400), and CharsetRefused (415)."""
        await self._read()
        self._form = await self._held.form(
            self.headers.get("content-type", ""),
            max_files=max_files,
            max_fields=max_fields,
            max_part_size=max_part_size,
        )
        return self._form

    async def _read(self) -> None:
        if not self._held.complete:
            if self._stream_consumed or self._held.size:
                raise RuntimeError("Stream consumed")
            await self._held.read()
