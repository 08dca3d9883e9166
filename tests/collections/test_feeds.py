"""RSS and Atom: well-formed, with dates of their formats and nothing that XML cannot have."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from xml.etree import ElementTree

from fx.content import FeedItem, atom_feed, rss_feed

ITEMS = [
    FeedItem(
        title="A & <b>\x00",
        url="https://a.test/posts/a",
        published=date(2024, 3, 1),
        summary="First",
        html="<p>One & two</p>",
    ),
    FeedItem(
        title="B",
        url="https://a.test/posts/b",
        published=datetime(2024, 3, 2, 10, tzinfo=timezone(timedelta(hours=2))),
        updated=datetime(2024, 4, 1, tzinfo=UTC),
    ),
]
PLACE = {"title": "Posts", "url": "https://a.test/", "feed_url": "https://a.test/feed.xml"}
ATOM = {"a": "http://www.w3.org/2005/Atom"}


def test_rss_has_each_item_with_its_date() -> None:
    channel = ElementTree.fromstring(rss_feed(ITEMS, **PLACE)).find("channel")

    assert channel is not None
    assert channel.findtext("link") == "https://a.test/"
    assert channel.findtext("lastBuildDate") == "Mon, 01 Apr 2024 00:00:00 +0000"
    assert [(one.findtext("title"), one.findtext("pubDate")) for one in channel.iter("item")] == [
        ("A & <b>", "Fri, 01 Mar 2024 00:00:00 +0000"),
        ("B", "Sat, 02 Mar 2024 10:00:00 +0200"),
    ]
    encoded = "item/{http://purl.org/rss/1.0/modules/content/}encoded"
    assert channel.findtext(encoded) == "<p>One & two</p>"


def test_atom_has_each_item_with_its_dates() -> None:
    feed = ElementTree.fromstring(atom_feed(ITEMS, author="Ada", **PLACE))

    assert feed.findtext("a:updated", namespaces=ATOM) == "2024-04-01T00:00:00+00:00"
    assert feed.findtext("a:author/a:name", namespaces=ATOM) == "Ada"
    assert [
        one.findtext("a:updated", namespaces=ATOM) for one in feed.findall("a:entry", ATOM)
    ] == [
        "2024-03-01T00:00:00+00:00",
        "2024-04-01T00:00:00+00:00",
    ]
    content = feed.find("a:entry/a:content", ATOM)
    assert content is not None
    assert (content.get("type"), content.text) == ("html", "<p>One & two</p>")


def test_a_feed_without_items_is_always_the_same() -> None:
    assert b"1970-01-01T00:00:00+00:00" in atom_feed([], author="Ada", **PLACE)
    assert b"<item>" not in rss_feed([], **PLACE)
