"""The values of one place, which often repeat: equal ones are encoded once.

A value is equal to the one before if it has the same JSON, or the same MessagePack, which takes
half as long to write. Where that could be taken for other JSON, JSON is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec

from fxtrio.encode import (
    REJECTED,
    encode_plainly,
    encode_rejected,
    escape_for_html,
    fallback,
    has_null,
    require_finite,
)

_REPEATED = 32 * 1024
"""Longest value that is remembered (bytes)."""

_CONTAINERS = (dict, list, tuple)

_PACKED = 1024
"""Shortest JSON of which MessagePack is worth a call (bytes)."""

PATIENCE = 64
"""Repetitions before a value is compared in MessagePack (count): to begin takes what 40 save."""

_MOST_DOUBTFUL = 64
"""Places to look at in each value that is compared in MessagePack: each takes 0.2 µs (count)."""

_STARTS = frozenset(b'\t\n\r "-0123456789[fnt{')
"""What texts of JSON begin with. In MessagePack, each of these bytes is an int."""

_packer = msgspec.msgpack.Encoder(enc_hook=fallback)


def _pack(value: object) -> bytes:
    """Return ``value`` as MessagePack; nothing where only JSON can hold it."""
    try:
        return _packer.encode(value)
    except REJECTED:  # such as an int of more than 64 bits
        return b""


class _PackedValue:
    """A value as MessagePack, by which one with the same JSON is known sooner than by that.

    Floats and long texts take half as long as in JSON, 200 rows with a float each 16 µs instead
    of 31, and nothing takes longer.

    Two things have other JSON where the MessagePack is equal: a time with a zone, of which that
    has the moment alone, and `msgspec.Raw`, which both formats write as it is, so that the ``1``
    of JSON is the int 49 in MessagePack. The latter is found without a look at every part of a
    value: up to its first one it is read as the plain value with equal MessagePack, and there
    that has an int that is one of `_STARTS`. With these ints, the 200 rows take 20 µs.
    """

    __slots__ = ("_ints", "_packed")

    def __init__(self, packed: bytes, ints: tuple[tuple[object, ...], ...]) -> None:
        self._packed = packed
        self._ints = ints
        """The paths of what has to be an int, and nothing else with its MessagePack."""

    def is_equal(self, value: object) -> bool:
        """Return whether ``value`` has the same JSON; False also where that is not sure."""
        return _pack(value) == self._packed and self._has_ints(value)

    def _has_ints(self, value: object) -> bool:
        try:
            for path in self._ints:
                item: Any = value
                for step in path:
                    if type(item) not in _CONTAINERS:  # others may run code, or be no container
                        return False
                    item = item[step]
                if type(item) is not int:
                    return False
        except LookupError:  # of a key that is a text only in JSON, such as a UUID
            return False
        return True


def _doubtful(plain: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Yield the paths of what may have other JSON in a value with equal MessagePack, in order."""
    items: Iterable[tuple[object, object]] = ()
    if isinstance(plain, dict):
        items = plain.items()
    elif isinstance(plain, list):
        items = enumerate(plain)
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from _doubtful(item, (*path, key))
        elif isinstance(item, datetime) or (type(item) is int and item in _STARTS):
            yield (*path, key)
        if isinstance(key, datetime):
            yield path


def _pack_repeated(value: object, encoded: bytes) -> _PackedValue | None:
    """Return a value whose JSON is ``encoded`` as MessagePack; None if others may have that."""
    packed = _pack(value)
    try:
        plain = msgspec.msgpack.decode(packed)
        if encode_plainly(plain) != encoded:  # such as with two keys of one text
            return None
    except (*REJECTED, msgspec.DecodeError):
        return None
    doubtful = tuple(islice(_doubtful(plain), _MOST_DOUBTFUL + 1))
    found = _PackedValue(packed, doubtful)
    return found if len(doubtful) <= _MOST_DOUBTFUL and found.is_equal(value) else None


class RepeatedValue:
    """Encodes the values of one place, which are often equal to the one before.

    What was found of that one, and what it became, is then true of this one, too.
    """

    __slots__ = ("_last", "_packed", "_patience", "_place", "_repetitions")

    def __init__(self, place: str) -> None:
        self._place = place
        self._last = (b"", b"")
        """JSON, and the same as it is safe inside HTML."""
        self._packed: _PackedValue | None = None
        """The same value, once it has repeated often, if that can be compared."""
        self._repetitions = 0
        """Since it was last tried to compare in MessagePack (count)."""
        self._patience = PATIENCE
        """Repetitions before the next attempt, twice as many after each that was in vain."""

    def encode_for_html(self, value: object) -> bytes:
        """Return ``value`` as `encode_for_html` does. Equal values may have one result."""
        if self._packed is not None:
            if self._packed.is_equal(value):
                return self._last[1]
            self._packed = None
        try:
            encoded = encode_plainly(value)
        except REJECTED as error:
            return escape_for_html(encode_rejected(value, self._place, error))
        last = self._last
        if encoded == last[0]:
            if len(encoded) >= _PACKED:
                self._repeat(value, encoded)
            return last[1]
        if has_null(encoded):  # which may stand for other things in an equal one
            require_finite(value, self._place)
            return escape_for_html(encoded)
        safe = escape_for_html(encoded)
        if len(safe) <= _REPEATED:
            self._last = encoded, safe
        return safe

    def _repeat(self, value: object, encoded: bytes) -> None:
        """Begin to compare in MessagePack when that is worth it."""
        self._repetitions += 1
        if self._repetitions >= self._patience:
            self._repetitions = 0
            self._packed = _pack_repeated(value, encoded)
            if self._packed is None:
                self._patience *= 2
