"""A cache of rendered HTML, by the page state that it was rendered from.

React requires pure renders, so equal page states have equal HTML. Loaders always
run; only the render is skipped. Bounded in bytes and in age. A large entry is cached when it
is rendered for the second time: personal ones would only fill the memory.
"""

from __future__ import annotations

from collections import OrderedDict

import attrs

from fxtrio.ssr.frames import Rendered

_OVERHEAD = 256
"""Bytes of an entry besides its state and HTML (objects and links, measured roughly)."""

_LARGE = 64 * 1024
"""Size of a state from which it is cached only when it repeats (bytes)."""

_SEEN = 1024
"""Large states of which is known that they were rendered once (count)."""


@attrs.frozen
class RenderCacheStatistics:
    """A snapshot of a `RenderCache`."""

    entries: int
    size: int
    """Bytes of cached states and HTML."""

    capacity: int
    """Bytes above which the entries that were not used for longest go."""

    hits: int
    misses: int


class RenderCache:
    """Renders by (view, page state), at most ``capacity`` bytes and ``age`` seconds old."""

    def __init__(self, *, capacity: int, age: float) -> None:
        self._capacity = capacity
        self._age = age
        self._entries: OrderedDict[tuple[int, bytes], tuple[Rendered, float]] = OrderedDict()
        self._seen: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._size = 0
        self._hits = 0
        self._misses = 0

    def find(self, view: int, state: bytes, now: float) -> Rendered | None:
        """Return the HTML of this state, if it is cached and young enough."""
        key = (view, state)
        entry = self._entries.get(key)
        if entry is None:
            self._misses += 1
            return None
        rendered, since = entry
        if now - since > self._age:
            self._drop(key)
            self._misses += 1
            return None
        self._entries.move_to_end(key)
        self._hits += 1
        return rendered

    def keep(self, view: int, state: bytes, rendered: Rendered, now: float) -> None:
        """Keep a render; the ones unused for longest go when the capacity is passed."""
        key = (view, state)
        if key in self._entries:
            self._drop(key)
        size = self._size_of(key, rendered)
        if size > self._capacity // 8:  # one huge page must not push out all others
            return
        if len(state) >= _LARGE and not self._is_second(view, state):
            return
        self._entries[key] = (rendered, now)
        self._size += size
        while self._size > self._capacity:
            self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        """Forget everything (the bundle was replaced)."""
        self._entries.clear()
        self._seen.clear()
        self._size = 0

    def statistics(self) -> RenderCacheStatistics:
        """Return a snapshot."""
        return RenderCacheStatistics(
            entries=len(self._entries),
            size=self._size,
            capacity=self._capacity,
            hits=self._hits,
            misses=self._misses,
        )

    def _is_second(self, view: int, state: bytes) -> bool:
        """Return whether a state was rendered before; if not, it has been now."""
        mark = (view, hash(state))  # a hash collision only caches a state too early
        if mark in self._seen:
            del self._seen[mark]
            return True
        self._seen[mark] = None
        if len(self._seen) > _SEEN:
            self._seen.popitem(last=False)
        return False

    def _drop(self, key: tuple[int, bytes]) -> None:
        rendered, _ = self._entries.pop(key)
        self._size -= self._size_of(key, rendered)

    @staticmethod
    def _size_of(key: tuple[int, bytes], rendered: Rendered) -> int:
        return len(key[1]) + len(rendered.head) + len(rendered.html) + _OVERHEAD
