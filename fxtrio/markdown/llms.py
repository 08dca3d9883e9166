"""``/llms.txt``: the app's pages, and the text that lists them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote

from starlette.requests import Request

from fxtrio.markdown.context import LlmsPageInfo, LlmsTxtContext
from fxtrio.markdown.hooks import MarkdownHook
from fxtrio.markdown.paths import markdown_path

_OPTIONAL = re.compile(r"/\[\[[^/]*\]\]$")
_HEADING = re.compile(r"\s*+# ([^\n#`\[*_<]++)")
"""A heading whose text has no markup."""

_MARKUP = str.maketrans({char: f"\\{char}" for char in "\\[]*_`<>#"})


def literal(text: str) -> str:
    """Return ``text`` so that Markdown shows it as it is, on one line."""
    return " ".join(text.split()).translate(_MARKUP)


def list_pages(titles: Mapping[str, str]) -> tuple[LlmsPageInfo, ...]:
    """Return the pages among the route patterns that need no parameters, by path.

    ``titles`` has the title of each pattern; "" for the one that its path gives (`title_of`).
    ``[[...slug]]`` may be absent: the page is listed at the path before it, unless that has a
    page of its own.
    """
    found: dict[str, str] = {}
    for pattern, title in titles.items():
        path = _OPTIONAL.sub("", pattern) or "/"
        if "[" not in path and (path == pattern or path not in found):
            found[path] = " ".join(title.split()) or title_of(path)
    return tuple(
        LlmsPageInfo(path, markdown_path(path), title) for path, title in sorted(found.items())
    )


def first_heading(markdown: str) -> str:
    """Return the text of a first line ``# …`` of Markdown; "" when it begins otherwise."""
    found = _HEADING.match(markdown)
    return "" if found is None else found[1].strip()


def title_of(path: str) -> str:
    """Return a title for people from the last segment of ``path``; ``Home`` for the root.

    ``-`` and ``_`` become spaces and words begin with a capital; the rest stays.
    """
    segment = path.rpartition("/")[2]
    words = segment.replace("-", " ").replace("_", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words) or segment or "Home"


def render_default(
    name: str, pages: Iterable[LlmsPageInfo], *, root: str, has_markdown: Callable[[str], bool]
) -> str:
    """Return the generated ``/llms.txt``.

    ``root`` is the absolute URL of the app, base URL included, without a slash at its
    end. Links lead to the Markdown of the pages for whose path ``has_markdown`` holds.
    """
    lines = [f"# {literal(name)}", "", "## Pages", ""]
    for page in pages:
        path = page.md_url if has_markdown(page.path) else page.path
        lines.append(f"- [{literal(page.title)}]({root}{quote(path)})")
    return "\n".join(lines) + "\n"


async def render_llms_txt(
    request: Request,
    pages: tuple[LlmsPageInfo, ...],
    *,
    name: str,
    base_url: str,
    has_markdown: Callable[[str], bool],
    hook: MarkdownHook | None = None,
) -> str:
    """Return ``/llms.txt``: what ``llms_txt`` of the root `llms.py` says, else the default.

    A file ``public/llms.txt`` comes before both, and is the caller's to serve. Links
    are built from the request's scheme and `Host`, so no shared cache may keep them.
    Errors of the hook pass unchanged. Raises MarkdownHookMistaken when it returns
    something else than a str or None.
    """

    def default() -> str:
        root = f"{request.url.scheme}://{request.url.netloc}{base_url}"
        return render_default(name, pages, root=root, has_markdown=has_markdown)

    if hook is not None:
        text = await hook.ask(LlmsTxtContext(request, pages, default=default))
        if text is not None:
            return text
    return default()
