"""Maps the results of a language server from the file that it knows to the page. Pure.

A server answers about one half of a page, as a file of its own language (`virtual_document`).
Positions in its results are positions in that file, and some have no counterpart in the page:
code that fxtrio generates around a half. A range that is only displayed is left out then; an edit
that would change such code is rejected, and with it the whole rename.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from fxtrio.tools.lsp.documents.positions import edited, units
from fxtrio.tools.lsp.documents.virtual_document import Projection
from fxtrio.tools.types.ui.virtual_project import FOLDER

GENERATED = f"/{FOLDER.as_posix()}/"
"""Part of the URIs of generated files, in which nothing is displayed or changed."""

_WORD_END = re.compile(r"(?<![\w$])[\w$]+\Z")

Json = dict[str, Any]
"""An object of the language server protocol, as JSON has it."""


@attrs.frozen
class RequestContext:
    """The subject of a request to a server."""

    projection: Projection
    """The file of the question."""

    pages: Mapping[str, tuple[str, Projection]]
    """All files by the URI that the server knows, each with the URI of its page."""


MapResult = Callable[[Any, RequestContext], Any]
"""Maps one kind of result."""


def word_before(line: str, character: int) -> str:
    """Return the part of a word before ``character``, which counts UTF-16 units."""
    before = line.encode("utf-16-le", "replace")[: 2 * character].decode("utf-16-le", "replace")
    found = _WORD_END.search(before)
    return found[0] if found is not None else ""


def completion_back(result: Any, context: RequestContext, *, word: str = "") -> list[Json]:
    """Return the items of a completion whose edits are within the page.

    Items without the letters of ``word`` in this order are left out. Editors do so as well, but
    the browser has a thousand global names, and sending them all would take longer than typing.
    """
    items = result.get("items", []) if isinstance(result, dict) else result or []
    shared = _default_range(result)
    items = [one for one in items if _has_letters(one, word.lower())]
    return [
        one for item in items if (one := item_back(item, context.projection, shared)) is not None
    ]


def _has_letters(item: Json, word: str) -> bool:
    letters = iter(str(item.get("filterText") or item.get("label", "")).lower())
    return all(one in letters for one in word)


def item_back(item: Json, projection: Projection, shared: Json | None = None) -> Json | None:
    """Return one item; None when its edit is not within the page.

    ``shared`` is the range of items that have none of their own.
    """
    found = dict(item)
    edit = item.get("textEdit")
    if edit is None and shared is not None:
        edit = {**shared, "newText": item.get("textEditText") or item.get("label", "")}
    if edit is not None:
        edit = _edit_back(edit, projection)
        if edit is None:
            return None
        found["textEdit"] = edit
    more = [_edit_back(one, projection) for one in item.get("additionalTextEdits") or []]
    if more:
        found["additionalTextEdits"] = [one for one in more if one is not None]
    return found


def _default_range(result: Any) -> Json | None:
    defaults = result.get("itemDefaults") if isinstance(result, dict) else None
    range_ = defaults.get("editRange") if isinstance(defaults, dict) else None
    if not isinstance(range_, dict):
        return None
    return {"range": range_} if "start" in range_ else range_


def _edit_back(edit: Json, projection: Projection) -> Json | None:
    found = dict(edit)
    for key in ("range", "insert", "replace"):
        if key in edit:
            found[key] = projection.range_back(edit[key])
            if found[key] is None:
                return None
    return found


def hover_back(result: Any, context: RequestContext) -> Any:
    """Return a hover; its range is left out where it is not in the page."""
    if not isinstance(result, dict) or "range" not in result:
        return result
    found = {key: value for key, value in result.items() if key != "range"}
    range_ = context.projection.range_back(result["range"])
    return found if range_ is None else {**found, "range": range_}


def locations_back(result: Any, context: RequestContext) -> list[Json]:
    """Return locations, also those in other files."""
    found = result if isinstance(result, list) else [result] if result else []
    places = []
    for one in found:
        uri = one.get("targetUri", one.get("uri"))
        range_ = one.get("targetSelectionRange", one.get("range"))
        if uri in context.pages:
            uri, known = context.pages[uri]
            range_ = known.range_back(range_)
        elif GENERATED in uri:
            continue
        if range_ is not None:
            places.append({"uri": uri, "range": range_})
    return places


def edits_back(result: Any, context: RequestContext) -> Json | None:
    """Return the changes of a rename; None when one of them is not within its page."""
    if not isinstance(result, dict):
        return None
    listed = list((result.get("changes") or {}).items())
    for one in result.get("documentChanges") or []:
        if "textDocument" in one:
            listed.append((one["textDocument"]["uri"], one["edits"]))
    changes: dict[str, list[Json]] = {}
    for uri, edits in listed:
        page, known = context.pages.get(uri, (uri, None))
        if known is None and GENERATED in uri:
            return None
        mapped = edits if known is None else _line_edits(edits, known)
        if mapped is None:
            return None
        changes.setdefault(page, []).extend(mapped)
    return {"changes": changes}


def _line_edits(edits: list[Json], projection: Projection) -> list[Json] | None:
    """Return edits that each change a part of one line.

    Some servers replace the whole file, of which the page has only a part; so the lines before
    and after are compared. None when their number changes, or when generated code changes.
    """
    # From the end to the beginning, so that no edit moves the place of another.
    ordered = sorted(edits, key=_start_of, reverse=True)
    text = projection.text
    for one in ordered:
        text = edited(text, one["range"], one["newText"])
    before, after = projection.text.split("\n"), text.split("\n")
    if len(before) != len(after):
        return None
    found = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        start = _common(old, new)
        same = _common(old[start:][::-1], new[start:][::-1])
        ends = len(old) - same, len(new) - same
        places = [{"line": number, "character": units(old[:at])} for at in (start, ends[0])]
        range_ = projection.range_back({"start": places[0], "end": places[1]})
        if range_ is None:
            return None
        found.append({"range": range_, "newText": new[start : ends[1]]})
    return found


def _start_of(edit: Json) -> tuple[int, int]:
    start = edit["range"]["start"]
    return start["line"], start["character"]


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def name_back(result: Any, context: RequestContext) -> Json | None:
    """Return the range of the name that can be renamed; None for none."""
    if not isinstance(result, dict):
        return None
    if "start" in result:
        range_ = context.projection.range_back(result)
        return None if range_ is None else dict(range_)
    return hover_back(result, context) if "range" in result else result


def as_it_is(result: Any, context: RequestContext) -> Any:
    """Return a result that has no positions."""
    return result
