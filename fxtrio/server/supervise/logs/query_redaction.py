"""Redacts secrets in query strings for the access log, such as sign-in links. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote_to_bytes

HIDDEN = b"[hidden]"
_LONGEST = 20_000  # bytes of one query; the rest is omitted, which bounds the work
_MOST = 20  # equals signs in one parameter; the rest is redacted
_DEEPEST = 3  # URLs within the parameters of URLs
_CACHED = 64  # bytes of a name whose meaning is cached
_WHOLE_WORD = 4  # letters of a name that is no ending of words: "key", and not "monkey"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_FIELD = re.compile(rb"([&;#])")
_INNER = re.compile(rb"[?&;#]")


def hiding(names: Iterable[str]) -> Callable[[bytes], bytes]:
    """Return a function that replaces the values of ``names`` in a query or URL by HIDDEN.

    A parameter matches if one of its words does, in any case and escaping: ``token`` matches
    ``accessToken``, ``ACCESS_TOKEN``, ``user[token]``, ``tokens[]`` and, as it has more than
    four letters, ``accesstoken``. A URL in another parameter's value is redacted completely
    if it contains a match.
    """
    chosen = tuple(filter(None, map(_words, names)))
    if not chosen:
        return lambda query: query
    cached = lru_cache(maxsize=1024)(lambda name: _is_meant(name, chosen))

    def is_meant(name: bytes) -> bool:
        return cached(name) if len(name) <= _CACHED else _is_meant(name, chosen)

    def hide(query: bytes) -> bytes:
        if b"=" not in query:
            return query
        visible = query if len(query) <= _LONGEST else query[:_LONGEST] + b"..."
        return b"".join([_hide_in(field, is_meant) for field in _FIELD.split(visible)])

    return hide


def _hide_in(field: bytes, is_meant: Callable[[bytes], bool]) -> bytes:
    """Return one parameter with its secrets redacted."""
    parts = field.split(b"=", _MOST)
    for index, part in enumerate(parts[:-1]):
        # Before a question mark is the URL whose parameter it is.
        if index + 1 == _MOST or is_meant(part.rpartition(b"?")[2]):
            if not any(parts[index + 1 :]):
                return field
            return b"=".join([*parts[: index + 1], HIDDEN])
    if len(parts) > 1 and any(map(is_meant, _names_within(field))):
        return parts[0] + b"=" + HIDDEN
    return field


def _names_within(field: bytes) -> Iterator[bytes]:
    """Yield the names of the parameters that escapes hide in ``field``."""
    for _ in range(_DEEPEST):
        if b"%3" not in field:
            return
        field = unquote_to_bytes(field)
        for inner in _INNER.split(field):
            name, sign, _ = inner.partition(b"=")
            if sign:
                yield name


def _is_meant(name: bytes, chosen: Iterable[list[str]]) -> bool:
    words = _words(unquote_to_bytes(name.replace(b"+", b" ")).decode("latin-1"))
    return any(_contains_in_order(words, those) for those in chosen)


def _contains_in_order(words: list[str], chosen: list[str]) -> bool:
    """Return whether ``words`` contains ``chosen`` as consecutive items."""
    if len(chosen) == 1:
        one = chosen[0]
        several = f"{one}s"
        if len(one) > _WHOLE_WORD:
            return any(word.endswith((one, several)) for word in words)
        return one in words or several in words
    starts = range(len(words) - len(chosen) + 1)
    return any(words[start : start + len(chosen)] == chosen for start in starts)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
