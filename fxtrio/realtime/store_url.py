"""The URL of a store, and what of it is fxtrio's own."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def split_prefix(url: str) -> tuple[str, str]:
    """Return the URL without ``prefix=``, and the prefix."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    prefix = query.pop("prefix", "fx")
    return urlunsplit(parts._replace(query=urlencode(query))), prefix
