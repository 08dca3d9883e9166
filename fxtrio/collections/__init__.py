"""Folders of Markdown files for application code: entries of a typed model, and their feeds.

Re-exported as `fx.content`. Begin with `load`. Needs the extra `content`.
"""

from fxtrio.collections.feeds import FeedItem, atom_feed, rss_feed
from fxtrio.collections.load import Entry, load
from fxtrio.collections.models import ContentInvalid, page_front_matter
from fxtrio.content.article import Heading

__all__ = [
    "ContentInvalid",
    "Entry",
    "FeedItem",
    "Heading",
    "atom_feed",
    "load",
    "page_front_matter",
    "rss_feed",
]
