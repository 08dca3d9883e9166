"""The sources of each page's Markdown, prepared at startup."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fxtrio.manifest import Manifest
from fxtrio.markdown import (
    HtmlConverter,
    LlmsPageInfo,
    MarkdownHook,
    MarkdownSources,
    first_heading,
    list_pages,
    nearest_llms,
)
from fxtrio.serve.pages.plan import ViewPlan


class SiteMarkdown:
    """The Markdown side of one app."""

    def __init__(
        self,
        manifest: Manifest,
        plans: tuple[ViewPlan, ...],
        *,
        root: Path,
        pages_dir: str,
        converter: HtmlConverter | None,
        llms: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """``llms`` holds the names of each imported `llms.py`, by its source."""
        top = manifest.llms.get(pages_dir, "")
        hooks = {
            name: MarkdownHook(f"{top}: {name}()", llms[top][name])
            for name in ("llms_txt", "wrap_markdown")
            if top and callable(llms[top].get(name))
        }
        self.llms_txt = hooks.get("llms_txt")
        """The application's function for `/llms.txt`."""

        texts = {route.view: _text(manifest, root, plans[route.view]) for route in manifest.routes}
        titles = {
            route.pattern: _title(manifest, plans[route.view], texts[route.view] or "")
            for route in manifest.routes
        }
        self.pages: tuple[LlmsPageInfo, ...] = list_pages(titles)
        """The app's concrete pages."""

        self.promising: dict[str, bool] = {}
        """Path of a concrete page to whether a source has Markdown, filled on request."""

        self._sources = {
            route.view: MarkdownSources(
                place=plans[route.view].view.module,
                text=texts[route.view],
                hooks=_hooks(manifest, llms, plans[route.view]),
                converter=converter,
                wrap=hooks.get("wrap_markdown"),
            )
            for route in manifest.routes
        }

    def sources(self, plan: ViewPlan) -> MarkdownSources:
        """Return where the Markdown of a page may come from."""
        return self._sources[plan.view.id]


def _text(manifest: Manifest, root: Path, plan: ViewPlan) -> str | None:
    """Return the Markdown of a page that is in Markdown, or of the file that lies beside it."""
    if plan.inner.markdown is not None:
        return plan.inner.markdown
    file = manifest.markdown.get(plan.view.module)
    return None if file is None else (root / file).read_text("utf-8")


def _title(manifest: Manifest, plan: ViewPlan, text: str) -> str:
    """Return the title of a page as far as it is known without a request; "" otherwise.

    It is that of a static ``HEAD``, or the first heading of ``text``, its Markdown file.
    """
    nodes = manifest.modules[plan.view.module].head
    titles = [text for name, _, text in nodes if name == "title"]
    return titles[-1] if titles else first_heading(text)


def _hooks(
    manifest: Manifest, llms: Mapping[str, Mapping[str, Any]], plan: ViewPlan
) -> tuple[MarkdownHook, ...]:
    """Return the page's own ``to_markdown``, then those of its folders, nearest first."""
    source = plan.view.module
    hooks: list[MarkdownHook] = []
    if plan.inner.to_markdown is not None:
        hooks.append(MarkdownHook(f"{source}: to_markdown()", plan.inner.to_markdown))
    for file in nearest_llms(source, dict(manifest.llms)):
        function = llms[file].get("to_markdown")
        if callable(function):
            hooks.append(MarkdownHook(f"{file}: to_markdown()", function))
    return tuple(hooks)
