"""A page tree in, numbered views and routes out. Pure.

A view is a page, error or not-found file inside its layouts; its number is its
place in the manifest and its page number in SSR frames. Called by `build`.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from fxtrio.manifest import ViewKind
from fxtrio.routes.tree import BoundaryFile, LayoutFile, PageTree


@attrs.frozen
class PlannedView:
    """One view, before anything is bundled."""

    id: int
    kind: ViewKind
    source: str
    layouts: tuple[LayoutFile, ...]
    """Around it, outermost first."""

    boundaries: tuple[int, ...] = ()
    """Ids of error views that may stand in, nearest first."""

    not_found: tuple[int, ...] = ()
    """Ids of not-found views that may stand in, nearest first."""

    loading: str | None = None
    """Source of the `loading.fxl` that stands in while it suspends."""


@attrs.frozen
class PlannedSite:
    """Everything a page tree comes to."""

    views: tuple[PlannedView, ...]
    """By id."""

    routes: tuple[tuple[str, int], ...]
    """(pattern, view id), in order of specificity."""

    not_found: dict[str, int]
    """Folder pattern to the not-found view for unmatched URLs below it."""


def plan_site(
    tree: PageTree, standalone: Collection[str] = (), before: PlannedSite | None = None
) -> PlannedSite:
    """Number the views of a tree: pages in their order, each boundary once.

    ``standalone`` holds the sources of layouts and templates with ``STANDALONE = True``. Views
    that were in the site ``before`` keep their numbers, and new ones come behind them: so whoever
    knows that site need learn of these only. Where views are gone all are numbered anew.
    """
    planner = _Planner(standalone, {} if before is None else _numbers(before))
    routes = []
    for page in tree.pages:
        view = planner.add("page", page.source, page.layouts)
        planner.views[view] = attrs.evolve(
            planner.views[view],
            boundaries=tuple(planner.boundary("error", file) for file in page.errors),
            not_found=tuple(planner.boundary("not-found", file) for file in page.not_found),
            loading=page.loading,
        )
        routes.append((page.pattern, view))
    not_found = {
        pattern: planner.boundary("not-found", file) for pattern, file in tree.not_found.items()
    }
    if planner.before:
        return plan_site(tree, standalone)
    views = tuple(planner.views[number] for number in range(len(planner.views)))
    return PlannedSite(views, tuple(routes), not_found)


_Key = tuple[ViewKind, str, tuple[LayoutFile, ...]]


def _numbers(site: PlannedSite) -> dict[_Key, int]:
    return {(view.kind, view.source, view.layouts): view.id for view in site.views}


@attrs.define
class _Planner:
    _standalone: Collection[str]
    before: dict[_Key, int]
    """The numbers of a former site that no view has yet."""

    views: dict[int, PlannedView] = attrs.field(factory=dict)
    """By id."""

    _next: int = attrs.field(init=False)
    _known: dict[tuple[str, tuple[LayoutFile, ...]], int] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._next = len(self.before)

    def add(self, kind: ViewKind, source: str, layouts: tuple[LayoutFile, ...]) -> int:
        """Add a view and return its id."""
        layouts = self._innermost(layouts)
        number = self.before.pop((kind, source, layouts), None)
        if number is None:
            number = self._next
            self._next += 1
        self.views[number] = PlannedView(number, kind, source, layouts)
        return number

    def boundary(self, kind: ViewKind, file: BoundaryFile) -> int:
        """Return the id of a boundary's view; the same file in the same layouts is one view."""
        key = file.source, self._innermost(file.layouts)
        if key not in self._known:
            number = self._known[key] = self.add(kind, file.source, file.layouts)
            errors = tuple(self.boundary("error", outer) for outer in file.errors)
            self.views[number] = attrs.evolve(self.views[number], boundaries=errors)
        return self._known[key]

    def _innermost(self, layouts: tuple[LayoutFile, ...]) -> tuple[LayoutFile, ...]:
        """Return the layouts from the last standalone one on: those around it are left out."""
        for index in reversed(range(len(layouts))):
            if layouts[index].source in self._standalone:
                return layouts[index:]
        return layouts
