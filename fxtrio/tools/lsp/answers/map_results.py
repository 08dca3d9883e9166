"""What a server of one language answers, with its places carried back to the page. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fxtrio.tools.lsp.documents.positions import edited, units
from fxtrio.tools.lsp.documents.virtual_document import Projection
from fxtrio.tools.types.ui.virtual_project import FOLDER

GENERATED = f"/{FOLDER.as_posix()}/"
"""Where files are that nobody writes by hand: a place in them is none to show or to change."""

_WORD_END = re.compile(r"(?<![\w$])[\w$]+\Z")

Answered = Callable[[Any, Projection, Mapping[str, tuple[str, Projection]]], Any]
"""Takes a result, the file that was asked about, and all files by the URI that servers know them
by, each with the URI of its page."""

Pages = Mapping[str, tuple[str, Projection]]


def word_before(line: str, character: int) -> str:
    """Return the letters of a word that stand in front of a place of a line, in UTF-16 units."""
    before = line.encode("utf-16-le", "replace")[: 2 * character].decode("utf-16-le", "replace")
    found = _WORD_END.search(before)
    return found[0] if found is not None else ""


def completion_back(
    result: Any, projection: Projection, pages: Pages, *, word: str = ""
) -> list[dict[str, Any]]:
    """Return items of a completion whose edits are within the page.

    Those that do not have the letters of ``word`` in its order are left out, as editors do: there
    are a thousand names of the browser.
    """
    items = result.get("items", []) if isinstance(result, dict) else result or []
    shared = _default_range(result, projection)
    items = [one for one in items if _has_letters(one, word.lower())]
    return [one for item in items if (one := item_back(item, projection, shared)) is not None]


def _has_letters(item: dict[str, Any], word: str) -> bool:
    letters = iter(str(item.get("filterText") or item.get("label", "")).lower())
    return all(one in letters for one in word)


def item_back(
    item: dict[str, Any], projection: Projection, shared: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """Return one item; None when what it writes is not within the page.

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


def _default_range(result: Any, projection: Projection) -> dict[str, Any] | None:
    defaults = result.get("itemDefaults") if isinstance(result, dict) else None
    range_ = defaults.get("editRange") if isinstance(defaults, dict) else None
    if not isinstance(range_, dict):
        return None
    return {"range": range_} if "start" in range_ else range_


def _edit_back(edit: dict[str, Any], projection: Projection) -> dict[str, Any] | None:
    found = dict(edit)
    for key in ("range", "insert", "replace"):
        if key in edit:
            found[key] = projection.range_back(edit[key])
            if found[key] is None:
                return None
    return found


def hover_back(result: Any, projection: Projection, pages: Pages) -> Any:
    """Return what is shown of a place; its range is left out where it is not in the page."""
    if not isinstance(result, dict) or "range" not in result:
        return result
    found = {key: value for key, value in result.items() if key != "range"}
    range_ = projection.range_back(result["range"])
    return found if range_ is None else {**found, "range": range_}


def locations_back(result: Any, projection: Projection, pages: Pages) -> list[dict[str, Any]]:
    """Return places, those of other files too."""
    found = result if isinstance(result, list) else [result] if result else []
    places = []
    for one in found:
        uri = one.get("targetUri", one.get("uri"))
        range_ = one.get("targetSelectionRange", one.get("range"))
        if uri in pages:
            uri, known = pages[uri]
            range_ = known.range_back(range_)
        elif GENERATED in uri:
            continue
        if range_ is not None:
            places.append({"uri": uri, "range": range_})
    return places


def edits_back(result: Any, projection: Projection, pages: Pages) -> dict[str, Any] | None:
    """Return the changes of a rename; None when one of them is not within its page."""
    if not isinstance(result, dict):
        return None
    listed = list((result.get("changes") or {}).items())
    for one in result.get("documentChanges") or []:
        if "textDocument" in one:
            listed.append((one["textDocument"]["uri"], one["edits"]))
    changes: dict[str, list[dict[str, Any]]] = {}
    for uri, edits in listed:
        page, known = pages.get(uri, (uri, None))
        if known is None and GENERATED in uri:
            return None
        made = edits if known is None else _line_edits(edits, known)
        if made is None:
            return None
        changes.setdefault(page, []).extend(made)
    return {"changes": changes}


def _line_edits(edits: list[dict[str, Any]], projection: Projection) -> list[dict[str, Any]] | None:
    """Return edits that each change a part of a line; some servers write the whole file anew.

    None when there are lines more or less then, or when what was put in changes.
    """
    # The last first, so that none moves another.
    ordered = sorted(edits, key=lambda one: tuple(one["range"]["start"].values()), reverse=True)
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


def _common(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def name_back(result: Any, projection: Projection, pages: Pages) -> dict[str, Any] | None:
    """Return the name that may be changed; None for none."""
    if not isinstance(result, dict):
        return None
    if "start" in result:
        range_ = projection.range_back(result)
        return None if range_ is None else dict(range_)
    return hover_back(result, projection, pages) if "range" in result else result


def as_it_is(result: Any, projection: Projection, pages: Pages) -> Any:
    """Return a result that has no places."""
    return result
