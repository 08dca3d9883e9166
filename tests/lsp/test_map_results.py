"""Results of language servers, mapped to pages without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fxtrio.tools.lsp.answers.map_results import RequestContext, edits_back
from fxtrio.tools.lsp.documents.virtual_document import Projection


def place(line: int, character: int) -> dict[str, int]:
    """Return a position whose keys are in the other order; JSON objects have none."""
    return {"character": character, "line": line}


def edit(start: dict[str, int], end: dict[str, int], text: str) -> dict[str, Any]:
    return {"range": {"start": start, "end": end}, "newText": text}


def test_edits_are_applied_from_the_last_one_whatever_the_order_of_keys() -> None:
    half = Projection("python", Path("/p/index.fxl.py"), "ab cd\nxx\nyy")
    context = RequestContext(half, {half.uri: ("file:///p/index.fxl", half)})
    breaks_line = edit(place(0, 2), place(0, 3), "\n")
    removes_line = edit(place(1, 0), place(2, 0), "")

    found = edits_back({"changes": {half.uri: [breaks_line, removes_line]}}, context)

    assert found is not None
    assert [one["newText"] for one in found["changes"]["file:///p/index.fxl"]] == ["", "cd"]
