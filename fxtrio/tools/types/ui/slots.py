"""The places that layouts have for parts of pages, by the text of their UI halves. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fxtrio.tools.types.gather.page_types import PageTypes

_SLOT = re.compile(r"<Slot\b[^<>]*?\bname=(?:\"([^\"]*)\"|'([^']*)'|(\{))", re.DOTALL)


def slot_names(ui: str) -> frozenset[str] | None:
    """Return the names of the places that a UI half has; None when some cannot be seen."""
    names = set()
    for one in _SLOT.finditer(ui):
        if one[3]:
            return None
        names.add(one[1] or one[2] or "")
    return frozenset(names)


def slots_around(page: PageTypes, slots: Mapping[str, frozenset[str]]) -> list[str] | None:
    """Return the places in the layouts around a page; None when there may be others."""
    found = {name for layout in page.layouts for name in slots.get(layout, ())}
    return sorted(found) or None
