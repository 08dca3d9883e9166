"""Which entries of the settings name a route that the project does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fxtrio.cli.import_check.messages import SettingProblem
from fxtrio.config import Config
from fxtrio.policy.patterns import covers, pattern_of
from fxtrio.policy.routes import named_routes


def unknown_routes(
    root: Path, config: Config, patterns: Collection[str], app: Any
) -> Iterator[SettingProblem]:
    """Yield the entries that fit none of ``patterns``, no route of ``app`` and no public file."""
    known = {*patterns, *_own_routes(app, config.base_url), *_listings(config)}
    for key, entry in named_routes(config):
        is_file = key.startswith("cacheControl.") and _is_public(root / config.public_dir, entry)
        if is_file or any(covers(entry, pattern) for pattern in known):
            continue
        near = get_close_matches(entry, sorted(known), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "'fx routes' lists those that exist"
        yield SettingProblem(key, f"names no route of the project: {entry!r}. {hint}")


def _own_routes(app: Any, base_url: str) -> Iterator[str]:
    """Yield the paths of an application's Starlette routes, those of plugins included."""
    for route in getattr(app, "routes", ()):
        if isinstance(getattr(route, "path", None), str):
            yield pattern_of(route, base_url)


def _listings(config: Config) -> Iterator[str]:
    """Yield the paths of what lists routes, where it is served."""
    if config.openapi:
        yield "/openapi.json"
    if config.llms.enabled:
        yield "/llms.txt"


def _is_public(folder: Path, entry: str) -> bool:
    """Whether ``entry`` names a public file, or a folder of them."""
    if entry.endswith("/*"):
        return (folder / entry.removesuffix("/*").lstrip("/")).is_dir()
    return (folder / entry.lstrip("/")).is_file()
