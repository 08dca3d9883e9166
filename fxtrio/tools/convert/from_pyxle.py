"""A project of Pyxle → the conversion that makes it one of fxtrio. Writes nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.check.project_modules import modules_used
from fxtrio.compile.problems import Problem, of_kind
from fxtrio.compile.source import SourceText, read_text
from fxtrio.compile.split.halves import split_source
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.db.migrations.files import FOLDER as MIGRATIONS
from fxtrio.tools.convert.conversion import (
    Conversion,
    Converted,
    NothingToConvert,
    project_files,
    read_plain,
    suffix_of,
)
from fxtrio.tools.convert.edits import Edit, apply_edits, moved
from fxtrio.tools.convert.packages import (
    add_postcss,
    convert_hidden,
    convert_package,
    convert_requirements,
)
from fxtrio.tools.convert.pyxle_code import Rewritten, leftovers, rewrite
from fxtrio.tools.convert.pyxle_config import convert_config
from fxtrio.tools.convert.pyxle_queries import has_queries
from fxtrio.tools.convert.ui_code import UiFile, rewrite_ui

_CONFIG = "pyxle.config.json"
_PAGE = ".pyxl"
_UI = frozenset({".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs"})
_MIGRATION = re.compile(r"(\d+)-([\w-]+?)(?:\.(sqlite|postgresql))?\.sql")
_BUILD = ".pyxle-build"
_DROPPED = frozenset({"vite", "@vitejs/plugin-react", "esbuild"})
"""Packages that were there for Pyxle's own bundling."""


async def from_pyxle(root: Path, *, report: Callable[[str], None]) -> Conversion:
    """Return what makes the project in ``root`` one of fxtrio. Raises NothingToConvert."""
    paths = [*project_files(root)]
    if _CONFIG not in paths and not any(suffix_of(path) == _PAGE for path in paths):
        raise NothingToConvert(root, "Pyxle", f"{_CONFIG} and no file that ends in {_PAGE}")
    conversion = Conversion(root)
    texts = {path: text for path in paths if (text := _text_of(root, path)) is not None}
    trees = _Trees(texts)
    used = _modules_on_trio(root, trees)
    ui: list[UiFile] = []
    edits: dict[str, list[Edit]] = {}
    for path, text in texts.items():
        file = Converted(_place_of(path), text, path)
        if file.path != path:
            file.done.append(f"moved from {path}")
        conversion.add(file)
        if suffix_of(path) in (_PAGE, ".py"):
            found = trees.rewriting(path, on_trio=suffix_of(path) == _PAGE or path in used)
            edits[file.path] = found.edits
            file.done += dict.fromkeys(found.done)
        if suffix_of(path) == _PAGE:
            ui.append(UiFile(file.path, trees.ui_of(path), path))
        elif suffix_of(path) in _UI:
            ui.append(UiFile(file.path, text, path))
    rewritten = await rewrite_ui("pyxle", ui, {}, report=report)
    for path, done in rewritten.items():
        edits.setdefault(path, []).extend(done.edits)
        conversion.files[path].done += dict.fromkeys(done.done)
    for path, all_of in edits.items():
        file = conversion.files[path]
        file.text = apply_edits(file.text or "", all_of)
        left = _left_in(file, texts[file.before])
        source = read_text(file.text, path)
        for one in rewritten[path].left if path in rewritten else ():
            left.append(source.problem(moved(one.offset, all_of), one.message, one.remedy))
        conversion.left += of_kind(FindingKind.FOREIGN, left)
    _convert_rest(conversion)
    return conversion


def _left_in(file: Converted, before: str) -> list[Problem]:
    """Return what of Pyxle is left in the Python of a file that has been rewritten."""
    if suffix_of(file.path) not in (".fxl", ".py"):
        return []
    source = read_text(file.text or "", file.path)
    code = split_source(source).python if suffix_of(file.path) == ".fxl" else source.text
    module = parse_module(code)
    if isinstance(module, Broken):
        return []
    return leftovers(source, module, queries=has_queries(before))


def _text_of(root: Path, path: str) -> str | None:
    """Return the text of a file that a conversion may change; None for all others."""
    if path.startswith("public/"):
        return None
    name = PurePosixPath(path).name
    known = suffix_of(path) in {_PAGE, ".py", ".sql", *_UI}
    if known or name in {_CONFIG, "package.json"} or re.fullmatch(r"requirements.*\.txt", name):
        return read_plain(root / path)
    return None


def _place_of(path: str) -> str:
    """Return where a file will be."""
    pure = PurePosixPath(path)
    if pure.suffix == _PAGE:
        return pure.with_suffix(".fxl").as_posix()
    if path == _CONFIG:
        return "fx.config.json"
    found = _MIGRATION.fullmatch(pure.name)
    if pure.parent.name == MIGRATIONS and found is not None:
        engine = f".{found[3]}" if found[3] else ""
        name = f"{found[1]:0>4}_{found[2].replace('-', '_').lower()}{engine}.sql"
        return f"{MIGRATIONS}/{name}"
    return path


class _Trees:
    """The Python of a project, parsed."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._found: dict[str, tuple[SourceText, ast.Module | None, str]] = {}
        for path, text in texts.items():
            if suffix_of(path) in (_PAGE, ".py"):
                source = read_text(text, _place_of(path))
                sections = split_source(source) if suffix_of(path) == _PAGE else None
                parsed = parse_module(source.text if sections is None else sections.python)
                module = None if isinstance(parsed, Broken) else parsed
                ui = "" if sections is None else _in_place(source.text, sections.ui)
                self._found[path] = source, module, ui

    def rewriting(self, path: str, *, on_trio: bool) -> Rewritten:
        source, module, _ = self._found[path]
        if module is None:
            return Rewritten()
        return rewrite(source, module, on_trio=on_trio, is_page=suffix_of(path) == _PAGE)

    def ui_of(self, path: str) -> str:
        return self._found[path][2]

    def starts(self) -> list[ast.Module]:
        """Return the modules with which requests begin."""
        return [
            module
            for path, (_, module, _) in self._found.items()
            if module is not None and (suffix_of(path) == _PAGE or "/api/" in path)
        ]


def _in_place(text: str, half: str) -> str:
    """Return the UI half with blanks for all else, so that offsets are those of the file."""
    return "".join(
        rest if rest.strip() else " " * (len(line) - 1) + "\n" if line.endswith("\n") else " "
        for line, rest in zip(
            text.splitlines(keepends=True), half.splitlines(keepends=True), strict=False
        )
    )


def _modules_on_trio(root: Path, trees: _Trees) -> set[str]:
    """Return the modules whose coroutines run in the server."""
    return {module.source.path for module in modules_used(root, trees.starts(), ["app"]).modules}


def _convert_rest(conversion: Conversion) -> None:
    """Convert settings, packages and what lies around."""
    for path, file in [*conversion.files.items()]:
        name = PurePosixPath(path).name
        if file.before == _CONFIG:
            converted = convert_config(file.text or "", file.before)
            if converted is not None:
                file.text = converted[0]
                conversion.left += of_kind(FindingKind.SETTINGS, converted[1])
                file.done.append("settings")
        elif path == "package.json":
            convert_package(file, _DROPPED)
            add_postcss(conversion, file)
        elif re.fullmatch(r"requirements.*\.txt", name):
            convert_requirements(file)
        elif path.startswith("vite.config.") and _BUILD in (file.text or ""):
            conversion.removed[path] = "fxtrio sets up the bundler itself"
            del conversion.files[path]
    convert_hidden(conversion, _BUILD)
    if any(file.done for path, file in conversion.files.items() if path == "package.json"):
        conversion.notes.append("Run 'npm install': package.json lists other packages.")
    if any(path.startswith(f"{MIGRATIONS}/") for path in conversion.files):
        conversion.notes.append(
            "A database that Pyxle has migrated has these tables: 'fx db up' runs the migrations "
            "in a new one. Copy the data, and not the file."
        )
