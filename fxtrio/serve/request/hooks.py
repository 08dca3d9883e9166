"""What stands before a page or action: route hooks, and proof against cross-site requests."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Scope

from fxtrio.errors import Redirect, RouteHookMistaken
from fxtrio.serve.pages.site import Hook, Site
from fxtrio.serve.request import csrf
from fxtrio.serve.request.audience import Audience
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.forms import MULTIPART, URLENCODED, media_type
from fxtrio.serve.request.reply import Header


async def run_hooks(
    hooks: tuple[Hook, ...], connection: HTTPConnection, audience: Audience
) -> Response | Redirect | None:
    """Run route hooks, outermost first; the first that answers ends them.

    Raises RouteHookMistaken, and what the hooks raise.
    """
    for hook in hooks:
        try:
            audience.ask(hook.name)
            answer = await _ask(hook, connection)
        except Redirect as redirect:
            return redirect
        finally:
            audience.ask("")
        if answer is not None:
            return answer
    return None


async def _ask(hook: Hook, connection: HTTPConnection) -> Response | Redirect | None:
    """Return the answer of one hook."""
    try:
        waiting = hook.function(connection)
    except TypeError as error:
        here = error.__traceback__
        if here is not None and here.tb_next is not None:  # raised by the hook's own code
            raise
        cause = f"cannot be called with the request alone: {error}"
        raise RouteHookMistaken(hook.name, cause) from None
    if not inspect.isawaitable(waiting):
        raise RouteHookMistaken(hook.name, "is not async")
    answer = await waiting
    if answer is None or isinstance(answer, (Response, Redirect)):
        return answer
    raise RouteHookMistaken(hook.name, returned=answer)


async def run_page_hooks(
    site: Site,
    scope: Scope,
    path: PagePath,
    connect: Callable[[Scope], HTTPConnection],
    audience: Audience,
) -> Response | Redirect | None:
    """Run the hooks of pages for another form of the page at ``path``, as for the page itself.

    The hooks see the page's own URL, never that of its Markdown or of its action: who
    guards by path guards all of them. ``connect`` makes the connection of a scope; what
    hooks put into the scope stays.
    """
    if not site.hooks.pages:
        return None
    base = site.config.base_url
    url = base + path.path if path.path != "/" else base or "/"
    place = {"path": url, "raw_path": path.url(base).encode("latin-1")}
    seen = {**scope, **place}
    answer = await run_hooks(site.hooks.pages, connect(seen), audience)
    scope.update({name: value for name, value in seen.items() if name not in place})
    return answer


def csrf_refusal(
    site: Site, event: RequestEvent, request: Request, form: dict[str, Any] | None
) -> str | None:
    """Return why an unsafe request is refused, "" when it may pass, None when a form may say.

    ``form`` holds the fields of a form that was read because the headers did
    not decide; None before that. Only who has a cookie that holds may send one.
    """
    settings = site.config.csrf
    if not settings.enabled or csrf.exempt(event.whole_path, settings.exempt_paths):
        return ""
    scheme = event.scope["scheme"]
    origin = csrf.judge_origin(
        event.headers, scheme=scheme, trusted_origins=settings.trusted_origins
    )
    if origin.trusted is False or (origin.trusted is None and settings.mode == "strict"):
        return origin.reason
    if origin.trusted and settings.mode == "standard":
        return ""
    sent = event.headers.get(csrf.HEADER)
    cookie = csrf.read_cookie(event.headers.get(b"cookie"), csrf.cookie_name(scheme))
    binding = site.csrf_binding(request) or ""
    may_follow = sent is None and form is None and _sends_form(event)
    if may_follow and cookie and site.tokens.holds(cookie, binding):
        return None
    token = sent.decode("latin-1") if sent is not None else (form or {}).get(csrf.FIELD)
    wrong = site.tokens.matches(cookie, token if isinstance(token, str) else None, binding)
    if wrong and origin.trusted is None:
        return f"{origin.reason}, and {wrong}"
    return wrong


def _sends_form(event: RequestEvent) -> bool:
    content_type = event.headers.get(b"content-type", b"").decode("latin-1")
    return media_type(content_type) in (URLENCODED, MULTIPART)


def csrf_cookie(site: Site, event: RequestEvent, request: Request) -> list[Header]:
    """Return the `Set-Cookie` of the token, unless the client has one that holds."""
    if not site.config.csrf.enabled:
        return []
    scheme = event.scope["scheme"]
    binding = site.csrf_binding(request) or ""
    known = csrf.read_cookie(event.headers.get(b"cookie"), csrf.cookie_name(scheme))
    if known is not None and site.tokens.holds(known, binding):
        return []
    token = site.tokens.make(site.entropy.hex(), binding)
    return [(b"set-cookie", csrf.set_cookie_header(token, scheme))]
