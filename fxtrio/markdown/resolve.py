"""The sources of a page in their order: which one gives the Markdown of a page.

A file beside the page, then the page's hook, then the hooks of the folders around it,
nearest first, then its HTML, converted. `fxtrio.serve` says what there is.
"""

from __future__ import annotations

import msgspec

from fxtrio.markdown.context import MarkdownContext
from fxtrio.markdown.convert import HtmlConverter
from fxtrio.markdown.hooks import MarkdownHook


class MarkdownSources(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of one page."""

    place: str = ""
    """The page's file, for the log."""

    text: str | None = None
    """The file ``<page>.md`` beside the page file."""

    hooks: tuple[MarkdownHook, ...] = ()
    """The page's ``to_markdown``, then those of `llms.py` files, nearest folder first."""

    converter: HtmlConverter | None = None
    """What may convert the page's HTML."""

    wrap: MarkdownHook | None = None
    """``wrap_markdown`` of the root `llms.py`."""

    @property
    def promising(self) -> bool:
        """Whether there is any source; a hook may still decline."""
        return self.text is not None or bool(self.hooks) or self.converter is not None


async def resolve_markdown(context: MarkdownContext, sources: MarkdownSources) -> str | None:
    """Return the page's Markdown from the first source that does not decline, wrapped.

    None when all decline: the caller redirects ``/page.md`` to the page (307, query
    kept), and answers with HTML where the page itself was asked for Markdown.

    Errors of hooks, loader and renderer pass unchanged. Raises MarkdownHookMistaken when
    a hook returns something else than a str or None.
    """
    markdown = await _first(context, sources)
    if markdown is None or sources.wrap is None:
        return markdown
    wrapped = await sources.wrap.ask(context, markdown)
    return markdown if wrapped is None else wrapped


async def _first(context: MarkdownContext, sources: MarkdownSources) -> str | None:
    if sources.text is not None:
        return sources.text
    for hook in sources.hooks:
        markdown = await hook.ask(context)
        if markdown is not None:
            return markdown
    if sources.converter is None:
        return None
    return await sources.converter.convert(await context.render_html(), sources.place)


def nearest_llms(source: str, files: dict[str, str]) -> tuple[str, ...]:
    """Return the `llms.py` files around the page file ``source``, nearest folder first.

    ``files`` is `Manifest.llms`: folder to file, both as POSIX paths from the project.
    """
    found = []
    folder = source
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        if folder in files:
            found.append(files[folder])
    return tuple(found)
