"""Markdown for agents: pages as ``.md``, and ``/llms.txt``.

Called by `fxtrio.serve` when ``llms`` is enabled; knows nothing of routes, modules or
files, which come in as `MarkdownSources` and callables.
Begin with `resolve`, which of a page's sources gives its Markdown.
"""

from fxtrio.markdown.context import LlmsPageInfo, LlmsTxtContext, MarkdownContext
from fxtrio.markdown.convert import LARGEST, HtmlConverter
from fxtrio.markdown.hooks import MarkdownHook
from fxtrio.markdown.llms import (
    first_heading,
    list_pages,
    literal,
    render_default,
    render_llms_txt,
    title_of,
)
from fxtrio.markdown.negotiation import prefers_markdown
from fxtrio.markdown.paths import MEDIA_TYPE, llms_link, markdown_path, page_path
from fxtrio.markdown.resolve import MarkdownSources, nearest_llms, resolve_markdown

__all__ = [
    "LARGEST",
    "MEDIA_TYPE",
    "HtmlConverter",
    "LlmsPageInfo",
    "LlmsTxtContext",
    "MarkdownContext",
    "MarkdownHook",
    "MarkdownSources",
    "first_heading",
    "list_pages",
    "literal",
    "llms_link",
    "markdown_path",
    "nearest_llms",
    "page_path",
    "prefers_markdown",
    "render_default",
    "render_llms_txt",
    "resolve_markdown",
    "title_of",
]
