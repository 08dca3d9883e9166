"""A page that is sent while it is rendered: the shell first, the rest as it comes.

With a `loading.fxl` the page's own loader runs while the shell is on its way.
Once the shell is sent, the status is settled; a failure or redirect of the
loader then takes effect in the browser.
"""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from fxtrio.encode import escape_for_html
from fxtrio.errors import Redirect, SsrDown
from fxtrio.serve.pages.boundaries import boundaries, show_failure
from fxtrio.serve.pages.code import LoaderCode
from fxtrio.serve.pages.failure import log_failure, problem_of
from fxtrio.serve.pages.loaders import Failed, Loaded, Outcome, Values, load, unwrap
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content, encode_data
from fxtrio.serve.pages.running import RenderParts
from fxtrio.serve.request.reply import HTML, NOTHING, Answer, complete_headers, redirected
from fxtrio.ssr.frames import Rendered

_EMPTY_ROOT = b'document.getElementById("fx-root").replaceChildren()'
"""An empty root element is rendered anew by the browser, from the state that follows."""


class NonceWriter:
    """Replaces the placeholder of the nonce in bytes that come in parts."""

    def __init__(self, placeholder: bytes, nonce: bytes) -> None:
        self._placeholder = placeholder
        self._nonce = nonce
        self._kept = b""

    def feed(self, data: bytes) -> bytes:
        """Return what can be sent; the start of a placeholder waits for its end."""
        placeholder = self._placeholder
        if not placeholder:
            return data
        data = (self._kept + data).replace(placeholder, self._nonce)
        for size in range(min(len(placeholder) - 1, len(data)), 0, -1):
            if placeholder.startswith(data[-size:]):
                self._kept = data[-size:]
                return data[:-size]
        self._kept = b""
        return data


async def stream_page(page: PageEvent) -> Answer:
    """Run the loaders that the shell needs, then send the page in parts."""
    plan = page.target.plan
    late = _late_loader(page)
    early = [loader for loader in plan.loaders if loader is not late]
    outcome = await load(early, page.request, page=plan.view.module)
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=False)
    if isinstance(outcome, Failed):
        return await show_failure(page, outcome.source, outcome.error, outcome.values)
    stream = _PageStream(page, outcome, late)
    failure = await stream.run()
    if failure is None:
        return NOTHING
    if stream.begun:
        log_failure(failure, page.place)
        return NOTHING
    return await show_failure(page, "", failure, outcome.values)


def _late_loader(page: PageEvent) -> LoaderCode | None:
    """Return the page's loader when the shell can do without it."""
    inner = page.target.plan.inner
    return inner.loader if page.target.plan.view.defers and inner.head is None else None


class _PageStream:
    """One page on its way."""

    def __init__(self, page: PageEvent, early: Loaded, late: LoaderCode | None) -> None:
        self._page = page
        self._early = early
        self._late = late
        self._outcome: Outcome = early
        self._frame = page.site.frames[page.target.plan.view.id]
        self._nonce = page.visit.audience.nonce()
        self._writer = NonceWriter(page.site.nonce, self._nonce)
        self.begun = False

    async def run(self) -> Exception | None:
        """Send the page; return what went wrong, None when nothing did."""
        page, plan = self._page, self._page.target.plan
        try:
            content = Content(
                self._early.values, self._early.status, deferred=self._late is not None
            )
            payload = page.payload(plan, content)
        except Exception as error:  # HEAD functions and values of loaders are the application's
            return error
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            try:
                async with page.running.renderer.stream(plan.view.id, payload) as parts:
                    if self._late is not None:
                        nursery.start_soon(self._load_late, self._late, parts)
                    async for part in parts:
                        await self._send_part(part)
            except SsrDown as error:
                log_failure(error, plan.view.module)
                failure = None if self.begun else error
            except Exception as error:  # the render runs application code
                failure = unwrap(error)
            if failure is not None:
                nursery.cancel_scope.cancel("the render failed")
        if failure is None:
            await self._finish()
        return failure

    async def _load_late(self, loader: LoaderCode, parts: RenderParts) -> None:
        """Run the page's loader and let the render go on with what it gives."""
        page = self._page
        outcome = await load([loader], page.request, page=loader.source)
        if isinstance(outcome, Loaded):
            outcome = Loaded({**self._early.values, **outcome.values}, outcome.status)
        self._outcome = outcome
        if isinstance(outcome, Loaded):
            try:
                await parts.resolve("page", self._data(outcome.values))
                return
            except Exception as error:  # a value that JSON cannot hold
                self._outcome = Failed(loader.source, error, self._early.values)
        await parts.reject("page", b'{"message":"the loader gave no data"}')

    def _data(self, values: Values) -> bytes:
        return encode_data(self._page.target.plan, values)

    async def _send_part(self, part: Rendered) -> None:
        page = self._page
        if self.begun:
            await self._send(part.html)
            return
        self.begun = True
        visit = page.visit
        headers = complete_headers(
            [(b"content-type", HTML), *page.html_headers(self._nonce)],
            draft=visit.draft,
            request_id=visit.request_id,
            standard=page.site.standard,
        )
        start = {"type": "http.response.start", "status": self._early.status, "headers": headers}
        await visit.send(start)
        await self._send(self._frame.shell(part))

    async def _finish(self) -> None:
        """Send the state, for the browser to take over."""
        payload, script = self._last_payload()
        await self._send(self._frame.rest(payload, script))
        await self._page.visit.send({"type": "http.response.body", "body": b""})

    def _last_payload(self) -> tuple[bytes, bytes]:
        page, outcome = self._page, self._outcome
        if isinstance(outcome, Redirect):
            url = escape_for_html(msgspec.json.encode(outcome.url))
            return b"{}", b"location.replace(%b)" % url
        if isinstance(outcome, Loaded):
            content = Content(outcome.values, outcome.status)
            return page.payload(page.target.plan, content), b""
        log_failure(outcome.error, outcome.source)
        problem = problem_of(outcome.error, development=page.site.development)
        values: dict[str, Any] = self._early.values
        for boundary in boundaries(page, problem.status):
            if all(loader.source in values for loader in boundary.loaders):
                content = Content(values, problem.status, problem)
                return page.payload(boundary, content), _EMPTY_ROOT
        return b"{}", b""

    async def _send(self, data: bytes) -> None:
        if self._page.visit.scope["method"] == "HEAD":
            return
        body = self._writer.feed(data)
        await self._page.visit.send({"type": "http.response.body", "body": body, "more_body": True})
