"""URLs of pages ↔ URLs of their Markdown. Pure; all paths without the base URL.

``/`` ↔ ``/index.md`` and ``/blog/x`` ↔ ``/blog/x.md``.
"""

from __future__ import annotations

SUFFIX = ".md"
MEDIA_TYPE = "text/markdown; charset=utf-8"
_ROOT = "/index"


def markdown_path(page: str) -> str:
    """Return the path of the Markdown of the page at the path ``page``."""
    return (_ROOT if page == "/" else page) + SUFFIX


def page_path(path: str) -> str | None:
    """Return the path of the page whose Markdown is at ``path``.

    None when ``path`` is no such path: another ending, or nothing before the ending.
    """
    page = path.removesuffix(SUFFIX)
    if page == path or page.endswith("/") or not page.startswith("/"):
        return None
    return "/" if page == _ROOT else page


def llms_link(base_url: str) -> str:
    """Return the `Link` header of pages, which leads agents to ``/llms.txt``."""
    return f'<{base_url}/llms.txt>; rel="llms-txt"'
