"""Which action a URL names: `{base}/api/__actions/{page_path}/{name}` → page and function.

One of a module has no page: `{base}/api/__actions/{module}.{name}`.
Called by `fxtrio.serve.actions.action` for each request to such a URL.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fxtrio.errors import ResultInvalid
from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.nearest import nearest
from fxtrio.routes import MatchedRoute
from fxtrio.serve.pages.functions.server_functions import ActionCode
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.client_protocol import ACTIONS
from fxtrio.serve.request.event import PagePath, RequestEvent
from fxtrio.serve.request.page_paths import split_page_path


class ActionResultInvalid(ResultInvalid):
    """An action returned neither a dict nor a response."""

    remedy = "Return a dict"


class ActionPage(msgspec.Struct, frozen=True):
    """The page that an action belongs to, as its URL names it."""

    route: PageRoute
    path: PagePath


class NamedAction(msgspec.Struct, frozen=True):
    """An action, and the page that it belongs to."""

    page: ActionPage | None
    """None for one of a module."""

    params: dict[str, str]
    action: ActionCode
    matched: MatchedRoute
    """What hooks learn of it."""

    pattern: str
    """By which the settings name it."""


def find_action(site: Site, event: RequestEvent) -> NamedAction | None:
    """Return what a URL, whose path begins with `ACTIONS`, names; None when it is nothing."""
    path, name = split_page_path(event, ACTIONS)
    if path is None:
        shared = site.shared_actions.get(name) if _is_alone(event) else None
        if shared is None:
            return None
        pattern = shared.matched.pattern or ""
        return NamedAction(None, {}, shared.action, shared.matched, pattern)
    match = site.router.match(path.path, path.sent)
    if match is None:
        return None
    page, params = match
    if isinstance(page, ApiRoute):
        return None
    inner = site.plans[page.view].inner
    action = inner.actions.get(name)
    if action is None:
        return None
    matched = site.matched_actions[page.pattern, name]
    return NamedAction(ActionPage(page, path), params, action, matched, page.pattern)


def named_actions(site: Site) -> Iterator[tuple[str, NamedAction]]:
    """Yield each path that names an action without parameters, with what it names."""
    for name, shared in site.shared_actions.items():
        pattern = shared.matched.pattern or ""
        yield ACTIONS + name, NamedAction(None, {}, shared.action, shared.matched, pattern)
    for route in site.manifest.routes:
        pattern = route.pattern
        if "[" in pattern or pattern == "/index":  # which stands for "/" in such a path
            continue
        folder = "index" if pattern == "/" else pattern[1:]
        page = ActionPage(route, PagePath(pattern))
        for name, action in site.plans[route.view].inner.actions.items():
            matched = site.matched_actions[pattern, name]
            yield f"{ACTIONS}{folder}/{name}", NamedAction(page, {}, action, matched, pattern)


def _is_alone(event: RequestEvent) -> bool:
    """Whether a URL names an action and nothing before it, such as an empty path."""
    return "/" not in event.path[len(ACTIONS) :]


def say_missing(site: Site, event: RequestEvent) -> str:
    """Return why a URL names no action, with what its author may have meant.

    For development: it tells which actions there are.
    """
    path, name = split_page_path(event, ACTIONS)
    if path is None and "." in name:
        shared = sorted(site.shared_actions)
        near = nearest(name, shared)
        hint = f" Did you mean {near!r}?" if near else ""
        return f"Action not found: no module of 'actions' has {name!r}.{hint}"
    match = None if path is None else site.router.match(path.path, path.sent)
    if match is None or isinstance(match[0], ApiRoute):
        path_text = "/" if path is None else path.path
        return f"Action not found: no page has the path {path_text!r}."
    inner = site.plans[match[0].view].inner
    place, known = inner.module.source, sorted(inner.actions)
    if not known:
        return f"Action not found: {place} has no actions."
    near = nearest(name, known)
    hint = f" Did you mean {near!r}?" if near else ""
    return f"Action not found: {place} has no action {name!r}.{hint} It has {', '.join(known)}."
