"""Which renders are cached."""

from __future__ import annotations

from fxtrio.serve.pages.html.render_cache import RenderCache
from fxtrio.ssr.frames import Rendered

RENDERED = Rendered(b"", b"<p>it</p>")
LARGE = b"*" * 100_000


def test_a_small_state_is_cached_at_once() -> None:
    cache = RenderCache(capacity=10_000_000, age=60)
    cache.keep(1, b"small", RENDERED, 0)
    assert cache.find(1, b"small", 0) is RENDERED


def test_a_large_state_is_cached_when_it_is_rendered_for_the_second_time() -> None:
    cache = RenderCache(capacity=10_000_000, age=60)
    cache.keep(1, LARGE, RENDERED, 0)
    cache.keep(2, LARGE, RENDERED, 0)
    assert cache.statistics().entries == 0
    cache.keep(1, LARGE, RENDERED, 0)
    assert cache.find(1, LARGE, 0) is RENDERED
    assert cache.find(2, LARGE, 0) is None


def test_of_large_states_only_some_are_known_to_have_been_rendered() -> None:
    cache = RenderCache(capacity=10_000_000, age=60)
    for number in range(1100):
        cache.keep(number, LARGE, RENDERED, 0)
    cache.keep(0, LARGE, RENDERED, 0)
    assert cache.statistics().entries == 0
    cache.keep(1099, LARGE, RENDERED, 0)
    assert cache.statistics().entries == 1


NONCE = b"%placeholder%"
BODY = b"<script nonce=%placeholder%></script><p>it</p>%placeholder%"


def with_document(state: tuple[object, ...] = (200, b"values")) -> RenderCache:
    cache = RenderCache(capacity=10_000, age=60)
    cache.keep(1, b"payload", RENDERED, 0)
    cache.keep_document(1, b"/url", b"payload", state, BODY, NONCE)
    return cache


def test_a_document_is_found_by_its_url_and_all_that_it_depends_on() -> None:
    cache = with_document()
    found = cache.find_document(1, b"/url", (200, b"values"), 0)
    assert found is not None
    assert b"abc".join(found.pieces) == BODY.replace(NONCE, b"abc")
    for view, url, state in (
        (2, b"/url", (200, b"values")),
        (1, b"/other", (200, b"values")),
        (1, b"/url", (404, b"values")),
        (1, b"/url", (200, b"others")),
    ):
        assert cache.find_document(view, url, state, 0) is None


def test_a_document_is_as_old_as_its_render() -> None:
    cache = with_document()
    assert cache.find_document(1, b"/url", (200, b"values"), 60) is not None
    assert cache.find_document(1, b"/url", (200, b"values"), 61) is None
    cache.keep_document(1, b"/url", b"payload", (200, b"values"), BODY, NONCE)
    assert cache.find_document(1, b"/url", (200, b"values"), 61) is None


def test_a_page_that_was_rendered_once_has_no_document() -> None:
    cache = RenderCache(capacity=10_000, age=60)
    cache.keep_document(1, b"/url", b"payload", (200,), BODY, NONCE)
    assert cache.find_document(1, b"/url", (200,), 0) is None


def test_values_that_differ_for_each_visitor_do_not_replace_a_document_each_time() -> None:
    cache = with_document((b"ann",))
    cache.keep_document(1, b"/url", b"payload", (b"bob",), BODY, NONCE)
    assert cache.find_document(1, b"/url", (b"ann",), 0) is not None
    for _ in range(8):
        assert cache.find_document(1, b"/url", (b"bob",), 0) is None
    cache.keep_document(1, b"/url", b"payload", (b"bob",), BODY, NONCE)
    assert cache.find_document(1, b"/url", (b"bob",), 0) is not None


def test_documents_take_half_of_the_capacity_at_most_and_count_in_it() -> None:
    cache = RenderCache(capacity=10_000, age=60)
    cache.keep(1, b"payload", RENDERED, 0)
    for number in range(100):
        cache.keep_document(1, b"/%d" % number, b"payload", (), BODY, NONCE)
    found = [n for n in range(100) if cache.find_document(1, b"/%d" % n, (), 0) is not None]
    assert 1 < len(found) < 20
    assert found[-1] == 99
    assert cache.statistics().size <= 10_000
    for number in range(100):
        cache.keep(1, b"state %d" % number, RENDERED, 0)
    assert cache.statistics().size <= 10_000
    cache.clear()
    assert cache.statistics().size == 0


def test_without_nonces_a_document_is_one_piece() -> None:
    cache = RenderCache(capacity=10_000, age=60)
    cache.keep(1, b"payload", RENDERED, 0)
    cache.keep_document(1, b"/url", b"payload", (), BODY, b"")
    found = cache.find_document(1, b"/url", (), 0)
    assert found is not None
    assert b"".join(found.pieces) == BODY
