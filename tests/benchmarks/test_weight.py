"""What `python -m benchmarks.weight` prints, and what it calls too heavy."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from benchmarks.weight.__main__ import Load, table, too_heavy

HELLO = Load("hello", "fxtrio", "1", html=200, script=0, style=100, requests=1, failed=0)


def test_the_table_has_the_sites_of_one_page_below_each_other() -> None:
    other = attrs.evolve(HELLO, page="docs page", html=3512)
    peer = attrs.evolve(HELLO, site="Next.js", version="16", script=134_712, style=0)

    assert table([HELLO, other, peer]).splitlines()[2:] == [
        "| hello | fxtrio | 0.2 kB | 0 | 0.1 kB | 1 |",
        "| hello | Next.js 16 | 0.2 kB | 134.7 kB | 0 | 1 |",
        "| docs page | fxtrio | 3.5 kB | 0 | 0.1 kB | 1 |",
    ]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"html": 301}, ["hello: 401 bytes, and not 400 at most."]),
        ({"script": 200}, ["hello: 500 bytes, and not 400 at most."]),
        ({"requests": 2}, ["hello: 2 requests, and not 1 at most."]),
        ({"failed": 1}, ["hello of fxtrio: 1 requests failed."]),
        ({"site": "Next.js", "html": 401, "requests": 9}, []),
    ],
)
def test_pages_of_fxtrio_that_are_too_heavy_are_named(
    change: dict[str, Any], found: list[str]
) -> None:
    assert list(too_heavy(attrs.evolve(HELLO, **change))) == found
