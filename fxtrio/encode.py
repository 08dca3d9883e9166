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
        where = f"the value at {path.lstrip('.')!r}" if path else "the returned value"
        forgotten = forgotten_await(value)
        if forgotten:
            super().__init__(place, f"{where} is {forgotten}")
        else:
            text = f"{' '.join(reprlib.repr(value).split())} ({type(value).__name__})"
            cause = f"{where} is not JSON-serializable: {text}"
            super().__init__(place, cause, remedy_for(value) or _REMEDY)
        self.path = path.lstrip(".")
        self.value = value


def fallback(value: object) -> object:
    """Dump what msgspec does not know, without importing what apps may not use."""
    dump = getattr(type(value), "model_dump", None)
    if dump is not None:
        return dump(value, mode="json", by_alias=True)
    if isinstance(value, Mapping):
        return dict(value)
    return own_value(value)


REJECTED = (TypeError, NotImplementedError, ValueError, OverflowError, RecursionError)
"""What the encoder raises for values that it cannot encode."""

encode_plainly = msgspec.json.Encoder(enc_hook=fallback).encode
"""Returns a value as JSON, with NaN and infinities as null. Raises what is in `REJECTED`."""


def encode(value: object, *, place: str) -> bytes:
    """Return ``value`` as UTF-8 JSON.

    ``place`` names the origin in errors, for example ``pages/index.fxl: load()``.
    Raises NotSerializable for unknown types, NaN and infinities, and values that
    contain themselves. Text that is not valid Unicode, which is half of a surrogate
    pair, is sent as U+FFFD, and logged once for each place.
    """
    try:
        encoded = encode_plainly(value)
    except REJECTED as error:
        return encode_rejected(value, place, error)
    if has_null(encoded):
        require_finite(value, place)
    return encoded


def encode_rejected(value: object, place: str, error: Exception) -> bytes:
    """Return a value that the encoder has rejected, with text that is valid, or raise."""
    if isinstance(error, UnicodeEncodeError):
        return encode(_with_valid_text(value, place), place=place)
    culprits = _culprits(value, "", frozenset())
    path, culprit = next(culprits, ("", value))
    if inspect.iscoroutine(culprit):
        _close_coroutines(culprits)
        raise NotSerializable(place, path, culprit) from None
    raise NotSerializable(place, path, culprit) from error


def has_null(encoded: bytes) -> bool:
    """Whether a value needs a second look, since msgspec writes NaN and infinities as null."""
    # From the end is twice as fast: 4 against 9 µs in 15 kB.
    return encoded.rfind(b"null") >= 0


def require_finite(value: object, place: str) -> None:
    """Raise NotSerializable if NaN or an infinity is in ``value``."""
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
        plain = msgspec.to_builtins(value, enc_hook=fallback, str_keys=True)
    except REJECTED as error:
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
            encode_plainly(value)
        except UnicodeEncodeError:  # `encode` knows what to send instead
            return
        except REJECTED:
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
