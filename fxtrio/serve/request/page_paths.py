"""Pages in URLs of the runtime: `{prefix}{page_path}/{name}` → the page's path and the name.

Called for actions and streams, whose pages are named by their own paths.
"""

from __future__ import annotations

from urllib.parse import unquote

from fxtrio.serve.request.event import PagePath, RequestEvent


def split_page_path(event: RequestEvent, prefix: str) -> tuple[PagePath | None, str]:
    """Return the path of the page, None without one, and the name behind it.

    ``prefix`` has two segments, such as ``/api/__actions/``.
    """
    if event.raw_path is None:
        page, _, name = event.path[len(prefix) :].rpartition("/")
        return _path_of(PagePath(f"/{page}")), name
    if not event.whole_path.startswith(prefix):
        return None, ""
    segments = event.raw_path.decode("latin-1").split("/")
    raw = "/" + "/".join(segments[3:-1])
    return _path_of(PagePath(unquote(raw), raw.encode("latin-1"))), unquote(segments[-1])


def _path_of(page: PagePath) -> PagePath | None:
    if page.path == "/index":
        return PagePath("/")
    return page if page.path != "/" else None
