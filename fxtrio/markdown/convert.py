"""HTML of a rendered page → Markdown, by the library html-to-markdown.

It is an extra. Its import is lazy: it loads a native library of which a server that is asked for
no Markdown has no use.
"""

from __future__ import annotations

import logging
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

        # Their patterns take long to compile.
        from fxtrio.markdown.escapes import drop_needless
        from fxtrio.markdown.page_content import content_of

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
