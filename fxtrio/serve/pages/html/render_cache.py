"""A cache of rendered HTML, by the page state that it was rendered from.

React requires pure renders, so equal page states have equal HTML. Loaders always
run; only the render is skipped. Bounded in bytes and in age. A large entry is cached when it
is rendered for the second time: personal ones would only fill the memory.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from fxtrio.compression.gzip_splice import StoredBody, deflate_pieces
from fxtrio.ssr.frames import Rendered

_OVERHEAD = 256
"""Bytes of an entry besides its state and HTML (objects and links, measured roughly)."""

_LARGE = 64 * 1024
"""Size of a state from which it is cached only when it repeats (bytes)."""

_SEEN = 1024
"""Large states of which is known that they were rendered once (count)."""


_STEADY = 8
"""Requests in a row whose values differ from those of a URL's document before it is replaced: a
URL whose visitors each have their own values is not worth a new document for each of them."""


_WORTH_DEFLATING = 32
"""Requests that found a document before it is deflated: this costs as much as to compress it some
ten times at the level of responses that are sent once."""

_DEFLATED_AT_ONCE = 64 * 1024
"""Larger documents would hold the event loop for too long (bytes)."""


class Document:
    """The document of a URL, which is the same for equal values except for its nonces."""

    def __init__(
        self, state: tuple[object, ...], pieces: tuple[bytes, ...], payload: int, since: float
    ) -> None:
        self.state = state
        """All that the document depends on."""

        self.pieces = pieces
        """The nonce goes between each two of them."""

        self.payload = payload
        """Bytes of its payload."""

        self.since = since
        """When it was rendered."""

        self.hits = 0
        self._deflated: tuple[bytes, ...] | None = None
        self.misses = 0
        """Requests for other values since it was last found."""

        self.size = self._measure()

    def _measure(self) -> int:
        values = sum(len(part) for part in self.state if isinstance(part, bytes))
        return values + 2 * sum(map(len, self.pieces)) + _OVERHEAD  # deflated as well

    def stored(self, body: bytes, nonce: bytes) -> StoredBody | None:
        """Return a body that was joined from its pieces, with these deflated.

        None while too few requests have found it to be worth the work, and if it is large.
        """
        if self._deflated is None:
            if self.hits < _WORTH_DEFLATING or len(body) > _DEFLATED_AT_ONCE:
                return None
            self._deflated = deflate_pieces(self.pieces)
        return StoredBody(body, self._deflated, nonce, b"", public=False)


class RenderCacheStatistics(msgspec.Struct, frozen=True):
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
        self._documents: OrderedDict[tuple[int, bytes], Document] = OrderedDict()
        self._size = 0
        self._documents_size = 0
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

    def find_document(
        self, view: int, url: bytes, state: tuple[object, ...], now: float
    ) -> Document | None:
        """Return the document of a URL for this state, if it is cached and young enough."""
        key = (view, url)
        document = self._documents.get(key)
        if document is None:
            return None
        if now - document.since > self._age:
            self._drop_document(key)
            return None
        if document.state != state:
            document.misses += 1
            return None
        document.misses = 0
        document.hits += 1
        self._documents.move_to_end(key)
        self._hits += 1
        return document

    def keep_document(
        self,
        view: int,
        url: bytes,
        payload: bytes,
        state: tuple[object, ...],
        body: bytes,
        nonce: bytes,
    ) -> None:
        """Keep the document of a URL, if the render of its payload is cached.

        ``body`` has the placeholder ``nonce``, which is empty if there is none.
        """
        entry = self._entries.get((view, payload))
        key = (view, url)
        known = self._documents.get(key)
        if entry is None or (known is not None and known.misses < _STEADY):
            return
        if known is not None:
            self._drop_document(key)
        pieces = tuple(body.split(nonce)) if nonce else (body,)
        document = Document(state, pieces, len(payload), entry[1])
        if document.size > self._capacity // 8:
            return
        self._documents[key] = document
        self._size += document.size
        self._documents_size += document.size
        # A document is stored only while there is a render of it, so renders need room as well.
        while self._documents_size > self._capacity // 2:
            self._drop_document(next(iter(self._documents)))
        self._shrink()

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
        self._shrink()

    def clear(self) -> None:
        """Forget everything (the bundle was replaced)."""
        self._entries.clear()
        self._documents.clear()
        self._seen.clear()
        self._size = self._documents_size = 0

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

    def _shrink(self) -> None:
        """Drop what was not used for longest, renders first: their documents are used more."""
        while self._size > self._capacity:
            if self._entries:
                self._drop(next(iter(self._entries)))
            else:
                self._drop_document(next(iter(self._documents)))

    def _drop_document(self, key: tuple[int, bytes]) -> None:
        document = self._documents.pop(key)
        self._size -= document.size
        self._documents_size -= document.size

    def _drop(self, key: tuple[int, bytes]) -> None:
        rendered, _ = self._entries.pop(key)
        self._size -= self._size_of(key, rendered)

    @staticmethod
    def _size_of(key: tuple[int, bytes], rendered: Rendered) -> int:
        return len(key[1]) + len(rendered.head) + len(rendered.html) + _OVERHEAD
