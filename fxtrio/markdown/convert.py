"""HTML of a rendered page → Markdown, by the library html-to-markdown.

It is an extra. Its import is lazy: it loads a native library of which a server that is asked for
no Markdown has no use.
"""

from __future__ import annotations

import logging
import re
from importlib.util import find_spec
from typing import Final

import trio

from fxtrio.errors import ExtraMissing

LARGE: Final = 2048
"""Characters from which a thread does the work: 4 ms at worst, and 0.2 ms of most pages."""

LARGEST: Final = 512 * 1024
"""Characters of HTML that are converted, where the settings say nothing else."""

DEEPEST: Final = 128
"""Elements around an element. What quotes and lists add to each line grows with their depth."""

_CONTENT = re.compile(r"<(?:main|article)[\s/>]", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:(?P<comment>!--)|(?P<raw>script|style|template|textarea)\b"
    r"|(?P<name>main|article|h1)(?=[\s/>])|[a-z])",
    re.IGNORECASE,
)
_REST = re.compile(r"""(?>(?:"[^"]*+"|'[^']*+'|[^>"']++)*)>""")
"""A tag after its name: a `>` in the value of an attribute does not end it."""

logger = logging.getLogger("fx.markdown")


class HtmlConverter:
    """Converts the pages of one app, one large page at a time.

    Much of the work is done in Python: a second thread would not make it faster, and leave
    the event loop less time.
    """

    def __init__(self, largest: int = LARGEST) -> None:
        """``largest`` is in characters of HTML. Raises ExtraMissing."""
        if find_spec("html_to_markdown") is None:
            raise ExtraMissing("llms.autoConvert", "llms", "html-to-markdown")
        self._largest = largest
        self._limiter = trio.CapacityLimiter(1)

    async def convert(self, html: str, place: str) -> str | None:
        """Return the Markdown of ``html``, the inside of a page's body.

        It is that of the page's own content (`content_of`). Tables stay
        tables, and text that Markdown would act on is escaped, so it reads as on the
        page. Scripts, styles, templates and drawings (SVG) are left out.

        None where ``html`` is too large or nested too deeply, and where its Markdown would
        be too large: the log says so. ``place`` is the page's file.
        """
        if len(html) > self._largest:
            logger.warning(
                "%s: not converted to Markdown, its HTML has more than %d characters. Write its "
                "Markdown in to_markdown, or raise llms.maxHtml.",
                place,
                self._largest,
            )
            return None
        if len(html) < LARGE:
            return self._convert(html, place)
        return await trio.to_thread.run_sync(self._convert, html, place, limiter=self._limiter)

    def _convert(self, html: str, place: str) -> str | None:
        from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

        from fxtrio.markdown.escapes import drop_needless  # its patterns take long to compile

        result = convert(
            content_of(html),
            ConversionOptions(
                escape_misc=True,
                escape_asterisks=True,
                escape_underscores=True,
                extract_metadata=False,
                exclude_selectors=["svg"],
                max_depth=DEEPEST,
                # The clean-up would drop navigation and forms, which are part of the page.
                preprocessing=PreprocessingOptions(enabled=False),
            ),
        )
        for warning in result.warnings:
            if str(warning.kind) == "depth_limit_exceeded":
                logger.warning(
                    "%s: not converted to Markdown, its HTML has more than %d nested elements. "
                    "Write its Markdown in to_markdown.",
                    place,
                    DEEPEST,
                )
                return None
            logger.warning("%s: converting it to Markdown: %s", place, warning.message)
        text = result.content or ""
        # Rows of a table are filled up to the longest one, lines of nested lists are indented.
        if len(text) > 2 * max(self._largest, LARGE):
            logger.warning(
                "%s: not converted to Markdown, which would have %d characters. Write its "
                "Markdown in to_markdown.",
                place,
                len(text),
            )
            return None
        return drop_needless(text)


def start_of_content(html: str) -> int:
    """Return where the content begins: the first ``<main>``, else the first ``<article>``.

    An ``<h1>`` before the article is the title of what follows, and begins it. 0 when
    there is none of them. No tag is seen in a comment, a script or an attribute, and
    none behind one that does not end.
    """
    if _CONTENT.search(html) is None:
        return 0
    first: dict[str, int] = {}
    position = 0
    while "main" not in first and (tag := _TAG.search(html, position)) is not None:
        if tag["name"]:
            first.setdefault(tag["name"].lower(), tag.start())
        end = _end_of(html, tag)
        if end is None:
            break
        position = end
    if "main" in first:
        return first["main"]
    if "article" in first:
        return min(first["article"], first.get("h1", len(html)))
    return 0


def content_of(html: str) -> str:
    """Return the page's own content: from `start_of_content` on, and up to the last ``</main>``.

    Without ``<main>`` it goes on to the end: a footer behind it may be the page's. React writes
    the names of elements in lowercase.
    """
    start = start_of_content(html)
    end = html.rfind("</main>", start) if html[start : start + 5].lower() == "<main" else -1
    return html[start:] if end == -1 else html[start:end]


def _end_of(html: str, tag: re.Match[str]) -> int | None:
    """Return where a tag ends, with what is inside of a comment or a script."""
    if tag["comment"]:
        end = html.find("-->", tag.end())
        return None if end == -1 else end + 3
    if tag["raw"]:
        closing = _CLOSING[tag["raw"].lower()].search(html, tag.end())
        return None if closing is None else closing.end()
    rest = _REST.match(html, tag.end())
    return None if rest is None else rest.end()


_CLOSING = {
    name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE)
    for name in ("script", "style", "template", "textarea")
}
