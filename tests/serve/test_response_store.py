"""The store of cached responses: bytes, order of eviction, floods of URLs; and queries as keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.serve.cache.cached_response import HitForPass
from fxtrio.serve.cache.keys import Key, canonical_query
from fxtrio.serve.cache.store import ResponseStore
from fxtrio.serve.request.response.response import Header, keep_private

KEYS = st.integers(0, 12)


def key(number: int) -> Key:
    return (b"html", b"%d" % number)


def entry(number: int, size: int = 1000) -> HitForPass:
    """Return something of ``size`` bytes, what is counted besides its text included."""
    page = f"/{number % 3}"
    besides = 1500 + sum(map(len, key(number))) + len(page)
    return HitForPass(page, b'"/[id]"', 0.0, size - besides)


def held(store: ResponseStore, numbers: range) -> list[int]:
    return [number for number in numbers if store.peek(key(number)) is not None]


def test_what_was_not_used_for_longest_goes_first() -> None:
    store = ResponseStore(10_000)
    for number in range(12):
        store.put(key(number), entry(number))
    assert held(store, range(12)) == list(range(2, 12))
    assert (store.statistics().size, store.statistics().dropped) == (10_000, 2)


def test_a_flood_of_urls_that_come_once_leaves_what_has_visitors() -> None:
    store = ResponseStore(100_000)
    for number in range(50):
        store.put(key(number), entry(number))
        assert store.get(key(number)) is not None
    for number in range(1000, 6000):
        store.put(key(number), entry(number))
    assert held(store, range(50)) == list(range(50))
    assert store.statistics().size <= 100_000


def test_what_has_visitors_no_more_makes_room_for_others_that_have() -> None:
    store = ResponseStore(10_000)
    for number in range(30):
        store.put(key(number), entry(number))
        assert store.get(key(number)) is not None
    assert held(store, range(30)) == list(range(20, 30))


def test_a_long_url_counts_as_much_as_what_it_leads_to() -> None:
    store = ResponseStore(100_000)
    for number in range(100):
        store.put((b"%d" % number, b"q" * 8000), entry(number, size=1500))
    assert store.statistics().entries <= 100_000 // 8000


def test_one_huge_response_does_not_push_out_all_others() -> None:
    store = ResponseStore(10_000)
    store.put(key(1), entry(1))
    store.put(key(2), entry(2, size=5000))
    assert held(store, range(3)) == [1]


def test_a_response_in_place_of_another_stays_proven() -> None:
    store = ResponseStore(10_000)
    store.put(key(0), entry(0))
    store.get(key(0))
    store.put(key(0), entry(0, size=500))
    for number in range(1, 100):
        store.put(key(number), entry(number))
    assert store.peek(key(0)) is not None


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("keep"), KEYS, st.integers(0, 1500)),
            st.tuples(st.sampled_from(["find", "drop", "drop_page"]), KEYS, st.just(0)),
        )
    )
)
def test_its_size_is_that_of_what_it_holds_and_never_above_the_capacity(
    steps: list[tuple[str, int, int]],
) -> None:
    store = ResponseStore(8000)
    sizes: dict[int, int] = {}
    for step, number, size in steps:
        match step:
            case "keep":
                sizes[number] = size
                store.put(key(number), entry(number, size))
            case "find":
                store.get(key(number))
            case "drop":
                store.drop(key(number))
            case _:
                store.drop_page(f"/{number}")
        found = held(store, range(13))
        statistics = store.statistics()
        assert statistics.entries == len(found)
        assert statistics.size == sum(sizes[n] for n in found) <= 8000
    store.drop_route(b'"/[id]"')
    assert store.statistics().entries == store.statistics().size == 0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text("xy%26", max_size=3))))
def test_a_canonical_query_has_the_same_values_by_name(pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={value}" for name, value in pairs).encode()
    canonical = canonical_query(query)
    assert canonical_query(canonical) == canonical
    assert canonical == b"&".join(
        f"{name}={value}".encode() for name, value in sorted(pairs, key=lambda pair: pair[0])
    )


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        (b"a=2&%61=1", b"a=2&%61=1"),
        (b"%61=1&a=2", b"%61=1&a=2"),
        (b"b=0&a=2&%61=1", b"a=2&%61=1&b=0"),
        (b"a%20b=2&a+b=1", b"a%20b=2&a+b=1"),
        (b"%ff=2&%fe=1", b"%ff=2&%fe=1"),
    ],
)
def test_names_that_are_read_alike_keep_their_order(query: bytes, canonical: bytes) -> None:
    assert canonical_query(query) == canonical


@pytest.mark.parametrize(
    ("headers", "policy"),
    [
        ([(b"cache-control", b"public, max-age=5, s-maxage=60")], b"private, max-age=5"),
        ([(b"Cache-Control", b"s-maxage=60")], b"private, no-cache"),
        ([(b"cache-control", b"public, max-age=0")], b"private, no-cache"),
        ([(b"cache-control", b"no-store")], b"no-store"),
        ([(b"cache-control", b"private, max-age=9")], b"private, max-age=9"),
        ([(b"cdn-cache-control", b"max-age=9"), (b"cache-control", b"no-store")], b"no-store"),
    ],
)
def test_what_no_shared_cache_may_keep_says_so(headers: list[Header], policy: bytes) -> None:
    keep_private(headers)
    assert [value for _, value in headers] == [policy]
