"""Where an import goes in a page: to those of its module, or below or above the others. Pure."""

from __future__ import annotations

import ast
import re
from typing import Any

from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.tools.lsp.page import PageView
from fxtrio.tools.lsp.positions import Position, places_of

_IMPORT = re.compile(r"import\b")
_DIRECTIVE = re.compile(r"""\s*["']use \w+["'];?\s*$""")


def python_import(view: PageView, statement: str) -> dict[str, Any] | None:
    """Return the edit that adds ``from … import name`` or ``import name`` to the Python half.

    None while it does not parse.
    """
    module = parse_module(view.checked.python)
    if isinstance(module, Broken):
        return None
    wanted = ast.parse(statement).body[0]
    imports = [one for one in module.body if isinstance(one, ast.Import | ast.ImportFrom)]
    for one in imports:
        if (
            isinstance(one, ast.ImportFrom)
            and isinstance(wanted, ast.ImportFrom)
            and (one.module, one.level) == (wanted.module, wanted.level)
        ):
            last = one.names[-1]
            end = view.source.offset_of(last.end_lineno or 1, last.end_col_offset or 0)
            return _put(view.places.position(end), f", {wanted.names[0].name}")
    if imports:
        return _line(imports[-1].end_lineno or imports[-1].lineno, f"{statement}\n")
    body = module.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        return _line(body[0].end_lineno or 1, f"\n{statement}\n")
    first = min((_first_line(one) for one in body), default=1)
    return _line(first - 1, f"{statement}\n\n")


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def ui_import(view: PageView, line: str, name: str = "", module: str = "") -> list[dict[str, Any]]:
    """Return the edits that add an import to the UI half; [] when it is there.

    ``name`` joins the names that are imported from ``module`` already.
    """
    ui = view.checked.ui
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
