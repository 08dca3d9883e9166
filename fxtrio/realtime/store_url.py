"""The URL of a store, and what of it is fxtrio's own."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

APP_PREFIX = "fx:"
"""Before the name of an app, in the prefix that is made of it."""


def default_prefix(name: str) -> str:
    """Return what sets the app ``name`` apart from others on its store: ``fx:shop``.

    Whatever is no letter or digit of ASCII, ``-``, ``.``, ``_`` or ``~`` is percent-encoded, so
    different names never give one key. Without a name it is ``fx``.
    """
    encoded = quote(name, safe="", errors="surrogatepass")
    return APP_PREFIX + encoded if name else "fx"


def has_prefix(url: str) -> bool:
    """Whether a URL says itself what sets its app apart."""
    return "prefix" in dict(parse_qsl(urlsplit(url).query))


def split_prefix(url: str, *, name: str) -> tuple[str, str]:
    """Return the URL without ``prefix=``, and the prefix, by default that of the app ``name``."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    prefix = query.pop("prefix", default_prefix(name))
    return urlunsplit(parts._replace(query=urlencode(query))), prefix
