"""Which renders are kept."""

from __future__ import annotations

from fxtrio.serve.pages.html.render_cache import RenderCache
from fxtrio.ssr.frames import Rendered

RENDERED = Rendered(b"", b"<p>it</p>")
LARGE = b"*" * 100_000


def test_a_small_state_is_kept_at_once() -> None:
    cache = RenderCache(capacity=10_000_000, age=60)
    cache.keep(1, b"small", RENDERED, 0)
    assert cache.find(1, b"small", 0) is RENDERED


def test_a_large_state_is_kept_when_it_is_rendered_for_the_second_time() -> None:
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
