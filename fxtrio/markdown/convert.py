"""HTML of a rendered page → Markdown, by the library html-to-markdown.

The import is lazy: it loads a native library that apps without ``llms`` never need.
"""

from __future__ import annotations

import logging

import trio

LARGE = 8192
"""Characters from which a thread does the work: about 1 ms, ten times the cost of the thread."""

logger = logging.getLogger("fx.markdown")


async def convert_html(html: str) -> str:
    """Return the Markdown of ``html``, the inside of a page's body.

    Tables stay tables, and text that looks like Markdown is escaped, so it reads as
    on the page. Scripts, styles, templates and drawings (SVG) are left out.
    """
    if len(html) < LARGE:
        return _convert(html)
    return await trio.to_thread.run_sync(_convert, html)


def _convert(html: str) -> str:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    result = convert(
        html,
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
    return result.content or ""
