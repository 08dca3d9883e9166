"""The HTTP side of the test client: requests straight into the ASGI app."""

from __future__ import annotations

import json as stdlib_json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import quote, unquote, urlencode

import attrs
import trio
from starlette.datastructures import Headers
from starlette.types import Message, Scope

from fxtrio.application import Application
from fxtrio.serve.request.client_protocol import ACTIONS, NAVIGATION, STREAMS
from fxtrio.testing.events import (
    ActionStream,
    EventReader,
    ReadStream,
    data_of,
    event_of,
    is_event_stream,
    read_events,
)
from fxtrio.testing.page_data import (
    LineReader,
    PageData,
    PageStream,
    deferred_result,
    is_in_lines,
    page_data,
)
from fxtrio.testing.responses import (
    ActionResult,
    AnswerUnreadable,
    ConnectionLost,
    StreamedResponse,
    TestResponse,
    WholeResponse,
    answered,
    envelope_of,
)
from fxtrio.testing.socket import TestSocket, open_socket
from fxtrio.testing.unwrap_groups import ungrouped

HeaderArgument = Mapping[str, str]

_SAME_ORIGIN = {"sec-fetch-site": "same-origin"}
"""What a browser sends from the app's own pages: the CSRF check passes."""


_NAVIGATION = {NAVIGATION.decode(): "1"}


def _streamed(response: TestResponse) -> ActionResult:
    """Return what a whole stream of an action holds."""
    values, end = read_events(response.text)
    ok, error, fields = end.pop("ok"), end.pop("error", ""), end.pop("fields", {})
    return ActionResult(response.status, ok, end, error, fields, response.headers, values)


def _with_body(
    headers: HeaderArgument | None,
    json: Any,
    data: Mapping[str, str] | Sequence[tuple[str, str]] | None,
    content: bytes,
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the bytes of a request's body."""
    headers_sent = dict(headers or {})
    if json is not None:
        content = stdlib_json.dumps(json).encode()
        headers_sent.setdefault("content-type", "application/json")
    elif data is not None:
        content = urlencode(data, doseq=True).encode()
        headers_sent.setdefault("content-type", "application/x-www-form-urlencoded")
    return headers_sent, content


def _no_response(method: str, url: str) -> ConnectionResetError:
    return ConnectionResetError(f"{method} {url}: the app sent no response")


async def _require_events(response: StreamedResponse, call: str, remedy: str) -> None:
    """Raise AnswerUnreadable for a response that is no stream of events."""
    if not is_event_stream(response.headers):
        whole = b"".join([chunk async for chunk in response])
        media = response.headers.get("content-type", "without a type")
        raise AnswerUnreadable(call, response.status, media, whole, remedy)


@attrs.define(eq=False)
class Client:
    """Requests one app as one browser would, with its cookies. Created by `open_app`."""

    app: Application
    scheme: str = "http"
    host: str = "testserver"
    cookies: dict[str, str] = attrs.field(factory=dict)

    async def get(self, url: str, *, headers: HeaderArgument | None = None) -> TestResponse:
        """Return the response to a GET; redirects are not followed."""
        return await self.request("GET", url, headers=headers)

    async def post(
        self,
        url: str,
        *,
        json: Any = None,
        data: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        content: bytes = b"",
        headers: HeaderArgument | None = None,
    ) -> TestResponse:
        """Return the response to a POST of JSON, of an urlencoded form, or of bytes."""
        return await self.request(
            "POST", url, json=json, data=data, content=content, headers=headers
        )

    async def request(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        data: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        content: bytes = b"",
        headers: HeaderArgument | None = None,
    ) -> TestResponse:
        """Return the complete response.

        The request looks like one from the app's own pages, unless ``headers`` say otherwise.
        """
        headers_sent, content = _with_body(headers, json, data, content)
        answer = WholeResponse(content)
        async with ungrouped(trio.open_nursery()) as nursery:  # with contextvars of its own
            # What follows may be secret, and names of tasks are shown.
            name = f"{method} {url.partition('?')[0]}"
            scope = self._http_scope(method, url, headers_sent)
            nursery.start_soon(self.app, scope, answer.receive, answer.send, name=name)
        if answer.start is None:
            raise _no_response(method, url)
        response_headers = Headers(raw=list(answer.start.get("headers", ())))
        self._keep_cookies(response_headers)
        return TestResponse(answer.start["status"], response_headers, b"".join(answer.chunks))

    def stream(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        data: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        content: bytes = b"",
        headers: HeaderArgument | None = None,
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        """Open a response and read it as it arrives; leaving the block disconnects the client.

        The body is JSON, an urlencoded form, or bytes.
        """
        headers_sent, content = _with_body(headers, json, data, content)
        return ungrouped(self._stream(method, url, headers_sent, content))

    @asynccontextmanager
    async def _stream(
        self, method: str, url: str, headers: HeaderArgument | None, content: bytes
    ) -> AsyncIterator[StreamedResponse]:
        scope = self._http_scope(method, url, headers)
        left = trio.Event()
        sent = iter([{"type": "http.request", "body": content, "more_body": False}])
        send_chunk, chunks = trio.open_memory_channel[bytes | ConnectionLost](0)
        started, start = trio.open_memory_channel[Message](1)

        async def receive() -> Message:
            for message in sent:
                return message
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.send_nowait(message)
            elif message["type"] == "http.response.body":
                try:
                    if message.get("body"):
                        await send_chunk.send(message["body"])
                except trio.BrokenResourceError:
                    return
                if not message.get("more_body"):
                    send_chunk.close()

        async def run() -> None:
            with started, send_chunk:
                try:
                    await self.app(scope, receive, send)
                except ConnectionLost as error:
                    # Unless the client has left, or has the whole response.
                    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                        await send_chunk.send(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            try:
                message = await start.receive()
            except trio.EndOfChannel:
                raise _no_response(method, url) from None
            response_headers = Headers(raw=list(message.get("headers", ())))
            self._keep_cookies(response_headers)
            with chunks:
                yield StreamedResponse(message["status"], response_headers, chunks)
            left.set()

    async def load_page(self, url: str, *, headers: HeaderArgument | None = None) -> PageData:
        """Run the loaders of the page at ``url`` and return their data, without a render.

        Deferred values are awaited.

        Raises AnswerUnreadable if ``url`` is not that of a page, or a route hook responds itself.
        """
        response = await self.get(url, headers={**(headers or {}), **_NAVIGATION})
        if is_in_lines(response.headers):
            first, *lines = map(stdlib_json.loads, response.body.splitlines())
            page = page_data(response.status, first)
            for line in lines:
                page.add(deferred_result(line))
            return page
        call = f"load_page({url!r})"
        payload = envelope_of(response, call, "Name the URL of a page, or use get()")
        return page_data(response.status, payload)

    def stream_page(
        self, url: str, *, headers: HeaderArgument | None = None
    ) -> AbstractAsyncContextManager[PageStream]:
        """Run the loaders of the page at ``url``, and read its deferred values as they arrive.

        Leaving the block disconnects the client, which cancels the others. Raises
        AnswerUnreadable for a page without deferred values.
        """
        return ungrouped(self._stream_page(url, headers))

    @asynccontextmanager
    async def _stream_page(
        self, url: str, headers: HeaderArgument | None
    ) -> AsyncIterator[PageStream]:
        headers_sent = {**(headers or {}), **_NAVIGATION}
        async with self.stream("GET", url, headers=headers_sent) as response:
            if not is_in_lines(response.headers):
                whole = b"".join([chunk async for chunk in response])
                media = response.headers.get("content-type", "without a type")
                remedy = "Use load_page() for a page without deferred values"
                raise AnswerUnreadable(
                    f"stream_page({url!r})", response.status, media, whole, remedy
                )
            lines = LineReader(response)
            yield PageStream(page_data(response.status, await anext(lines)), lines)

    async def action(
        self,
        page: str,
        name: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: HeaderArgument | None = None,
    ) -> ActionResult:
        """Call the action ``name`` of the page at the path ``page`` with a JSON body.

        An action of a module, such as ``shared.delete``, is the same for every page.
        A response that the action returned is ok if its status is 2xx, as for `useAction`.
        Raises AnswerUnreadable for a response of another kind.
        """
        response = await self.post(self.action_url(page, name), json=body or {}, headers=headers)
        if is_event_stream(response.headers):
            return _streamed(response)
        payload = answered(response)
        if payload is None:
            payload = envelope_of(
                response, f"action({page!r}, {name!r})", "Use post() with its URL"
            )
        ok = payload.pop("ok")
        error, fields = payload.pop("error", ""), payload.pop("fields", {})
        return ActionResult(response.status, ok, payload, error, fields, response.headers)

    def stream_action(
        self,
        page: str,
        name: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: HeaderArgument | None = None,
    ) -> AbstractAsyncContextManager[ActionStream]:
        """Call an action that streams, and read its values as they arrive.

        Leaving the block disconnects the client, which cancels the action. Raises
        AnswerUnreadable if the action fails before its first value, or does not stream.
        """
        return ungrouped(self._stream_action(page, name, body, headers))

    @asynccontextmanager
    async def _stream_action(
        self, page: str, name: str, body: Mapping[str, Any] | None, headers: HeaderArgument | None
    ) -> AsyncIterator[ActionStream]:
        call = f"stream_action({page!r}, {name!r})"
        async with self.stream(
            "POST", self.action_url(page, name), json=body or {}, headers=headers
        ) as response:
            await _require_events(response, call, "Use action() for what is not streamed")
            yield ActionStream(response.headers, EventReader(response, data_of))

    def read_stream(
        self,
        page: str,
        name: str,
        query: Mapping[str, Any] | None = None,
        *,
        after: str | None = None,
        headers: HeaderArgument | None = None,
    ) -> AbstractAsyncContextManager[ReadStream]:
        """Read the `@stream` ``name`` of the page at the path ``page``.

        ``after`` is the id of the last event of an earlier response, as a browser sends it when it
        reconnects. Leaving the block disconnects the client. Raises AnswerUnreadable when the
        stream fails before its first value.
        """
        headers_sent = {**({} if after is None else {"last-event-id": after}), **(headers or {})}
        return ungrouped(self._read_stream(page, name, query, headers_sent))

    @asynccontextmanager
    async def _read_stream(
        self, page: str, name: str, query: Mapping[str, Any] | None, headers: HeaderArgument
    ) -> AsyncIterator[ReadStream]:
        url = f"{self.base_url}{STREAMS}{page.strip('/') or 'index'}/{name}"
        url += f"?{urlencode(query, doseq=True)}" if query else ""
        async with self.stream("GET", url, headers=headers) as response:
            call = f"read_stream({page!r}, {name!r})"
            await _require_events(response, call, "Use get() with its URL to read such a response")
            yield ReadStream(response.headers, EventReader(response, event_of))

    def action_url(self, page: str, name: str) -> str:
        """Return the URL of an action of the page at the path ``page``, or of a module."""
        path = name if "." in name else f"{page.strip('/') or 'index'}/{name}"
        return f"{self.base_url}{ACTIONS}{path}"

    def websocket(
        self, url: str, *, headers: HeaderArgument | None = None, protocols: Sequence[str] = ()
    ) -> AbstractAsyncContextManager[TestSocket]:
        """Open a WebSocket for the length of a block. Raises SocketRejected."""
        scope = self.scope("websocket", url, headers)
        scope["subprotocols"] = list(protocols)
        return ungrouped(open_socket(self.app, scope))

    @property
    def base_url(self) -> str:
        """The app's base URL; "" at the root."""
        return self.app.site.config.base_url

    def scope(self, kind: str, url: str, headers: HeaderArgument | None) -> Scope:
        """Return an ASGI scope for ``url`` with this client's cookies."""
        path, _, query = url.partition("?")
        headers_sent = {"host": self.host, **_SAME_ORIGIN}
        headers_sent.update({name.lower(): value for name, value in (headers or {}).items()})
        if self.cookies:
            headers_sent["cookie"] = "; ".join(
                f"{name}={value}" for name, value in self.cookies.items()
            )
        secure = self.scheme == "https"
        schemes = {"http": self.scheme, "websocket": "wss" if secure else "ws"}
        # As servers do it: a handshake has no method.
        method = {"method": "GET"} if kind == "http" else {}
        return {
            "type": kind,
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            **method,
            "scheme": schemes[kind],
            "path": unquote(path),
            "raw_path": quote(path, safe="/%").encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in headers_sent.items()
                if value != ""
            ],
            "client": ("127.0.0.1", 50000),
            "server": (self.host, 443 if secure else 80),
            "state": {},
            "extensions": {"websocket.http.response": {}} if kind == "websocket" else {},
        }

    def _http_scope(self, method: str, url: str, headers: HeaderArgument | None) -> Scope:
        scope = self.scope("http", url, headers)
        scope["method"] = method
        return scope

    def _keep_cookies(self, headers: Headers) -> None:
        for line in headers.getlist("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                if morsel["max-age"] == "0" or not morsel.value:
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.coded_value
