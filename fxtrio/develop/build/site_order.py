"""The order to Node about the views of an app: all of them, or those that have come since."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import attrs

from fxtrio.compile.build_steps import bundle_view
from fxtrio.compile.bundling.bundle import BundleResult
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.views import PlannedSite
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX


def added_views(
    project: CheckedProject, site: PlannedSite, before: PlannedSite | None
) -> dict[str, Any] | None:
    """Return what has come to ``before``, as `Site.add` of `site.js` takes it.

    None where views of before are other ones now, or gone: then Node needs a whole plan.
    """
    if before is None or site.views[: len(before.views)] != before.views:
        return None
    modules = {page.module.source: page.module for page in project.pages}
    return {
        "from": len(before.views),
        "modules": project.tree.sources,
        "views": [
            attrs.asdict(bundle_view(view, modules)) for view in site.views[len(before.views) :]
        ],
    }


def joined_result(before: BundleResult, answer: dict[str, Any]) -> BundleResult:
    """Return the result of all views, of which ``answer`` has those that have come."""
    return attrs.evolve(before, clients=(*before.clients, *answer["clients"]))


def pages_beside(
    project: CheckedProject, before: PlannedSite | None, site: PlannedSite | None, came: Set[str]
) -> set[str] | None:
    """Return the pages whose URLs may lead to something else since the pages ``came``.

    These and those with parameters, whose URLs may be among those of the new ones. None stands
    for all: where other views are not what they were ``before``, or one that came is no page, or
    in Markdown, which loaders read.
    """
    if before is None or site is None or site.views[: len(before.views)] != before.views:
        return None
    pages = {page.source: page.pattern for page in project.tree.pages}
    if not came <= pages.keys() or any(one.endswith(MARKDOWN_SUFFIX) for one in came):
        return None
    return {*came, *(source for source, pattern in pages.items() if "[" in pattern)}
