"""Streams a page while it is rendered: the shell first, the other parts as they are ready.

With a `loading.fxl` the shell is sent while the page's own loader still runs, if that takes
longer than `timeouts.shell`. The status and headers are final from then on: changes by the
loader are ignored and logged, and a failure or redirect takes effect in the browser.

With deferred values the payload and the entry script follow the shell, so that the page is
interactive at once; each value is a script in front of the part that shows it.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import msgspec
import trio
from msgspec.structs import replace

from fxtrio.application_errors import application_error
from fxtrio.errors import Redirect
from fxtrio.send_budget import UnsentFull
from fxtrio.serve.pages.boundaries import boundaries, show_failure, show_problem
from fxtrio.serve.pages.deferred.loader import DeferredLoader, deferred_loader
from fxtrio.serve.pages.deferred.values import (
    DeferredValue,
    Settled,
    deferred_in,
    deliver,
    names_of,
    settle,
    without_deferred,
)
from fxtrio.serve.pages.error_response import log_failure, problem_of
from fxtrio.serve.pages.html.large import LARGE
from fxtrio.serve.pages.html.stream_end import (
    REVEAL_DEFERRED_PARTS,
    StreamEnding,
    failure_ending,
    redirect_ending,
    whole_ending,
)
from fxtrio.serve.pages.html.without_scripts import has_outlined, load_settled
from fxtrio.serve.pages.loaders import Failed, Loaded, Outcome, Values, load
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import Content, encode_data
from fxtrio.serve.pages.resources import RenderParts
from fxtrio.serve.request.response.response import (
    NOTHING,
    UNBUFFERED,
    Answer,
    headers_of,
    redirected,
)
from fxtrio.serve.request.response.send_response import complete_headers
from fxtrio.serve.request.response.unwrap import unwrap
from fxtrio.spans import span
from fxtrio.ssr.errors import FrameSizeInvalid, RenderFailed, SsrDown
from fxtrio.ssr.frames import Rendered

log = logging.getLogger("fx.serve")

_KEEPS = 3
"""How often a large payload is counted while its page is sent: the values that it was encoded
from, the payload, and its copy at the end of the page."""

_NO_DATA = b'{"message":"the loader gave no data","expected":true}'
"""Error for the parts of the render that wait for the data; the log has the cause."""

_DEFERRED_FAILED: Final = "DeferredFailed"
"""The name of an error in a render that is the failure of a deferred value, which its message
names."""


async def stream_page(page: PageEvent) -> Answer:
    """Run the loaders, and send the page in parts; its own loader may be deferred."""
    deferred = deferred_loader(page)
    if deferred is None:
        return await send_page(
            page, await load(page.target.plan.loaders, page.request, page=page.place)
        )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deferred.run, page, name=f"load.{deferred.loader.source}")
        answer = await _send_deferred(page, deferred)
        nursery.cancel_scope.cancel("nobody needs the loader any more")
    return answer


async def _send_deferred(page: PageEvent, deferred: DeferredLoader) -> Answer:
    """Send the page, as one without a deferred loader if that one ends within the grace."""
    grace = page.site.config.timeouts.shell
    if page.event.scope["method"] == "HEAD":  # which is about status and headers alone
        grace = float("inf")
    deadline = trio.current_time() + grace
    layouts = [loader for loader in page.target.plan.loaders if loader is not deferred.loader]
    early = await load(layouts, page.request, page=page.place)
    if not isinstance(early, Loaded):
        return await send_page(page, early)
    if deferred_in(early.values):  # of which the payload at the end would come too late
        deadline = float("inf")
    joined: Outcome | None = None
    with trio.CancelScope(deadline=deadline):
        joined = await deferred.wait_joined(early)
    return await (send_page(page, early, deferred) if joined is None else send_page(page, joined))


async def send_page(
    page: PageEvent, outcome: Outcome, deferred: DeferredLoader | None = None
) -> Answer:
    """Send the page with its loaders' values, or return the boundary that replaces it."""
    if isinstance(outcome, Redirect):
        return redirected(outcome, navigation=False)
    if isinstance(outcome, Failed):
        return await show_failure(page, outcome.source, outcome.error, outcome.values)
    promised = deferred_in(outcome.values)
    if promised and page.event.scope["method"] == "HEAD":
        settled, promised = await settle(page, outcome), ()
        if isinstance(settled, Failed):
            return await show_failure(page, settled.source, settled.error, settled.values)
        outcome = settled
    stream = _PageStream(page, outcome, deferred, promised)
    failure = await stream.run()
    if failure is None:
        return NOTHING
    if stream.begun:
        log_failure(failure, page.place)
        return NOTHING
    if isinstance(failure, SsrDown) and deferred is not None:  # no shell, so no fallback either
        return await send_page(page, await deferred.wait_joined(outcome))
    cause = stream.cause_of(failure)
    if cause is not None and cause.problem is not None:  # `deliver` has logged it
        source, values = cause.value.source, stream.settled_values()
        return await show_problem(page, source, cause.problem, values, admitted=True)
    return await show_failure(page, "", failure, outcome.values)


async def _settle_in_render(parts: RenderParts, name: str, settled: Settled) -> None:
    """Give the render a value; the browser alone renders one that is too large for it."""
    if settled.problem is not None:
        error = {"name": _DEFERRED_FAILED, "message": name, "expected": True}
        await parts.reject(name, msgspec.json.encode(error))
        return
    try:
        await parts.resolve(name, settled.data)
    except FrameSizeInvalid as error:
        log.error("%s: %s The browser renders it.", settled.value.place, error)
        await parts.reject(name, _NO_DATA)


class _PageStream:
    """One page on its way."""

    def __init__(
        self,
        page: PageEvent,
        early: Loaded,
        deferred: DeferredLoader | None,
        promised: tuple[DeferredValue, ...],
    ) -> None:
        self._page = page
        self._early = early
        self._deferred = deferred
        self._promised = promised
        self._payload = b""
        self._deferred_names: tuple[str, ...] = ()
        self._shell_sent = trio.Event()
        self._writing = trio.Lock()
        self._outcome: Outcome = early
        self._frame = page.site.frames[page.target.plan.view.id]
        self._nonce = page.event.audience.nonce()
        self._writer = NonceWriter(page.site.nonce, self._nonce)
        self._sent_headers = 0
        self._id = page.site.entropy.hex().encode() if promised or deferred else b""
        self._outlined = False
        """Whether only scripts show a part of the page in its place."""

        self._settled: dict[str, Settled] = {}
        """The deferred values that have come before the shell, by their names."""
        self.begun = False

    def cause_of(self, failure: BaseException) -> Settled | None:
        """Return the deferred value without which the shell could not be rendered, if any."""
        if isinstance(failure, RenderFailed) and failure.name == _DEFERRED_FAILED:
            return self._settled.get(failure.message)
        return None

    def settled_values(self) -> Values:
        """Return the loaders' values with the results of the deferred functions that have ended."""
        ended = {(one.value.source, one.value.key): one.result for one in self._settled.values()}
        return {
            source: {key: ended.get((source, key), value) for key, value in data.items()}
            for source, data in self._early.values.items()
        }

    async def run(self) -> BaseException | None:
        """Send the page; return the error that interrupted it, or None."""
        page, early = self._page, self._early
        plan = page.target.plan
        try:
            content = Content(early.values, early.status, deferred=self._deferred is not None)
            if self._promised:
                values, names = without_deferred(early.values), names_of(self._promised, plan)
                within = page.site.config.timeouts.loader
                content = replace(
                    content, values=values, promises=names, document=self._id, within=within
                )
            payload = self._payload = page.payload(plan, content)
        except BaseException as raised:  # HEAD functions and loaders' values
            return self._known(raised)
        if len(payload) < LARGE:
            return await self._run(payload)
        event = page.event
        try:
            async with page.site.large.rendering(
                payload,
                page.place,
                footprint=_KEEPS * len(payload),
                reserved=event.reserved,
                address=event.address,
            ):
                return await self._run(payload)
        except UnsentFull as full:
            return full

    async def _run(self, payload: bytes) -> BaseException | None:
        page, plan = self._page, self._page.target.plan
        failure: BaseException | None = None
        parts: RenderParts | None = None
        with trio.CancelScope() as document, self._opened(document):
            async with trio.open_nursery() as nursery:
                try:
                    with span("render", plan.view.module):
                        async with page.running.renderer.stream(plan.view.id, payload) as parts:
                            if self._deferred is not None:
                                nursery.start_soon(self._deliver_deferred, self._deferred, parts)
                            if self._promised:
                                nursery.start_soon(self._deliver_values, parts)
                            async for part in parts:
                                await self._send_part(part)
                            self._shell_sent.set()
                except SsrDown as error:
                    if self.begun:
                        log_failure(error, plan.view.module)
                    elif self._deferred is not None:
                        failure = error
                    else:
                        await self._leave_to_browser(error)
                        if self._promised and parts is None:
                            nursery.start_soon(self._deliver_values, None)
                except BaseException as raised:  # the render runs application code
                    failure = self._known(raised)
                if failure is not None:
                    nursery.cancel_scope.cancel("the render failed")
        if failure is None:
            await self._finish(left=document.cancelled_caught)
        try:
            return failure
        finally:
            del failure  # this frame is in its traceback: they would hold each other

    def _opened(self, scope: trio.CancelScope) -> AbstractContextManager[None]:
        """Let the browser end a document that may still wait for data."""
        documents = self._page.running.documents
        return documents.opened(self._id, scope) if self._id else nullcontext()

    async def _leave_to_browser(self, error: SsrDown) -> None:
        """Send an empty shell, since no worker can render the page."""
        page = self._page
        log.error("%s: %s The browser renders it.", page.target.plan.view.module, error)
        page.event.audience.leave_to_browser()
        await self._send_part(Rendered(b"", b"</div>"))

    def _known(self, raised: BaseException) -> BaseException:
        """Return the application's error, as the client sees it."""
        page = self._page
        try:
            known: BaseException = unwrap(application_error(raised), page.event.draft, page.place)
            return known
        finally:
            del raised  # this frame may be in its traceback: they would hold each other

    async def _deliver_deferred(self, deferred: DeferredLoader, parts: RenderParts) -> None:
        """Deliver the outcome of the deferred loader to the render."""
        outcome = self._outcome = await deferred.wait_joined(self._early)
        if isinstance(outcome, Loaded):
            unsettled = deferred_in(outcome.values)
            if unsettled:  # the payload follows, so nothing is gained by sending them later
                self._deferred_names = names_of(unsettled, self._page.target.plan)
                outcome = self._outcome = await settle(self._page, outcome)
        if isinstance(outcome, Loaded):
            try:
                data = encode_data(self._page.target.plan, outcome.values)
                await parts.resolve("page", data)
                return
            except BaseException as raised:  # a value that JSON cannot hold
                error = application_error(raised)
                self._outcome = Failed(deferred.loader.source, error, self._early.values)
        await parts.reject("page", _NO_DATA)

    async def _deliver_values(self, parts: RenderParts | None) -> None:
        """Run the deferred functions, and give each value to the browser and to the render.

        ``parts`` is None when the browser renders the page.
        """
        plan = self._page.target.plan

        async def send(settled: Settled) -> None:
            name = settled.value.name(plan)
            script = self._frame.settled_value(settled.entry(plan))
            early = not self.begun  # a shell may wait for the value
            if early:
                self._settled[name] = settled
            else:
                await self._send_between(script)
            if parts is not None:
                await _settle_in_render(parts, name, settled)
            if early:
                await self._shell_sent.wait()
                await self._send_between(script)

        await deliver(self._page, self._promised, send)

    async def _send_between(self, data: bytes) -> None:
        """Send something between two parts, each of which is whole elements."""
        await self._shell_sent.wait()
        async with self._writing:
            await self._send(data)

    async def _send_part(self, part: Rendered) -> None:
        page = self._page
        self._outlined |= has_outlined(part.html)
        if self.begun and self._promised:
            await self._send_between(part.html)
            return
        if self.begun:
            await self._send(part.html)
            return
        self.begun = True
        event = page.event
        self._sent_headers = len(event.draft.raw_headers)
        event.status = self._early.status
        event.draft.settle(self._early.status)
        own = [UNBUFFERED, *headers_of(page.html_lines(self._nonce))]
        headers = complete_headers(event, own)
        start = {"type": "http.response.start", "status": self._early.status, "headers": headers}
        await event.send(start)
        if self._promised:
            shell = self._frame.early_shell(part, self._payload)
        else:
            shell = self._frame.shell(part)
        await self._send(shell + (load_settled(page, self._id) if self._id else b""))
        self._settled.clear()
        self._shell_sent.set()

    async def _finish(self, *, left: bool) -> None:
        """Send the payload, for the browser to take over, unless it has ``left`` the document."""
        if self._deferred is not None and not left:
            self._log_ignored_changes(self._deferred)
        if self._promised or left:
            await self._send(self._frame.early_rest(REVEAL_DEFERRED_PARTS))
            await self._page.event.send({"type": "http.response.body", "body": b""})
            return
        ending = await self._ending()
        again = load_settled(self._page) if self._outlined and not self._id else b""
        await self._send(again + self._frame.rest(ending.payload, ending.script, ending.plain))
        await self._page.event.send({"type": "http.response.body", "body": b""})

    async def _ending(self) -> StreamEnding:
        page, outcome = self._page, self._outcome
        if isinstance(outcome, Redirect):
            return redirect_ending(outcome.url)
        if isinstance(outcome, Loaded):
            content = Content(outcome.values, outcome.status, promises=self._deferred_names)
            payload = page.payload(page.target.plan, content)
            return whole_ending(payload, deferred=self._deferred is not None)
        problem = problem_of(outcome.error, development=page.site.development)
        log_failure(outcome.error, outcome.source)
        values: Values = self._early.values
        for boundary in boundaries(page, problem):
            if all(loader.source in values for loader in boundary.loaders):
                return await failure_ending(
                    page, boundary, Content(values, problem.status, problem)
                )
        return StreamEnding(b"{}")

    def _log_ignored_changes(self, deferred: DeferredLoader) -> None:
        """Log the status and headers that the loader set after they were sent."""
        outcome, draft = self._outcome, self._page.event.draft
        lost = [name.decode("latin-1") for name, _ in draft.raw_headers[self._sent_headers :]]
        if isinstance(outcome, Redirect):
            lost.insert(0, f"a redirect to {outcome.url}")
        elif isinstance(outcome, Failed):
            problem = problem_of(outcome.error, development=False)
            lost.insert(0, f"the status {problem.status}")
        elif outcome.status != self._early.status:
            lost.insert(0, f"the status {outcome.status}")
        if lost:
            request = self._page.event.request_id
            log.warning(
                "%s: set %s after the page was sent with status %d (request %s), so it is lost. "
                "Let it end within timeouts.shell, or remove the loading.fxl.",
                deferred.loader.place,
                ", ".join(lost),
                self._early.status,
                "-" if request is None else request.decode(),
            )

    async def _send(self, data: bytes) -> None:
        if self._page.event.scope["method"] == "HEAD":
            return
        body = self._writer.feed(data)
        await self._page.event.send({"type": "http.response.body", "body": body, "more_body": True})


class NonceWriter:
    """Replaces the placeholder of the nonce in bytes that come in parts."""

    def __init__(self, placeholder: bytes, nonce: bytes) -> None:
        self._placeholder = placeholder
        self._nonce = nonce
        self._buffered = b""

    def feed(self, data: bytes) -> bytes:
        """Return the data that can be sent; an incomplete placeholder is held back."""
        placeholder = self._placeholder
        if not placeholder:
            return data
        data = (self._buffered + data).replace(placeholder, self._nonce)
        for size in range(min(len(placeholder) - 1, len(data)), 0, -1):
            if placeholder.startswith(data[-size:]):
                self._buffered = data[-size:]
                return data[:-size]
        self._buffered = b""
        return data
