"""A project of Next.js → the conversion that makes it one of fxtrio. Writes nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem, of_kind
from fxtrio.compile.source import read_text
from fxtrio.tools.convert.conversion import (
    Conversion,
    Converted,
    NothingToConvert,
    project_files,
    read_plain,
    suffix_of,
)
from fxtrio.tools.convert.edits import apply_edits, moved
from fxtrio.tools.convert.packages import add_postcss, convert_hidden, convert_package
from fxtrio.tools.convert.ui_code import UiFile, UiRewriting, rewrite_ui

_UI = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts"})
_DROPPED = frozenset({"next", "eslint-config-next", "@next/eslint-plugin-next", "@next/font"})
_BUILD = ".next"
_CONFIG = "fx.config.json"
_TYPES = "next-env.d.ts"


async def from_next(root: Path, *, report: Callable[[str], None]) -> Conversion:
    """Return what makes the project in ``root`` one of fxtrio. Raises NothingToConvert."""
    paths = [path for path in project_files(root) if not path.startswith("out/")]
    package = read_plain(root / "package.json") if "package.json" in paths else None
    if package is None or not _has_next(package):
        raise NothingToConvert(root, "Next.js", "package.json that lists 'next'")
    conversion = Conversion(root)
    places = find_places(paths)
    conversion.left += of_kind(FindingKind.FOREIGN, places.left)
    ui: list[UiFile] = []
    for path in paths:
        target = places.moved.get(path, path)
        is_code = suffix_of(path) in _UI and not path.startswith("public/")
        text = read_plain(root / path) if is_code else None
        if text is None and target == path:
            continue
        file = Converted(target, text, path)
        if target != path:
            file.done.append(f"moved from {path}")
        conversion.add(file)
        if text is not None and not path.endswith(".d.ts") and conversion.files[target] is file:
            ui.append(UiFile(target, text, path))
    tsconfig = read_plain(root / "tsconfig.json") if "tsconfig.json" in paths else None
    context = {"moved": places.moved, "aliases": read_aliases(tsconfig or "")}
    for path, done in (await rewrite_ui("next", ui, context, report=report)).items():
        _apply(conversion, conversion.files[path], done)
    _convert_rest(conversion, package, tsconfig)
    return conversion


def _has_next(package: str) -> bool:
    try:
        settings = json.loads(package)
        return any("next" in settings.get(kind, {}) for kind in ("dependencies", "devDependencies"))
    except (ValueError, AttributeError):
        return False


def _apply(conversion: Conversion, file: Converted, done: UiRewriting) -> None:
    """Edit a file, and put the lines of its Python half in front."""
    head = "".join(f"{line}\n" for line in done.python)
    head += "\n\n" if head else ""
    body = apply_edits(file.text or "", done.edits).lstrip("\n") if head else None
    edited = apply_edits(file.text or "", done.edits)
    blanks = 0 if body is None else len(edited) - len(body)
    file.text = head + (edited if body is None else body)
    file.done += dict.fromkeys(done.done)
    source = read_text(file.text, file.path)
    for one in done.left:
        offset = moved(one.offset, done.edits) - blanks + len(head)
        conversion.left += of_kind(
            FindingKind.FOREIGN, [source.problem(offset, one.message, one.remedy)]
        )


def _convert_rest(conversion: Conversion, package: str, tsconfig: str | None) -> None:
    root = conversion.root
    listed = Converted("package.json", package, "package.json")
    convert_package(listed, _DROPPED)
    conversion.add(listed)
    add_postcss(conversion, listed)
    if listed.done:
        conversion.notes.append("Run 'npm install': package.json lists other packages.")
    converted = None if tsconfig is None else convert_tsconfig(tsconfig)
    if converted is not None:
        done = ["paths, without Next.js"]
        conversion.add(Converted("tsconfig.json", converted, "tsconfig.json", done))
    if (root / _TYPES).is_file():
        conversion.removed[_TYPES] = "it belongs to Next.js"
        conversion.files.pop(_TYPES, None)
    if not (root / _CONFIG).exists():
        name = json.loads(package).get("name") or root.name
        text = json.dumps({"name": PurePosixPath(str(name)).name}, indent=2) + "\n"
        conversion.add(Converted(_CONFIG, text, done=["settings"]))
    convert_hidden(conversion, _BUILD)


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
