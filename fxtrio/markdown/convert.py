"""HTML of a rendered page → Markdown, by the library html-to-markdown.

The import is lazy: it loads a native library that apps without ``llms`` never need.
"""

from __future__ import annotations

import logging
import re

import trio

from fxtrio.markdown.escapes import drop_needless

LARGE = 8192
"""Characters from which a thread does the work: about 1 ms, ten times the cost of the thread."""

_TAG = re.compile(
    r"<!--.*?-->"
    r"|<(?P<raw>script|style|template|textarea)\b.*?</(?P=raw)\s*>"
    r"|<(?P<name>main|article|h1)(?=[\s/>])"
    r"""|<[a-z](?:"[^"]*"|'[^']*'|[^>"'])*>""",
    re.IGNORECASE | re.DOTALL,
)
"""Whatever begins with ``<``, so that no tag is seen in a comment, a script or an attribute."""

logger = logging.getLogger("fx.markdown")


async def convert_html(html: str) -> str:
    """Return the Markdown of ``html``, the inside of a page's body.

    It starts where the page's own content does (`start_of_content`). Tables stay
    tables, and text that Markdown would act on is escaped, so it reads as on the
    page. Scripts, styles, templates and drawings (SVG) are left out.
    """
    if len(html) < LARGE:
        return _convert(html)
    return await trio.to_thread.run_sync(_convert, html)


def start_of_content(html: str) -> int:
    """Return where the content begins: the first ``<main>``, else the first ``<article>``.

    An ``<h1>`` before the article is the title of what follows, and begins it. 0 when
    there is none of them.
    """
    first: dict[str, int] = {}
    for tag in _TAG.finditer(html):
        if tag["name"]:
            first.setdefault(tag["name"].lower(), tag.start())
    if "main" in first:
        return first["main"]
    if "article" in first:
        return min(first["article"], first.get("h1", len(html)))
    return 0


def _convert(html: str) -> str:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    result = convert(
        html[start_of_content(html) :],
        ConversionOptions(
            escape_misc=True,
            escape_asterisks=True,
            escape_underscores=True,
            extract_metadata=False,
            exclude_selectors=["svg"],
            # The clean-up would drop navigation and forms, which are part of the page.
            preprocessing=PreprocessingOptions(enabled=False),
        ),
    )
    for warning in result.warnings:
        logger.warning("Converting HTML to Markdown: %s", warning.message)
    return drop_needless(result.content or "")
