"""The UI half of one version of a page, which further versions share while it stays the same.

Most edits leave one half as it is: the knowledge of that half is reused.
"""

from __future__ import annotations

import re
from functools import cached_property

import attrs

from fxtrio.compile.source import read_text
from fxtrio.tools.types.ui.source.jsx_positions import UiPlaces, read_places

_SIMPLE = re.compile(r"[\w$.\-<\s]*")
"""Text whose insertion or removal pairs the other brackets as before."""


@attrs.frozen(eq=False, slots=False)
class UiText:
    """The text of a UI half.

    Two versions of a page have the same object exactly if the half has not changed.
    """

    text: str
    _before: tuple[str, UiPlaces] | None = None
    """An earlier text with its places."""

    @cached_property
    def places(self) -> UiPlaces:
        """What the types are put into; reading it takes as long as reading the page."""
        return read_places(self.text)

    @cached_property
    def near_places(self) -> UiPlaces:
        """The same without elements: those of an earlier text, moved, where that is possible.

        Right for completion, which cannot wait. After a tag that was only begun it is also closer
        to the intention than reading the text as it stands.
        """
        moved = None if self._before is None else moved_places(*self._before, self.text)
        return self.places if moved is None else moved

    def next(self, text: str) -> UiText:
        """Return the half of the next version."""
        if text == self.text:
            return self
        is_read = "places" in vars(self)
        return UiText(text, (self.text, self.places) if is_read else self._before)


def moved_places(before: str, places: UiPlaces, after: str) -> UiPlaces | None:
    """Return the places of ``after`` without elements, if only a word was written or removed."""
    start = _common(before, after)
    most = min(len(before), len(after)) - start
    same = min(_common(before[::-1], after[::-1]), most)
    old_end, new_end = len(before) - same, len(after) - same
    if not (_SIMPLE.fullmatch(before, start, old_end) and _SIMPLE.fullmatch(after, start, new_end)):
        return None
    by = new_end - old_end

    def move(offset: int) -> int:
        return offset if offset < start else offset + by

    exports = tuple(map(move, places.exports))
    if any(not after.startswith("export", one) for one in exports):
        return None
    pairs = {move(one): move(other) for one, other in places.pairs.items()}
    return UiPlaces(read_text(after, ""), exports, pairs, ())


def _common(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # by halves: comparing slices is fast
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
