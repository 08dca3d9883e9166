"""How a call of an action is answered: JSON, or a page for a form sent without JavaScript.

Called by `fxtrio.serve.actions.action` and `fxtrio.serve.actions.call`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from starlette.responses import Response

from fxtrio.encode import NotSerializable, encode
from fxtrio.errors import Redirect
from fxtrio.runtime import INVALIDATE_HEADER
from fxtrio.serve.actions.errors import with_login
from fxtrio.serve.actions.lookup import NamedAction
from fxtrio.serve.actions.no_js_forms import (
    FormPage,
    NoPage,
    asks_for_page,
    page_of,
    typed_values,
)
from fxtrio.serve.actions.result import Rejected, Result, Succeeded
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.bodies.body import ActionRequest
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import UNEXPECTED, ErrorResponse, error_reply
from fxtrio.serve.request.response.response import JSON, NO_STORE, Answer, Reply, encoded

log = logging.getLogger("fx.serve")


class Target(msgspec.Struct, frozen=True, eq=False):
    """The action that a request names, in its site."""

    site: Site
    running: Running
    event: RequestEvent
    found: NamedAction

    def page(self) -> FormPage | NoPage:
        """Return the page that the action was called from."""
        return page_of(self.site, self.running, self.event, self.found)

    def evict(self, urls: Iterable[str]) -> None:
        """Drop responses of ``urls`` that are cached; each with the path of the app or without."""
        cache, root = self.running.app.cache, self.site.root
        if cache is not None:
            inside = (url.removeprefix(root) if url.startswith(root + "/") else url for url in urls)
            cache.drop(*inside)

    def with_login(self, rejection: ErrorResponse) -> ErrorResponse:
        """Return a rejection; one with 401 says where its visitor can sign in."""
        if rejection.status != 401:
            return rejection
        return with_login(rejection, self.running.app, self.event.scope, self.page().url)


class Representation(Protocol):
    """What an answer looks like. Shared by all requests."""

    async def reject(self, target: Target, rejected: Rejected) -> Answer:
        """Say that the action was not run."""
        ...

    async def show(self, target: Target, request: ActionRequest, result: Result) -> Answer:
        """Say what the action came to."""
        ...


def representation_for(event: RequestEvent) -> Representation:
    """Return what the client wants to get."""
    return _PAGE if asks_for_page(event) else _JSON


class JsonRepresentation:
    """``{"ok": …}``, for `useAction`, `Form` and every other client that is no bare form."""

    async def reject(self, target: Target, rejected: Rejected) -> Answer:
        """Return the rejection."""
        return error_reply(target.with_login(rejected.rejection))

    async def show(self, target: Target, request: ActionRequest, result: Result) -> Answer:
        """Return the result in its envelope; a response of the action's own as it is."""
        if isinstance(result, Response):
            return result
        if isinstance(result, ErrorResponse):
            return error_reply(target.with_login(result))
        place = target.found.action.place
        if isinstance(result, Redirect):
            return _success({"redirect": result.url}, result.invalidated, place)
        try:
            return _success(result.result, result.invalidated, place)
        except NotSerializable as error:
            log.error("%s", error)
            message = str(error) if target.site.development else UNEXPECTED
            return error_reply(ErrorResponse(message, 500))


class PageRepresentation:
    """The page that the form stands in, or a redirect after which a reload sends nothing again."""

    async def reject(self, target: Target, rejected: Rejected) -> Answer:
        """Show the rejection, and of the page only what its visitor was admitted to."""
        rejection = target.with_login(rejected.rejection)
        return await target.page().reject(rejection, admitted=rejected.admitted)

    async def show(self, target: Target, request: ActionRequest, result: Result) -> Answer:
        """Leave for where the result leads, or show the page with what was wrong."""
        if isinstance(result, Response):
            return result
        page = target.page()
        if isinstance(result, Succeeded):
            return page.leave(page.url)
        if isinstance(result, Redirect):
            return page.leave(result.url)
        rejection = target.with_login(result)
        if rejection.redirect is not None:
            return page.leave(rejection.redirect)
        return await page.again(target.found.action.name, rejection, await typed_values(request))


_LINES = encoded([(b"content-type", JSON), NO_STORE])
_JSON = JsonRepresentation()
_PAGE = PageRepresentation()


def _success(result: Mapping[str, Any], invalidated: Sequence[str], place: str) -> Reply:
    """Return ``{ok: true, …}``; a returned ``ok`` never overrides the envelope."""
    body = encode({**result, "ok": True}, place=place)
    if not invalidated:
        return Reply(200, body, JSON, None, _LINES)
    urls = (INVALIDATE_HEADER.encode(), ", ".join(invalidated).encode())
    return Reply(200, body, JSON, [NO_STORE, urls])
