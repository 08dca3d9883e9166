"""Cached responses by key, bounded in bytes. No clock, no I/O.

Two queues, both by last use (segmented LRU): an entry that was requested once is in the
first, an entry that was requested again moves to the second. A flood of URLs that are
requested only once evicts its own kind, never the popular pages.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from fxtrio.serve.cache.cached_response import CachedResponse, HitForPass
from fxtrio.serve.cache.keys import Key

Entry = CachedResponse | HitForPass

_PROVEN = 0.8
"""Share of the capacity for entries that were requested again."""

_LARGEST = 8
"""An entry may take one part in so many: one huge page must not push out all others."""

_OVERHEAD = 1500
"""Bytes of an entry besides its text: objects, links, key (measured roughly)."""


class CacheStatistics(msgspec.Struct, frozen=True):
    """A snapshot of a `ResponseStore`."""

    entries: int
    size: int
    """Bytes stored."""

    capacity: int
    """Bytes above which entries go."""

    dropped: int
    """Entries that had to go for others (count)."""


class ResponseStore:
    """At most ``capacity`` bytes of responses."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._new: OrderedDict[Key, Entry] = OrderedDict()
        self._proven: OrderedDict[Key, Entry] = OrderedDict()
        self._pages: dict[str, set[Key]] = {}
        self._size = 0
        self._proven_size = 0
        self._dropped = 0

    def get(self, key: Key) -> Entry | None:
        """Return the entry, and mark it as used."""
        proven = self._proven
        entry = proven.get(key)
        if entry is not None:
            proven.move_to_end(key)
            return entry
        entry = self._new.pop(key, None)
        if entry is not None:
            self._prove(key, entry)
        return entry

    def peek(self, key: Key) -> Entry | None:
        """Return the entry, without marking it as used."""
        return self._proven.get(key) or self._new.get(key)

    def put(self, key: Key, entry: Entry) -> None:
        """Store ``entry`` in place of an earlier one; others may be evicted."""
        proven = key in self._proven  # and stays so: a revalidation is no request of a visitor
        self.drop(key)
        size = _size_of(key, entry)
        if size > self._capacity // _LARGEST:
            return  # without the earlier one either, which is outdated
        self._size += size
        self._pages.setdefault(entry.page, set()).add(key)
        if proven:
            self._prove(key, entry)
        else:
            self._new[key] = entry
        # The oldest of those that were requested once; a proven one only where there are no others.
        while self._size > self._capacity:
            self.drop(next(iter(self._new or self._proven)))
            self._dropped += 1

    def drop(self, key: Key) -> bool:
        """Forget one entry; return whether there was one."""
        entry = self._new.pop(key, None)
        if entry is None:
            entry = self._proven.pop(key, None)
            if entry is None:
                return False
            self._proven_size -= _size_of(key, entry)
        self._size -= _size_of(key, entry)
        keys = self._pages[entry.page]
        keys.remove(key)
        if not keys:
            del self._pages[entry.page]
        return True

    def drop_page(self, page: str) -> int:
        """Forget what is cached of the page at the path ``page``; return how many."""
        return sum(map(self.drop, tuple(self._pages.get(page, ()))))

    def drop_route(self, route: bytes) -> int:
        """Forget all pages of a route pattern; return how many entries went."""
        # Of routes and tags there is no index: each `put` would pay for what is seldom called.
        found = [
            key
            for entries in (self._new, self._proven)
            for key, entry in entries.items()
            if entry.route == route
        ]
        return sum(map(self.drop, found))

    def drop_tag(self, tag: str) -> int:
        """Forget all pages whose loaders have named ``tag``; return how many entries went."""
        found = [
            key
            for entries in (self._new, self._proven)
            for key, entry in entries.items()
            if isinstance(entry, CachedResponse) and tag in entry.tags
        ]
        return sum(map(self.drop, found))

    def clear(self) -> None:
        """Forget everything."""
        self._new.clear()
        self._proven.clear()
        self._pages.clear()
        self._size = self._proven_size = 0

    def statistics(self) -> CacheStatistics:
        """Return a snapshot."""
        return CacheStatistics(
            entries=len(self._new) + len(self._proven),
            size=self._size,
            capacity=self._capacity,
            dropped=self._dropped,
        )

    def _prove(self, key: Key, entry: Entry) -> None:
        """Put an entry among the proven ones; the longest unused of them may have to leave."""
        self._proven[key] = entry
        self._proven_size += _size_of(key, entry)
        while self._proven_size > self._capacity * _PROVEN and len(self._proven) > 1:
            oldest, other = self._proven.popitem(last=False)
            self._proven_size -= _size_of(oldest, other)
            self._new[oldest] = other  # as the youngest there: it has to be requested again


def _size_of(key: Key, entry: Entry) -> int:
    # The path is in the key, and by itself.
    return entry.size + sum(map(len, key)) + len(entry.page) + _OVERHEAD
