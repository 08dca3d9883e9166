"""Large pages: their usual size by view, and their share of the memory budget of the process.

A page with large data takes several times as much memory while it is rendered. Pages of a
view that has large ones wait before their loaders run, until the budget has room.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fxtrio.send_budget import UnsentFull, process_unsent
from fxtrio.serve.request.event import RequestEvent

LARGE: Final = 64 * 1024
"""Bytes from which a payload counts while it is rendered."""

WAITS: Final = 256 * 1024
"""Average payload from which pages of a view are counted before their loaders run (bytes):
many smaller ones may be rendered concurrently, above all if their loaders wait."""

IN_HAND: Final = 4 * 1024 * 1024
"""Bytes of payloads, together, that may wait for room in all."""

_BECOMES = 5
"""How often a payload is in memory at a time: the value that it was encoded from, the payload,
its HTML, which is about as long, and the document with both."""

_WEIGHT = 1 / 8
"""Of the newest page in the average."""


def footprint(payload: bytes) -> int:
    """Return how much memory a page takes while it is rendered (bytes)."""
    return _BECOMES * len(payload)


class LargePages:
    """The views whose payloads are large, and how large. At most one entry for each view."""

    def __init__(self) -> None:
        self.average: dict[int, float] = {}
        """Bytes of a payload, by the id of the view; of views that have large ones."""

        self._in_hand = 0
        """Bytes of payloads that wait for room."""

    def note(self, view: int, size: int) -> None:
        """Note the size of one payload. Those of views without a large one are not stored."""
        known = self.average.get(view)
        if known is None:
            if size >= LARGE:
                self.average[view] = size
            return
        known += (size - known) * _WEIGHT
        if known < LARGE / 2:
            del self.average[view]
        else:
            self.average[view] = known

    @asynccontextmanager
    async def rendering(
        self, payload: bytes, place: str, *, footprint: int, reserved: int = 0, address: str = ""
    ) -> AsyncIterator[None]:
        """Count ``footprint`` bytes for the length of the block, in which a payload is rendered.

        Waits for room before, unless too much does so already, or some is ``reserved`` for the
        page. Raises UnsentFull. ``address`` is that of the client (`RequestEvent.address`).
        """
        if reserved or not process_unsent.must_wait(footprint, address):
            with process_unsent.reserving(max(footprint - reserved, 0), address):
                yield
            return
        size = len(payload)
        if self._in_hand + size > IN_HAND:
            raise UnsentFull(place)
        self._in_hand += size
        try:
            if not await process_unsent.wait_reserved(footprint, address):
                raise UnsentFull(place)
        finally:
            self._in_hand -= size
        try:
            yield
        finally:
            process_unsent.unreserve(footprint, address)

    @asynccontextmanager
    async def admitted(self, view: int, event: RequestEvent, place: str) -> AsyncIterator[None]:
        """Wait for room, then reserve a page's probable size while the block lasts.

        Raises UnsentFull if there is no room for too long.
        """
        size = int(_BECOMES * self.average.get(view, 0))
        if size < _BECOMES * WAITS:
            yield
            return
        address = event.address
        if not await process_unsent.wait_reserved(size, address):
            raise UnsentFull(place)
        event.reserved = size
        try:
            yield
        finally:
            event.reserved = 0
            process_unsent.unreserve(size, address)
