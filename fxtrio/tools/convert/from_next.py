"""A project of Next.js → the conversion that makes it one of fxtrio. Writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import of_kind
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
from fxtrio.tools.convert.next_files import convert_tsconfig, find_places, read_aliases
from fxtrio.tools.convert.packages import add_postcss, convert_hidden, convert_package
from fxtrio.tools.convert.ui_code import UiFile, UiRewriting, rewrite_ui

_UI = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts"})
_GONE = frozenset({"next", "eslint-config-next", "@next/eslint-plugin-next", "@next/font"})
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
    convert_package(listed, _GONE)
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
