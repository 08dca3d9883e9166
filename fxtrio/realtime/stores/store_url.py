"""The URL of a store, and fxtrio's own parameters in it."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

APP_PREFIX = "fx:"
"""Precedes the name of an app in its default prefix."""


def default_prefix(name: str) -> str:
    """Return the prefix that separates the app ``name`` from others on its store: ``fx:shop``.

    All characters but ASCII letters and digits, ``-``, ``.``, ``_`` and ``~`` are
    percent-encoded, so different names never share a key. Without a name it is ``fx``.
    """
    encoded = quote(name, safe="", errors="surrogatepass")
    return APP_PREFIX + encoded if name else "fx"


def has_prefix(url: str) -> bool:
    """Whether a URL sets the prefix of its app."""
    return "prefix" in dict(parse_qsl(urlsplit(url).query))


def split_prefix(url: str, *, name: str) -> tuple[str, str]:
    """Return the URL without ``prefix=``, and the prefix, by default that of the app ``name``."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    prefix = query.pop("prefix", default_prefix(name))
    return urlunsplit(parts._replace(query=urlencode(query))), prefix
