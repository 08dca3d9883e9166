"""`/openapi.json`: the operations that are open to the visitor.

The build folder holds the document of the whole app, with the hooks that guard each operation.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import quote

import msgspec
import trio

from fxtrio.application_errors import application_error
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.errors import ActionError, LoaderError
from fxtrio.limiters import limiter_of
from fxtrio.routes.action_files import PREFIX
from fxtrio.routes.matched import SCOPE_KEY, MatchedRoute
from fxtrio.serve.openapi.visible import visible
from fxtrio.serve.pages.error_response import log_failure
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.client_protocol import ACTIONS, STREAMS
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.hook_evaluations import Evaluation, Evaluations, ListingBusy
from fxtrio.serve.request.hooks import run_hooks, run_page_hooks
from fxtrio.serve.request.response.error_response import ErrorResponse, busy, error_reply
from fxtrio.serve.request.response.response import JSON, NO_STORE, Answer, Reply, ResponseDraft
from fxtrio.serve.request.response.unwrap import unwrap

PATH = "/openapi.json"
FILE_NAME = "openapi.json"
"""In the build folder."""


class GuardedOperation(msgspec.Struct, frozen=True):
    """An operation of the document, and the hooks that guard it."""

    path: str
    """As in the document: below the base URL, with ``{name}`` for parameters."""

    method: str
    """In lower case."""

    kind: Literal["action", "api", "stream"]
    pattern: str
    """Of its page or endpoint."""

    source: str
    action: str = ""


class WholeDocument(msgspec.Struct, frozen=True):
    """The content of a build's file."""

    document: dict[str, Any]
    operations: tuple[GuardedOperation, ...]


class OpenApiSource(Protocol):
    """A source of the document."""

    async def get(self) -> WholeDocument | None:
        """Return it as it is now; None when there is none."""
        ...


class DocumentFile(msgspec.Struct, eq=False):
    """The file of a build, read on request after a change."""

    _path: Path
    _known: WholeDocument | None = None
    _changed: int = 0

    async def get(self) -> WholeDocument | None:
        """Return its content; None if there is no readable file."""
        return await trio.to_thread.run_sync(self._read, limiter=limiter_of("files"))

    def _read(self) -> WholeDocument | None:
        try:
            changed = self._path.stat().st_mtime_ns
            if changed != self._changed:
                self._known = msgspec.json.decode(self._path.read_bytes(), type=WholeDocument)
                self._changed = changed
        except (OSError, msgspec.DecodeError):
            return None
        return self._known


async def answer_openapi(
    site: Site, documents: OpenApiSource, event: RequestEvent, evaluations: Evaluations
) -> Answer:
    """Return the document, without the operations that the hooks deny to the visitor."""
    if event.scope["method"] not in ("GET", "HEAD"):
        reply = error_reply(ErrorResponse(f"{event.scope['method']} is not allowed here.", 405))
        reply.headers.append((b"allow", b"GET, HEAD"))
        return reply
    whole = await documents.get()
    if whole is None:
        return error_reply(ErrorResponse("The build has no OpenAPI document. Run 'fx build'.", 503))
    with trio.CancelScope(deadline=trio.current_time() + event.timeout):
        evaluate = partial(_open_operations, site, event, whole)
        try:
            open_to = await evaluations.ask(PATH, event.scope, evaluate)
        except ListingBusy as error:
            return error_reply(busy(error))
        visible_part = visible(whole.document, open_to)
        visible_part["servers"] = [{"url": quote(site.base_url, safe=SAFE_IN_PATHS) or "/"}]
        return Reply(200, json.dumps(visible_part, ensure_ascii=False).encode(), JSON, [NO_STORE])
    return error_reply(ErrorResponse("The route hooks took too long.", 504))


async def _open_operations(site: Site, event: RequestEvent, whole: WholeDocument) -> Evaluation:
    """Return the path and method of each operation that the hooks open."""
    opened = []
    reusable = True
    for one in whole.operations:
        draft = ResponseDraft()
        if await _is_open(site, event, one, draft):
            opened.append((one.path, one.method))
        reusable = reusable and not draft.raw_headers
    return Evaluation(frozenset(opened), reusable)


async def _is_open(
    site: Site, event: RequestEvent, operation: GuardedOperation, draft: ResponseDraft
) -> bool:
    """Run the hooks of an operation, as if it was called, to learn whether it may be.

    ``draft`` collects the headers that they set, which are not sent. The value of a parameter is
    its name in braces. ``request.state`` is separate from the request's own, and there is no
    body.
    """
    hooks = site.hooks
    shared = operation.pattern.startswith(PREFIX)
    acts = operation.kind != "api" and not shared
    if shared:
        guards = hooks.before("actions", "action")
    else:
        guards = hooks.before("page", operation.kind) if acts else hooks.before("endpoint", "api")
    if not guards:
        return True
    route = MatchedRoute(
        kind=operation.kind,
        pattern=operation.pattern,
        source=operation.source,
        action=operation.action if operation.kind != "stream" else "",
        stream=operation.action if operation.kind == "stream" else "",
    )
    url = site.base_url + operation.path
    state = {**event.scope["state"], "response": draft}
    scope = {
        **event.scope,
        "method": operation.method.upper(),
        "path": url,
        "raw_path": url.encode(),
        "query_string": b"",
        "path_params": _parameters(operation.path),
        "state": state,
        SCOPE_KEY: route,
    }
    audience = site.terms.audience
    try:
        rejection = None
        if acts:
            page = PagePath(_page_of(operation))
            rejection = await run_page_hooks(hooks, scope, page, audience.connect, audience)
        own = hooks.actions if acts else guards
        rejection = rejection or await run_hooks(own, audience.connect(scope), audience)
    except BaseException as raised:
        place = f"a route hook, called for {operation.path}"
        error = unwrap(application_error(raised), draft, place)
        if not isinstance(error, (LoaderError, ActionError)):
            log_failure(error, place)
        return False
    return rejection is None


def _page_of(operation: GuardedOperation) -> str:
    """Return the path of the page of an action or stream, with names in place of parameters."""
    prefix = STREAMS if operation.kind == "stream" else ACTIONS
    page = "/" + operation.path.removeprefix(prefix).rpartition("/")[0]
    return "/" if page == "/index" else page


def _parameters(path: str) -> dict[str, str]:
    return {part[1:-1]: part for part in path.split("/") if part.startswith("{")}
