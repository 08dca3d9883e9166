"""`Accept-Encoding` → which codings a client takes (RFC 9110, section 12.5.3). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from fxtrio.accept import read_elements

Coding = Literal["zstd", "br", "gzip"]

_ALIASES = {"x-gzip": "gzip"}

_LONGEST_CACHED = 200
"""Longer headers are no browser's, and are read each time (bytes)."""


class Accepted(msgspec.Struct, frozen=True, eq=False):
    """A parsed `Accept-Encoding`."""

    weights: Mapping[str, float]
    """By lower-case name, from 0 (rejected) to 1. ``*`` covers all other codings."""

    _best: dict[tuple[Coding, ...], Coding | None] = msgspec.field(default_factory=dict)
    """What `best` has returned; it is offered the same few codings every time."""

    def weight(self, coding: str) -> float:
        """Return how much ``coding`` is wanted; 0 when it is not acceptable."""
        return self.weights.get(coding, self.weights.get("*", 0.0))

    @property
    def rejects_identity(self) -> bool:
        """Whether a body that is not encoded is unwelcome."""
        return self.weights.get("identity", self.weights.get("*", 1.0)) == 0

    def best(self, offered: tuple[Coding, ...]) -> Coding | None:
        """Return the coding that is wanted most; of equals the first of ``offered``.

        None when there is none, or when the client would rather have the body as it is.
        """
        if offered not in self._best:
            self._best[offered] = self._find_best(offered)
        return self._best[offered]

    def _find_best(self, offered: tuple[Coding, ...]) -> Coding | None:
        if not offered:
            return None
        found = max(offered, key=self.weight)
        weight = self.weight(found)
        return found if weight > 0 and weight >= self.weights.get("identity", 0.0) else None


def read_accepted(header: bytes) -> Accepted:
    """Parse an `Accept-Encoding`. Invalid items are ignored."""
    return _read_cached(header) if len(header) <= _LONGEST_CACHED else _read(header)


def _read(header: bytes) -> Accepted:
    weights: dict[str, float] = {}
    for found in read_elements(header.decode("latin-1")):
        weights[_ALIASES.get(found.name, found.name)] = found.weight or 0.0
    return Accepted(weights)


_read_cached = lru_cache(maxsize=256)(_read)
