"""Edits that do what the remedy of a diagnostic says: names that were meant, missing imports."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs

from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.lsp.answers.project_texts import CLIENT_CODE, texts_of
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Position, Range, places_of

Edit = dict[str, Any]

_MEANT = re.compile(r"(?:Did you mean|Define or import it, or write) '([^']+)'")
_WRITE = re.compile(r"\. Write '([^']+)'")
_PYTHON_IMPORT = re.compile(r"Write '(from [\w.]+ import \w+)'")
_UI_IMPORT = re.compile(r"import \{ ([\w$]+) \} from '([^']+)'")
_UI_MODULE = re.compile(r"Write (import \* as \w+ from )'([^']+)'")
_UNDEFINED = re.compile(r"(?:undefined|Cannot find) name '([^']+)'")
_QUOTED = re.compile(r"'([^'\n]+)'")


_IMPORT = re.compile(r"import\b")

_DIRECTIVE = re.compile(r"""\s*["']use \w+["'];?\s*$""")


@attrs.frozen
class _Fix:
    title: str
    edits: list[Edit]


def quick_fixes(
    page: ParsedPage, uri: str, diagnostics: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return code actions for diagnostics of a page, those of each in the order of preference."""
    # A diagnostic may be older than the text, which has its import by now: nothing is to be edited.
    return [
        {
            "title": fix.title,
            "kind": "quickfix",
            "diagnostics": [one],
            "edit": {"changes": {uri: fix.edits}},
            "isPreferred": number == 0,
        }
        for one in diagnostics
        if one.get("source") == "fx"
        for number, fix in enumerate(_fixes(page, one["message"], one["range"]))
        if fix.edits
    ]


def _fixes(page: ParsedPage, message: str, place: Range) -> Iterator[_Fix]:
    undefined = _UNDEFINED.search(message)
    name = undefined[1] if undefined is not None else ""
    line = place["start"]["line"]
    if name and page.in_ui(line):
        yield from _ui_imports(page, message, name, place)
    elif name:
        yield from _python_imports(page, message, name)
    meant = _MEANT.search(message)
    written = _WRITE.search(message) if name else None
    if meant is not None:
        yield from _renamed(page, message[: meant.start()], meant[1], place)
    elif written is not None and not written[1].startswith("from "):
        yield from _renamed(page, message[: written.start()], written[1], place)


def _ui_imports(page: ParsedPage, message: str, name: str, place: Range) -> Iterator[_Fix]:
    named, module = _UI_IMPORT.search(message), _UI_MODULE.search(message)
    if module is not None:
        line = f'{module[1]}"{module[2]}";'
        yield _Fix(f"Add {line}", ui_import(page, line))
    if named is not None:
        line = f'import {{ {named[1]} }} from "{named[2]}";'
        edits = ui_import(page, line, named[1], named[2])
        if named[1] != name:
            edits.append({"range": place, "newText": named[1]})
            line = line if len(edits) > 1 else f"'{named[1]}'"
        yield _Fix(f"Write {line}" if named[1] != name else f"Add {line}", edits)
    for specifier, default in ui_homes(page.root, page.path, name):
        line = f'import {name if default else f"{{ {name} }}"} from "{specifier}";'
        edits = ui_import(page, line) if default else ui_import(page, line, name, specifier)
        yield _Fix(f"Add {line}", edits)


def _python_imports(page: ParsedPage, message: str, name: str) -> Iterator[_Fix]:
    found_import = _PYTHON_IMPORT.search(message)
    lines = [found_import[1]] if found_import is not None else python_homes(page.root, name)
    for line in lines:
        edit = python_import(page, line)
        if edit is not None:
            yield _Fix(f"Add '{line}'", [edit])


def _renamed(page: ParsedPage, cause: str, meant: str, place: Range) -> Iterator[_Fix]:
    """Yield the edit that writes what was meant for what the message calls a mistake."""
    number = place["start"]["line"]
    line = page.places.line(number)
    start = page.places.offset(place["start"])
    end_of_line = start - page.places.offset({"line": number, "character": 0})
    for wrong in _QUOTED.findall(cause):
        bounded = rf"(?<![\w$]){re.escape(wrong)}(?![\w$])"
        found = re.compile(bounded).search(line, end_of_line)
        if found is not None and wrong != meant:
            at = start - end_of_line
            range_ = page.places.range(at + found.start(), at + found.end())
            yield _Fix(f"Write {meant!r}", [{"range": range_, "newText": meant}])
            return


def python_import(page: ParsedPage, statement: str) -> dict[str, Any] | None:
    """Return the edit that adds ``from … import name`` or ``import name`` to the Python half.

    None when it is there, and while the half does not parse.
    """
    module = parse_module(page.checked.python)
    if isinstance(module, Broken):
        return None
    wanted = ast.parse(statement).body[0]
    imports = [one for one in module.body if isinstance(one, ast.Import | ast.ImportFrom)]
    if any(_has(one, wanted) for one in imports):
        return None
    for one in imports:
        if (
            isinstance(one, ast.ImportFrom)
            and isinstance(wanted, ast.ImportFrom)
            and (one.module, one.level) == (wanted.module, wanted.level)
        ):
            last = one.names[-1]
            end = page.source.offset_of(last.end_lineno or 1, last.end_col_offset or 0)
            return _put(page.places.position(end), f", {wanted.names[0].name}")
    if imports:
        return _line(imports[-1].end_lineno or imports[-1].lineno, f"{statement}\n")
    body = module.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        return _line(body[0].end_lineno or 1, f"\n{statement}\n")
    first = min((_first_line(one) for one in body), default=1)
    return _line(first - 1, f"{statement}\n\n")


def _has(statement: ast.Import | ast.ImportFrom, wanted: ast.stmt) -> bool:
    """Return whether an import has the name of another one, from the same module."""
    name = ast.unparse(wanted).rpartition(" ")[2]
    names = [one.name for one in statement.names if one.asname is None]
    return name in names and _module_of(statement) == _module_of(wanted)


def _module_of(statement: ast.stmt) -> tuple[str | None, int] | None:
    if isinstance(statement, ast.ImportFrom):
        return statement.module, statement.level
    return None


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def ui_import(
    page: ParsedPage, line: str, name: str = "", module: str = ""
) -> list[dict[str, Any]]:
    """Return the edits that add an import to the UI half; [] when it is there.

    ``name`` joins the names that are imported from ``module`` already.
    """
    ui = page.checked.ui
    named = re.compile(
        r"""^import\b[^;{}"'\n]*+\{([^{}"']*+)\}\s*+from\s*+["']"""
        + re.escape(module)
        + r"""["']""",
        re.MULTILINE,
    )
    found = named.search(ui) if name else None
    if found is not None:
        names = found[1].rstrip()
        if re.search(rf"(?<![\w$]){re.escape(name)}\s*(?:,|$)", names):
            return []
        comma = "," if names.strip() and not names.endswith(",") else ""
        end = places_of(ui).position(found.start(1) + len(names))  # its lines are those of the page
        return [_put(end, f"{comma} {name}")]
    lines = ui.split("\n")
    if line in lines:
        return []
    first = next((at for at, one in enumerate(lines) if _IMPORT.match(one)), None)
    if first is not None:
        return [_line(first, f"{line}\n")]
    code = (at for at, one in enumerate(lines) if one.strip() and not _DIRECTIVE.match(one))
    return [_line(next(code, len(lines) - 1), f"{line}\n\n")]


def _line(number: int, text: str) -> dict[str, Any]:
    """Return what puts lines in front of a line (0-based)."""
    return _put({"line": number, "character": 0}, text)


def _put(place: Position, text: str) -> dict[str, Any]:
    return {"range": {"start": place, "end": place}, "newText": text}


_LIST = re.compile(r"(?m)^export \{([^{}]*+)\}")
_NAME = re.compile(r"[\w$]++")

_KNOWN = {
    "pathlib": "Path PurePath PurePosixPath",
    "datetime": "date datetime time timedelta timezone UTC",
    "dataclasses": "dataclass field asdict replace",
    "decimal": "Decimal",
    "uuid": "UUID uuid4",
    "enum": "Enum StrEnum IntEnum auto",
    "functools": "partial cache lru_cache reduce wraps",
    "collections": "Counter defaultdict deque namedtuple",
    "contextlib": "asynccontextmanager contextmanager suppress",
    "typing": "Annotated Any ClassVar Final Generic Literal NamedTuple NotRequired Optional "
    "Protocol TypedDict TypeVar Union cast",
    "collections.abc": "AsyncIterator Awaitable Callable Iterable Iterator Mapping Sequence",
    "starlette.requests": "Request",
    "starlette.responses": "JSONResponse PlainTextResponse Response StreamingResponse",
    "starlette.websockets": "WebSocket",
}


def python_homes(root: Path, name: str) -> list[str]:
    """Return import statements that define a name, those of the project first."""
    found = [f"from {module} import {name}" for module in _project_modules(root, name)]
    found += [
        f"from {home} import {name}" for home, names in _KNOWN.items() if name in names.split()
    ]
    if name in sys.stdlib_module_names or _is_installed(name):
        found.append(f"import {name}")
    return list(dict.fromkeys(found))


def _is_installed(name: str) -> bool:
    try:
        return name.isidentifier() and find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _project_modules(root: Path, name: str) -> Iterator[str]:
    defined = re.compile(
        rf"(?m)^(?:(?:async )?def|class) {re.escape(name)}\b|^{re.escape(name)}\b.*="
    )
    for file, text in texts_of(root, (".py",)):
        parts = file.relative_to(root).with_suffix("").parts
        module = parts[:-1] if parts[-1] == "__init__" else parts
        if module and all(map(str.isidentifier, module)) and defined.search(text):
            yield ".".join(module)


def ui_homes(root: Path, path: str, name: str) -> list[tuple[str, bool]]:
    """Return specifiers of the project's modules that export a name, and whether as the default."""
    word = re.escape(name)
    named = re.compile(rf"(?m)^export (?:async )?(?:function\*?|class|const|let|var) {word}\b")
    default = re.compile(rf"(?m)^export default (?:async )?(?:(?:function|class) )?{word}\b")
    found = []
    for file, text in texts_of(root, CLIENT_CODE):
        is_default = default.search(text) is not None
        if is_default or named.search(text) is not None or name in _listed(text):
            specifier = os.path.relpath(file, (root / path).parent).replace(os.sep, "/")
            specifier = specifier if specifier.startswith(".") else f"./{specifier}"
            found.append((specifier, is_default))
    return found


def _listed(text: str) -> set[str]:
    """Return the names in lists of exports."""
    return {word for found in _LIST.finditer(text) for word in _NAME.findall(found[1])}
