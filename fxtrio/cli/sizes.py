"""How much JavaScript and CSS a browser loads for each page of a build."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from fxtrio.manifest import Assets, Manifest, View


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
    """All JavaScript: the shared part and the page's own."""

    own: Weight
    """The page's own part of ``script``, which a navigation loads."""

    style: Weight


def weigh_pages(build: Path, manifest: Manifest) -> list[PageWeight]:
    """Return the weight of each page of the build in the folder ``build``, by its pattern."""
    scale = _Scale(build, manifest.assets)
    shared = {manifest.assets.entry, *manifest.assets.preload}
    weights = []
    for route in manifest.routes:
        view = manifest.views[route.view]
        scripts = shared | _scripts(view)
        weights.append(
            PageWeight(
                pattern=route.pattern,
                script=scale.weigh(scripts),
                own=scale.weigh(scripts - shared),
                style=scale.weigh({*manifest.assets.css, *view.client.get("css", ())}),
            )
        )
    return sorted(weights, key=lambda weight: weight.pattern)


def _scripts(view: View) -> set[str]:
    client: dict[str, Any] = view.client
    layouts = (layout["module"] for layout in client.get("layouts", ()))
    return {client["module"], *layouts, *client.get("preload", ())}


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
