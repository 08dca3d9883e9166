"""Markdown files as typed collections, and feeds of them. Needs the extra ``content``."""

from fxtrio.collections import (
    ContentInvalid,
    Entry,
    FeedItem,
    Heading,
    atom_feed,
    load,
    rss_feed,
)

__all__ = [
    "ContentInvalid",
    "Entry",
    "FeedItem",
    "Heading",
    "atom_feed",
    "load",
    "rss_feed",
]
