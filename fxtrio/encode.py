"""Values of loaders and actions in, JSON bytes out: the one encoder.

msgspec does the work (attrs and data classes, dates, UUID, Decimal as a string,
enums, bytes as base64); pydantic models are dumped, and scalars of numpy and
pandas are those of Python. What JSON cannot hold is reported with the path of
the key that holds it.
"""

from __future__ import annotations

import inspect
import logging
import math
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec

from fxtrio.errors import ValueInvalid, forgotten_await

_TRACKED_PLACES = 1024
"""Places whose text was not valid Unicode that are remembered (count)."""

log = logging.getLogger("fx.serve")


_REMEDY = (
    "Return str, int, finite float, bool, None, list, dict, dates, UUID, Decimal, "
    "or an attrs, dataclass or pydantic object."
)


_LINE, _PARAGRAPH = "\u2028".encode(), "\u2029".encode()
"""Ends of lines for old JavaScript."""

_LESS, _GREATER, _AMPERSAND, _E2 = b"<>&\xe2"
"""Bytes to look for: as numbers, since Python takes `bytes` for a number first, and the error that
this raises within takes ten times as long as the look at a short value."""

_ABSENT = ("NaTType", "NAType")
"""Types of what stands for no value in pandas."""

_NUMBERS = ("f", "m", "M")
"""Kinds of numpy that have a value which is none: floats, durations and times."""


class NotSerializable(ValueInvalid):
    """A loader or action returned something that JSON cannot hold."""

    def __init__(self, place: str, path: str, value: object) -> None:
        name = type(value).__name__
        value_text = " ".join(reprlib.repr(value).split())
        where = f"the value at {path.lstrip('.')!r}" if path else "the returned value"
        forgotten = forgotten_await(value)
        super().__init__(
            f"{place}: {where} is {forgotten}"
            if forgotten
            else f"{place}: {where} is not JSON-serializable: {value_text} ({name}). "
            f"{remedy_for(value) or _REMEDY}"
        )
        self.place = place
        self.path = path.lstrip(".")
        self.value = value


def _fallback(value: object) -> object:
    """Dump what msgspec does not know, without importing what apps may not use."""
    dump = getattr(type(value), "model_dump", None)
    if dump is not None:
        return dump(value, mode="json", by_alias=True)
    if isinstance(value, Mapping):
        return dict(value)
    return own_value(value)


_REFUSED = (TypeError, NotImplementedError, ValueError, OverflowError, RecursionError)
"""What the encoder raises for values that it cannot encode."""

_REPEATED = 32 * 1024
"""Longest value of a place that is kept (bytes)."""

_CONTAINERS = (dict, list, tuple)

_encoder = msgspec.json.Encoder(enc_hook=_fallback)
_encode = _encoder.encode

_PACKED = 1024
"""Shortest JSON of which MessagePack is worth a call (bytes)."""

PATIENCE = 64
"""Repetitions before a value is compared in MessagePack (count): to begin takes what 40 save."""

_MOST_DOUBTFUL = 64
"""Places to look at in each value that is compared in MessagePack: each takes 0.2 µs (count)."""

_STARTS = frozenset(b'\t\n\r "-0123456789[fnt{')
"""What texts of JSON begin with. In MessagePack, each of these bytes is an int."""

_packer = msgspec.msgpack.Encoder(enc_hook=_fallback)


def _pack(value: object) -> bytes:
    """Return ``value`` as MessagePack; nothing where only JSON can hold it."""
    try:
        return _packer.encode(value)
    except _REFUSED:  # such as an int of more than 64 bits
        return b""


def encode(value: object, *, place: str) -> bytes:
    """Return ``value`` as UTF-8 JSON.

    ``place`` names the origin in errors, for example ``pages/index.fxl: load()``.
    Raises NotSerializable for unknown types, NaN and infinities, and values that
    contain themselves. Text that is not valid Unicode, which is half of a surrogate
    pair, is sent as U+FFFD, and logged once for each place.
    """
    try:
        encoded = _encode(value)
    except _REFUSED as error:
        return _encode_refused(value, place, error)
    if _has_null(encoded):
        _require_finite(value, place)
    return encoded


def _encode_refused(value: object, place: str, error: Exception) -> bytes:
    """Return a value that the encoder has refused with text that is valid, or raise."""
    if isinstance(error, UnicodeEncodeError):
        return encode(_with_valid_text(value, place), place=place)
    culprits = _culprits(value, "", frozenset())
    path, culprit = next(culprits, ("", value))
    if inspect.iscoroutine(culprit):
        _close_coroutines(culprits)
        raise NotSerializable(place, path, culprit) from None
    raise NotSerializable(place, path, culprit) from error


def _has_null(encoded: bytes) -> bool:
    """Whether a value needs a second look, since msgspec writes NaN and infinities as null."""
    # From the end is twice as fast: 4 against 9 µs in 15 kB.
    return encoded.rfind(b"null") >= 0


def _require_finite(value: object, place: str) -> None:
    for path, culprit in _not_finite(value, ""):
        raise NotSerializable(place, path, culprit)


def valid_text(text: str, *, place: str) -> str:
    """Return ``text`` with U+FFFD for half of a surrogate pair, logged once for each ``place``."""
    found: list[str] = []
    valid: str = _valid(text, "", found)
    if found:
        _warn_once(place)("")
    return valid


def _with_valid_text(value: object, place: str) -> object:
    """Return what ``value`` is in JSON, in valid Unicode. Raises NotSerializable."""
    try:
        plain = msgspec.to_builtins(value, enc_hook=_fallback, str_keys=True)
    except _REFUSED as error:
        path, culprit = next(_culprits(value, "", frozenset()), ("", value))
        raise NotSerializable(place, path, culprit) from error
    found: list[str] = []
    valid = _valid(plain, "", found)
    _warn_once(place)(found[0] if found else "")
    return valid


def _valid(value: Any, path: str, found: list[str]) -> Any:
    """Return plain values in valid Unicode; the paths of what was not go to ``found``."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            found.append(path)
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, dict):
        return {
            _valid(key, path, found): _valid(item, f"{path}.{key}", found)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_valid(item, f"{path}[{index}]", found) for index, item in enumerate(value)]
    return value


@lru_cache(_TRACKED_PLACES)
def _warn_once(place: str) -> Callable[[str], None]:
    """Return a function that logs the first path of its calls, and no other."""
    first_time = iter((True,))

    def warn(path: str) -> None:
        if next(first_time, False):
            log.error(
                "%s: %s is not valid Unicode, and was sent with U+FFFD. "
                "Check where the text comes from.",
                place,
                repr(path.lstrip(".")) if path else "a text",
            )

    return warn


def encode_for_html(value: object, place: str) -> bytes:
    """Return ``value`` as JSON that is safe inside HTML. Raises what `encode` raises."""
    encoded = encode(value, place=place)
    # The characters of `escape_for_html`, asked for without a call.
    if _LESS in encoded or _GREATER in encoded or _AMPERSAND in encoded or _E2 in encoded:
        return escape_for_html(encoded)
    return encoded


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
        if _encode(plain) != encoded:  # such as with two keys of one text
            return None
    except (*_REFUSED, msgspec.DecodeError):
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
            encoded = _encode(value)
        except _REFUSED as error:
            return escape_for_html(_encode_refused(value, self._place, error))
        last = self._last
        if encoded == last[0]:
            if len(encoded) >= _PACKED:
                self._repeat(value, encoded)
            return last[1]
        if _has_null(encoded):  # which may stand for other things in an equal one
            _require_finite(value, self._place)
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


def escape_for_html(encoded: bytes) -> bytes:
    """Return the same JSON with nothing that HTML or old JavaScript would act on.

    Outside strings JSON has none of these characters, so the value stays the same.
    """
    if _LESS in encoded:
        encoded = encoded.replace(b"<", b"\\u003c")
    if _GREATER in encoded:
        encoded = encoded.replace(b">", b"\\u003e")
    if _AMPERSAND in encoded:
        encoded = encoded.replace(b"&", b"\\u0026")
    # A look for one byte takes 0.2 µs in 15 kB, one for three bytes 12: so for their first byte.
    if _E2 in encoded:
        encoded = encoded.replace(_LINE, b"\\u2028").replace(_PARAGRAPH, b"\\u2029")
    return encoded


def _children(value: object) -> Iterator[tuple[str, object]]:
    """Yield the parts of a container with the path step that leads to each."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f".{key}", item
    elif isinstance(value, (list, tuple, set, frozenset)):
        for index, item in enumerate(value):
            yield f"[{index}]", item
    elif hasattr(type(value), "__attrs_attrs__") or hasattr(type(value), "__dataclass_fields__"):
        names = getattr(type(value), "__dataclass_fields__", None)
        if names is None:
            names = [attribute.name for attribute in type(value).__attrs_attrs__]  # type: ignore[attr-defined]  # checked above
        for name in names:
            yield f".{name}", getattr(value, name, None)


def _culprits(value: object, path: str, above: frozenset[int]) -> Iterator[tuple[str, object]]:
    """Yield the innermost values that the encoder refuses, in order."""
    if id(value) in above or len(above) > 500:
        yield path, value
        return
    inside = list(_children(value))
    found = False
    for step, item in inside:
        for culprit in _culprits(item, path + step, above | {id(value)}):
            found = True
            yield culprit
    if not found:
        try:
            _encode(value)
        except UnicodeEncodeError:  # `encode` knows what to send instead
            return
        except _REFUSED:
            yield path, value


def _close_coroutines(culprits: Iterable[tuple[str, object]]) -> None:
    """Close what has been forgotten to be awaited, or Python would warn of each as well."""
    for _, culprit in culprits:
        if inspect.iscoroutine(culprit):
            culprit.close()


def _not_finite(value: object, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the floats that are NaN or infinite, in order."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path, value
        return
    for step, item in _children(value):
        if item is not None and not isinstance(item, (str, int, bool)):
            yield from _not_finite(item, path + step)


# Nothing is imported for it: numpy and pandas may not be installed, so a value is known by what
# it has.
def own_value(value: Any) -> object:
    """Return the str, int, float, bool, date, datetime or timedelta that a value is.

    Raises NotImplementedError for all else, and for numbers and times that are none, such as NaN.
    """
    own = _own(value)
    if type(own) is type(value) or (isinstance(own, float) and not math.isfinite(own)):
        raise NotImplementedError
    return own


def _own(value: Any) -> object:
    if type(value).__name__ in _ABSENT:
        raise NotImplementedError
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.timetz())
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if isinstance(value, timedelta):
        return timedelta(value.days, value.seconds, value.microseconds)
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None or getattr(value, "shape", None) != ():
        raise NotImplementedError
    if kind == "f":  # `item` of the longest is no float
        return float(value)
    if kind in "mM":  # of nanoseconds `item` would be a number
        value = value.astype(f"{kind}8[us]")
    own: object = value.item()
    if own is None:  # a time that is none
        raise NotImplementedError
    return own


def remedy_for(value: object) -> str:
    """Return what to do about a value that JSON cannot hold; "" when nothing special is known.

    It ends in a full stop.
    """
    own = getattr(type(value), "json_remedy", "")
    if isinstance(own, str) and own:
        return own
    if type(value).__name__ in _ABSENT or _is_no_number(value):
        return "Return None where there is no value."
    for condition, call in (
        (hasattr(value, "to_dicts"), "to_dicts()"),
        (hasattr(value, "to_dict") and hasattr(value, "columns"), "to_dict('records')"),
        (hasattr(value, "tolist") and getattr(value, "shape", ()) != (), "tolist()"),
        (hasattr(value, "to_list"), "to_list()"),
    ):
        if condition:
            return f"Return its .{call}."
    return ""


def _is_no_number(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return getattr(getattr(value, "dtype", None), "kind", "") in _NUMBERS and value.shape == ()
