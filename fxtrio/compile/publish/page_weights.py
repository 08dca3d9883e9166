"""What the first visit to each page of a build costs. Called by `fx build` and `fx routes`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

from fxtrio.compile.scripts import REASONS
from fxtrio.errors import FxtrioError
from fxtrio.manifest import Assets, Manifest, View


class BudgetExceeded(FxtrioError):
    """Pages load more than ``fx build --budget`` allows."""

    def __init__(self, pages: Sequence[PageWeight], budget: int) -> None:
        lines = [
            f"{page.pattern}: loads {page.sent / 1000:.1f} kB of JavaScript and CSS, more than "
            f"the budget of {budget / 1000:g} kB."
            + first_reason(page.reasons, " It needs scripts for ")
            for page in pages
        ]
        remedy = "Remove what the pages do not need, or raise --budget. The build was not changed."
        super().__init__("\n".join([*lines, remedy]))
        self.pages = tuple(pages)
        self.budget = budget


@attrs.frozen
class Weight:
    """Bytes of some files together."""

    raw: int
    gzip: int

    def __add__(self, other: Weight) -> Weight:
        """Return both together."""
        return Weight(self.raw + other.raw, self.gzip + other.gzip)


@attrs.frozen
class PageWeight:
    """What the first visit to one page costs."""

    pattern: str
    script: Weight
    """All JavaScript: the shared part and the page's own. Nothing for a page without scripts.

    For one with islands, what all of them load.
    """

    own: Weight
    """The page's own part of ``script``, which a navigation loads."""

    style: Weight

    reasons: tuple[str, ...] = ()
    """Why it loads scripts, as ``path:line: cause``; none where it loads none."""

    islands: bool = False
    """Whether its islands are all that loads scripts, when they come to life."""

    @property
    def sent(self) -> int:
        """Compressed bytes of scripts and stylesheets together."""
        return self.script.gzip + self.style.gzip


def first_reason(reasons: Sequence[str], before: str = "") -> str:
    """Return the first of some reasons behind ``before``, and how many more there are."""
    if not reasons:
        return ""
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"{before}{reasons[0]}{more}"


def require_budget(weights: Sequence[PageWeight], budget: int) -> None:
    """Raise BudgetExceeded when a page loads more than ``budget`` compressed bytes."""
    heavy = [page for page in weights if page.sent > budget]
    if heavy:
        raise BudgetExceeded(heavy, budget)


def weigh_pages(build: Path, manifest: Manifest) -> list[PageWeight]:
    """Return the weight of each page of the build in the folder ``build``, by its pattern."""
    scale = _Scale(build, manifest.assets)
    shared = {manifest.assets.entry, *manifest.assets.preload}
    reasons = read_reasons(build)
    weights = []
    for route in manifest.routes:
        view = manifest.views[route.view]
        scripts = shared | _scripts(view)
        islands = _island_scripts(view, manifest.assets)
        weights.append(
            PageWeight(
                pattern=route.pattern,
                script=scale.weigh(scripts if view.scripts else islands),
                own=scale.weigh(scripts - shared),
                islands=bool(islands),
                style=scale.weigh({*manifest.assets.css, *view.client.get("css", ())}),
                reasons=tuple(reasons.get(str(view.id), ())),
            )
        )
    return sorted(weights, key=lambda weight: weight.pattern)


def read_reasons(build: Path) -> dict[str, list[str]]:
    """Return why each view of a build for production loads scripts, by its number."""
    found: dict[str, list[str]] = json.loads((build / REASONS).read_bytes())
    return found


def _scripts(view: View) -> set[str]:
    client: dict[str, Any] = view.client
    layouts = (layout["module"] for layout in client.get("layouts", ()))
    return {client["module"], *layouts, *client.get("preload", ())}


def _island_scripts(view: View, assets: Assets) -> set[str]:
    islands: dict[str, list[str]] = view.client.get("islands", {}) if not view.scripts else {}
    files = {url for urls in islands.values() for url in urls}
    return files.union(assets.islands) if files else files


@attrs.define
class _Scale:
    _build: Path
    _assets: Assets
    _known: dict[str, Weight] = attrs.field(factory=dict)

    def weigh(self, urls: Iterable[str]) -> Weight:
        total = Weight(0, 0)
        for url in urls:
            if url:
                total += self._weigh_one(url)
        return total

    def _weigh_one(self, url: str) -> Weight:
        if url not in self._known:
            path = self._build / self._assets.client / url.removeprefix(self._assets.base)
            data = path.read_bytes()
            self._known[url] = Weight(len(data), len(gzip.compress(data, mtime=0)))
        return self._known[url]
