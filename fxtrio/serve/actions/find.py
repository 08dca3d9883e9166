"""Which action a URL names: `{base}/api/__actions/{page_path}/{name}` → page and function.

Called by `fxtrio.serve.actions.call` for each request to such a URL.
"""

from __future__ import annotations

from difflib import get_close_matches
from urllib.parse import quote

import attrs

from fxtrio.manifest import ApiRoute, PageRoute
from fxtrio.serve.pages.code import ActionCode
from fxtrio.serve.pages.site import Site

PREFIX = "/api/__actions/"


@attrs.frozen
class NamedAction:
    """An action, and the page that it belongs to."""

    page: PageRoute
    params: dict[str, str]
    path: str
    """Decoded path of the page, without the base URL."""

    action: ActionCode

    def page_url(self, base_url: str) -> str:
        """Return the page's URL, for a `Location`."""
        url = f"{base_url}{self.path}" if self.path != "/" else base_url or "/"
        return quote(url, safe="/!$&'()*+,;=:@")


def find_action(site: Site, url_path: str) -> NamedAction | None:
    """Return what ``url_path``, which begins with `PREFIX`, names; None when it is nothing."""
    page_path, _, name = url_path[len(PREFIX) :].rpartition("/")
    path = _path_of(page_path)
    match = site.router.match(path)
    if match is None or not page_path:
        return None
    page, params = match
    if isinstance(page, ApiRoute):
        return None
    action = site.plans[page.view].inner.actions.get(name)
    return None if action is None else NamedAction(page, params, path, action)


def say_missing(site: Site, url_path: str) -> str:
    """Return why ``url_path`` names no action, with what its author may have meant.

    For development: it tells which actions there are.
    """
    page_path, _, name = url_path[len(PREFIX) :].rpartition("/")
    path = _path_of(page_path)
    match = site.router.match(path) if page_path else None
    if match is None or isinstance(match[0], ApiRoute):
        return f"Action not found: no page has the path {path!r}."
    inner = site.plans[match[0].view].inner
    place, known = inner.module.source, sorted(inner.actions)
    if not known:
        return f"Action not found: {place} has no actions."
    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"Action not found: {place} has no action {name!r}.{hint} It has {', '.join(known)}."


def _path_of(page_path: str) -> str:
    return "/" if page_path == "index" else f"/{page_path}"
