"""RSS 2.0 and Atom 1.0 (RFC 4287) of whatever has URLs and dates. Pure.

Written with the standard library: the libraries for feeds need lxml, or are not maintained.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import attrs

_ATOM = "http://www.w3.org/2005/Atom"
_CONTENT = "http://purl.org/rss/1.0/modules/content/"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot have."""


@attrs.frozen(kw_only=True)
class FeedItem:
    """One entry of a feed."""

    title: str
    url: str
    """Absolute."""

    published: date | datetime
    """Midnight UTC for a date; UTC for a time without a zone."""

    updated: date | datetime | None = None
    """``published`` if it is None."""

    summary: str = ""
    """Text."""

    html: str = ""
    """The whole article; its links should be absolute."""


def rss_feed(
    items: Sequence[FeedItem], *, title: str, url: str, feed_url: str, description: str = ""
) -> bytes:
    """Return an RSS feed of ``items``, in their order.

    ``url`` is the page that the feed belongs to, and ``feed_url`` the URL of the feed; both are
    absolute. Send it as ``application/rss+xml``.
    """
    ElementTree.register_namespace("atom", _ATOM)
    ElementTree.register_namespace("content", _CONTENT)
    root = Element("rss", version="2.0")
    channel = SubElement(root, "channel")
    _text(channel, "title", title)
    _text(channel, "link", url)
    _text(channel, "description", description or title)
    SubElement(channel, f"{{{_ATOM}}}link", rel="self", type="application/rss+xml", href=feed_url)
    if items:
        _text(channel, "lastBuildDate", format_datetime(_newest(items)))
    for item in items:
        element = SubElement(channel, "item")
        _text(element, "title", item.title)
        _text(element, "link", item.url)
        _text(element, "guid", item.url)
        _text(element, "pubDate", format_datetime(_moment(item.published)))
        if item.summary:
            _text(element, "description", item.summary)
        if item.html:
            _text(element, f"{{{_CONTENT}}}encoded", item.html)
    return _written(root)


def atom_feed(
    items: Sequence[FeedItem], *, title: str, url: str, feed_url: str, author: str
) -> bytes:
    """Return an Atom feed of ``items``, in their order.

    ``url`` is the page that the feed belongs to, and ``feed_url`` the URL of the feed; both are
    absolute. Send it as ``application/atom+xml``.
    """
    ElementTree.register_namespace("", _ATOM)
    root = Element(f"{{{_ATOM}}}feed")
    _text(root, f"{{{_ATOM}}}id", feed_url)
    _text(root, f"{{{_ATOM}}}title", title)
    _text(root, f"{{{_ATOM}}}updated", _newest(items).isoformat())
    _text(SubElement(root, f"{{{_ATOM}}}author"), f"{{{_ATOM}}}name", author)
    SubElement(root, f"{{{_ATOM}}}link", href=url)
    SubElement(root, f"{{{_ATOM}}}link", rel="self", href=feed_url)
    for item in items:
        entry = SubElement(root, f"{{{_ATOM}}}entry")
        _text(entry, f"{{{_ATOM}}}id", item.url)
        _text(entry, f"{{{_ATOM}}}title", item.title)
        SubElement(entry, f"{{{_ATOM}}}link", href=item.url)
        _text(entry, f"{{{_ATOM}}}published", _moment(item.published).isoformat())
        _text(entry, f"{{{_ATOM}}}updated", _moment(item.updated or item.published).isoformat())
        if item.summary:
            _text(entry, f"{{{_ATOM}}}summary", item.summary)
        if item.html:
            _text(entry, f"{{{_ATOM}}}content", item.html).set("type", "html")
    return _written(root)


def _text(parent: Element, name: str, text: str) -> Element:
    element = SubElement(parent, name)
    element.text = _NOT_XML.sub("", text)
    return element


def _written(root: Element) -> bytes:
    text: str = ElementTree.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _newest(items: Sequence[FeedItem]) -> datetime:
    """Return the last change; the beginning of 1970 without items, so that feeds are the same."""
    moments = (_moment(item.updated or item.published) for item in items)
    return max(moments, default=datetime(1970, 1, 1, tzinfo=UTC))


def _moment(value: date | datetime) -> datetime:
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
