"""What developers see of where the time went: the last requests, the header, queries in a loop."""

from __future__ import annotations

import logging

import pytest

from fxtrio.plugins.studio.timings import Timings, server_timing
from fxtrio.plugins.studio.waterfall import requests_html
from fxtrio.spans import Spans, span


def listened() -> tuple[Spans, Timings]:
    spans, timings = Spans(), Timings()
    spans.add(timings)
    return spans, timings


def test_the_header_names_the_parts_and_is_plain_text() -> None:
    spans, timings = listened()
    with spans.open_root("request", "GET /") as root:
        with span("loader", 'pages/ä".fxl: load()'):
            pass
        assert root is not None
        timing = timings.of(root)
        assert timing is not None
        entries = server_timing(timing, root.began + 1)

    (entry,) = entries
    assert entry.startswith(b"loader0;dur=")
    assert entry.endswith(b'desc="+0 loader pages/  .fxl: load()"')


def test_a_repeated_query_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    spans, timings = listened()
    for _ in range(2):
        with spans.open_root("request", "GET /cart"):
            for number in range(6):
                with span("query", f"select * from items where id = {number}"):
                    pass

    assert len(caplog.records) == 1
    assert "GET /cart made this query 6 times" in caplog.text
    assert "select * from items where id = ?" in caplog.text
    (query,) = timings.latest()[0].repeated()
    assert query["count"] == 6


def test_the_stored_timings_are_bounded() -> None:
    spans, timings = listened()
    for _ in range(300):
        with spans.open_root("request", "GET /"):
            pass
    with spans.open_root("request", "GET /long"):
        for _ in range(1000):
            with span("loader", "load()"):
                pass

    assert len(timings.latest()) == 200
    newest = timings.latest()[0].as_dict()
    assert (len(newest["parts"]), newest["omitted"]) == (300, 700)


def test_a_socket_that_makes_other_queries_for_hours_keeps_so_many_of_them() -> None:
    spans, timings = listened()
    with spans.open_root("request", "WEBSOCKET /") as root:
        for number in range(1000):
            with span("query", f"select a{number}"):
                pass
            with span("query", "select first"):
                pass

    assert root is not None
    timing = timings.of(root)
    assert timing is not None
    assert len(timing.queries) == 300
    assert timing.repeated()[0]["count"] == 1000


def test_the_page_shows_parts_beside_each_other_and_escapes_names() -> None:
    spans, timings = listened()
    with spans.open_root("request", "GET /<b>"), span("loader", "<script>"):
        with span("query", "select 1") as query:
            assert query is not None
            query.values["rows"] = 1
    text = requests_html([timing.as_dict() for timing in timings.latest()])

    assert "GET /&lt;b&gt;" in text
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert "1 row<" in text
    assert text.count("<rect") == 2
