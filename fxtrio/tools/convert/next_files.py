"""Where files of a project of Next.js will be, and which of them have no counterpart. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

import attrs

from fxtrio.compile.problems import Problem

_SOURCE = frozenset({".tsx", ".jsx", ".ts", ".js"})
_PAGES = frozenset({"page", "layout", "loading", "error", "not-found", "template"})
_OF_ROUTER = {"404": "not-found"}
_LEFT = {
    "route": ("nothing calls it: endpoints are written in Python", "Write '{endpoint}'"),
    "default": ("there are no parallel routes", "Show it with <Slot> in the layout"),
    "global-error": ("nothing reads it", "Write pages/error.fxl"),
    "sitemap": ("nothing calls it", "Write an endpoint in Python: see docs/guides/routes.md"),
    "robots": ("nothing calls it", "Write public/robots.txt"),
    "manifest": ("nothing calls it", "Write public/manifest.webmanifest, and link it in HEAD"),
    "opengraph-image": ("nothing calls it", "Put a picture into public, and name it in HEAD"),
    "_app": ("nothing reads it", "Write pages/layout.fxl"),
    "_document": ("nothing reads it", "Write <html> and <body> in HEAD of pages/layout.fxl"),
    "_error": ("nothing reads it", "Write pages/error.fxl"),
    "middleware": ("nothing reads it", "Name a hook in 'routeMiddleware' of fx.config.json"),
    "proxy": ("nothing reads it", "Name a hook in 'routeMiddleware' of fx.config.json"),
}
"""Files without a counterpart, by their names without an end."""

_ICONS = re.compile(r"favicon\.ico")
_PARALLEL = re.compile(r"@|\(\.{1,3}\)")


@attrs.define
class NextFiles:
    """What becomes of the files of a project."""

    moved: dict[str, str] = attrs.field(factory=dict)
    """Path to the place where it will be."""

    left: list[Problem] = attrs.field(factory=list)


def find_places(paths: Iterable[str]) -> NextFiles:
    """Return where the pages of a project will be: those of `app`, and those of `pages`."""
    found = NextFiles()
    for path in paths:
        pure = PurePosixPath(path)
        parts = pure.parts[1:] if pure.parts[0] == "src" else pure.parts
        if len(parts) > 1 and parts[0] == "app":
            _of_app(path, PurePosixPath(*parts[1:]), found)
        elif len(parts) > 1 and parts[0] == "pages":
            _of_pages(path, PurePosixPath(*parts[1:]), found)
        elif pure.parts[0] == "src" and len(parts) == 1 and pure.stem in ("middleware", "proxy"):
            _leave(path, pure, found)
    return found


def _of_app(path: str, inner: PurePosixPath, found: NextFiles) -> None:
    if _ICONS.fullmatch(inner.as_posix()):
        found.moved[path] = f"public/{inner}"
    if inner.suffix not in _SOURCE:
        return
    if inner.stem in _LEFT:
        _leave(path, inner, found)
    elif inner.stem in _PAGES:
        if any(_PARALLEL.match(part) for part in inner.parent.parts):
            cause = "there are no parallel and intercepting routes", "Show it with <Slot>"
            found.left.append(Problem(path, 1, 1, *cause))
            return
        stem = "index" if inner.stem == "page" else inner.stem
        found.moved[path] = f"pages/{(inner.parent / f'{stem}.fxl').as_posix()}"


def _of_pages(path: str, inner: PurePosixPath, found: NextFiles) -> None:
    if inner.suffix not in _SOURCE:
        return
    if inner.parts[0] == "api":
        _leave(path, PurePosixPath(*inner.parts[1:]), found, "route")
    elif inner.stem in _LEFT:
        _leave(path, inner, found)
    elif inner.suffix in (".tsx", ".jsx", ".js"):
        stem = _OF_ROUTER.get(inner.stem, inner.stem)
        found.moved[path] = f"pages/{(inner.parent / f'{stem}.fxl').as_posix()}"


def _leave(path: str, inner: PurePosixPath, found: NextFiles, kind: str = "") -> None:
    message, remedy = _LEFT[kind or inner.stem]
    name = inner.parent.as_posix() if inner.stem == "route" else inner.with_suffix("").as_posix()
    endpoint = (
        f"pages/api/{name.removeprefix('api/')}.py" if name != "api" else "pages/api/index.py"
    )
    found.left.append(Problem(path, 1, 1, message, remedy.format(endpoint=endpoint)))


def read_aliases(tsconfig: str) -> list[tuple[str, str]]:
    """Return the beginnings of imports that `tsconfig.json` sets, with their folders.

    Those that are the same here are left out: ``@/`` for the project folder.
    """
    options = _options(tsconfig)
    paths = options.get("paths")
    base = str(options.get("baseUrl", ".")).removeprefix("./").strip("./")
    found = []
    for alias, targets in paths.items() if isinstance(paths, Mapping) else ():
        if not alias.endswith("/*") or not isinstance(targets, list) or not targets:
            continue
        folder = str(targets[0]).removesuffix("*").removeprefix("./")
        folder = f"{base}/{folder}" if base else folder
        found.append((alias.removesuffix("*"), folder))
    return found


def convert_tsconfig(text: str) -> str | None:
    """Return `tsconfig.json` without entries of Next.js; None when it is no plain JSON."""
    options = _options(text)
    if not options:
        return None
    settings = json.loads(text)
    plugins = [one for one in options.get("plugins", []) if one != {"name": "next"}]
    options.pop("plugins", None)
    if plugins:
        options["plugins"] = plugins
    options["jsx"] = "react-jsx"
    options["paths"] = {"@/*": ["./*"], "fx/client": ["./.fx/types/client.d.ts"]}
    included = [one for one in settings.get("include", []) if "next" not in one]
    if included:
        settings["include"] = included
    settings["compilerOptions"] = options
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _options(text: str) -> dict[str, Any]:
    try:
        options = json.loads(text).get("compilerOptions", {})
    except (ValueError, AttributeError):
        return {}
    return dict(options) if isinstance(options, dict) else {}
