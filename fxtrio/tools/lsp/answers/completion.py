"""What may be written at a place of a UI half: keys, actions, pages. Pure."""

from __future__ import annotations

from typing import Any

from fxtrio.tools.lsp.answers.data_paths import keys_below
from fxtrio.tools.lsp.answers.symbols import Setting, written_link
from fxtrio.tools.lsp.documents.positions import Range
from fxtrio.tools.lsp.processes.ui_analysis import Wanted
from fxtrio.tools.types.ui.typescript import Printer, property_name

Item = dict[str, Any]

_FUNCTION, _FIELD, _FILE = 3, 5, 17

TRIGGERS = [".", '"', "'", "`", "/"]
"""Characters behind which an editor asks by itself."""


def completions(setting: Setting, wanted: Wanted) -> list[Item]:
    """Return what may be written; nothing where the types say nothing."""
    if wanted.kind == "key":
        printer = Printer()
        return [
            _item(key.name, _FIELD, wanted.range, detail=printer.type(key.shape))
            for key in keys_below(setting.types, wanted.origin)
            if property_name(key.name) == key.name
        ]
    if wanted.kind == "action":
        return [
            _item(name, _FUNCTION, wanted.range, detail="action of this page")
            for name in setting.page.checked.module.actions
        ]
    sources = {} if setting.known is None else setting.known.sources
    return [
        _item(pattern, _FILE, wanted.range, detail=source, text=written_link(pattern))
        for pattern, source in sorted(sources.items())
    ]


def _item(label: str, kind: int, range_: Range, *, detail: str, text: str = "") -> Item:
    new = text or label
    return {
        "label": label,
        "kind": kind,
        "detail": detail,
        "filterText": new,
        "textEdit": {"range": range_, "newText": new},
    }
