"""A page in the style of `fx format`, as the edits that lead there."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path

from lsprotocol import types

from fxtrio.errors import FxtrioError, leaves
from fxtrio.format.rewriting import format_files
from fxtrio.lsp.documents import Document
from fxtrio.lsp.places import Places, places_of
from fxtrio.lsp.rpc import request_failed

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


async def formatting_edits(
    document: Document, root: Path, report: Callable[[str], None]
) -> list[types.TextEdit]:
    """Return what `fx format` would change in a file as it is in the editor.

    A file with a mistake stays as it is, which ``report`` gets. Raises JsonRpcException when a
    formatter is missing or fails.
    """
    data = document.text.encode("utf-8", "surrogatepass")
    try:
        (made,) = await format_files(root, [(document.file, data)], report=report)
    except* FxtrioError as group:
        causes = leaves(group)
    else:
        for problem in made.problems:
            report(f"It is not formatted. {problem}")
        return edits_between(document.text, made.after.decode("utf-8", "surrogatepass"))
    raise request_failed(" ".join(map(str, causes)))


def edits_between(before: str, after: str) -> list[types.TextEdit]:
    """Return edits of whole lines, so that the cursor and marks of other lines stay."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    starts = [0, *accumulate(map(len, old))]
    places = places_of(before)
    return [
        types.TextEdit(_range(places, starts[first], starts[last]), "".join(new[start:end]))
        for kind, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes()
        if kind != "equal"
    ]


def _range(places: Places, start: int, end: int) -> types.Range:
    ends = places.position(start), places.position(end)
    return types.Range(*(types.Position(one["line"], one["character"]) for one in ends))
