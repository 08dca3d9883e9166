"""A view with everything about it that does not depend on the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from fxtrio.encode import encode_for_html
from fxtrio.manifest import HeadNode, View
from fxtrio.opaque import Opaque
from fxtrio.serve.pages.functions.server_functions import LoaderCode, PageCode
from fxtrio.serve.pages.repeated_value import RepeatedValue

_TEMPLATE = "data-template"

DEFAULT_LANG: Final = "en"
"""Default of documents of apps that set none; payloads omit it."""


class ViewPlan(Opaque, msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A view with everything that does not depend on the request."""

    view: View
    layouts: tuple[PageCode, ...]
    """Outermost first."""

    inner: PageCode
    loaders: tuple[LoaderCode, ...]
    """Of the layouts and the page, in the order of the chain."""

    public: bool
    """Whether all loaders may run for a visitor whom the route hooks reject."""

    page: bytes
    """The ``page`` object, encoded."""

    loads_layouts: bool
    """Whether a layout has a loader."""

    no_layouts: bytes
    """The ``layouts`` list where none of them has data, encoded."""

    static_head: bytes | None
    """The ``head`` list, encoded; None if a ``HEAD`` function returns it."""

    fallback: tuple[HeadNode, ...]
    """Elements with a lower priority than every ``HEAD``: the default title."""

    memo: bool
    """Whether equal states have equal HTML: no ``MEMO = False`` in the chain."""

    revalidate: float | None
    """How long complete responses are fresh (seconds); None if they are not cached."""

    source: str
    """The file of the page, without its layouts."""

    data: RepeatedValue
    """Encodes what the loader of the page returns."""

    @property
    def chain(self) -> tuple[PageCode, ...]:
        """The layouts, then the page."""
        return (*self.layouts, self.inner)

    def name_of(self, source: str, key: str) -> str:
        """Return the name in payloads of a loader's value: ``page:reviews``, or ``0:menu``."""
        for index, layout in enumerate(self.layouts):
            if layout.module.source == source:
                return f"{index}:{key}"
        return f"page:{key}"


def has_title(levels: Iterable[Iterable[HeadNode]]) -> bool:
    """Whether one of the nodes of all levels is a title: one with a template may have no text."""
    return any(
        node[0] == "title" and (node[2] or _TEMPLATE not in node[1])
        for level in levels
        for node in level
    )


def plan_view(
    view: View, codes: Mapping[str, PageCode], *, name: str = "", lang: str = DEFAULT_LANG
) -> ViewPlan:
    """Prepare a view: encode everything that does not depend on a request.

    ``name`` is the app's, the default title; ``lang`` is the default language of
    documents.
    """
    layouts = tuple(codes[source] for source in view.layouts)
    inner = codes[view.module]
    chain = (*layouts, inner)
    loaders = tuple(code.loader for code in chain if code.loader is not None)
    levels: list[Sequence[HeadNode]] = [code.module.head for code in chain]
    fallback = (["title", {}, name],) if name and not has_title(levels) else ()
    levels[0] = (*fallback, *levels[0])
    static: bytes | None
    if any(code.head is not None for code in chain):
        static = None
    elif any(levels):
        static = encode_for_html(levels, view.module)
    else:
        static = b"[]"
    source = inner.module.source
    return ViewPlan(
        view=view,
        layouts=layouts,
        inner=inner,
        loaders=loaders,
        public=all(loader.public for loader in loaders),
        page=_page_object(view, lang),
        loads_layouts=any(code.loader is not None for code in layouts),
        no_layouts=encode_for_html([None] * len(layouts), view.module),
        static_head=static,
        fallback=fallback,
        memo=all(code.module.memo for code in chain),
        revalidate=inner.module.revalidate,
        source=source,
        data=RepeatedValue(source if inner.loader is None else inner.loader.place),
    )


def plan_renumbered(plan: ViewPlan, view: View, *, lang: str = DEFAULT_LANG) -> ViewPlan:
    """Return the plan of ``view``, of which at most the numbers of views differ from before."""
    if plan.view == view:
        return plan
    return replace(plan, view=view, page=_page_object(view, lang))


def _page_object(view: View, lang: str) -> bytes:
    spoken = {} if lang == DEFAULT_LANG else {"lang": lang}
    return encode_for_html({**view.client, "id": view.id, **spoken}, view.module)
