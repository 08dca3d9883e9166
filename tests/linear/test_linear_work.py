"""The work for what a client sends grows with its size, and not with the square of it.

Work is what Python does, in calls and lines, so no clock is involved. Every function
of the runtime that looks into text is met by a long one here, or has a reason in `APART`.
"""

from __future__ import annotations

import ast
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.short import amount

from .apart import APART
from .parsers import PARSERS
from .pieces import PIECES
from .readers import looks_into_text, readers
from .tools import Parser
from .work import LONG, Work

SIZE = 64
"""Characters of the small input: what looks at each of them for each other one shows by then."""

TIMES = 8
"""How much larger the large input is. Linear work grows 8 times, quadratic 64 times."""

GROWTH = 2 * TIMES
FIXED = 1_000
"""Work that does not depend on the size: caches that fill, modules that load."""


def growth_of(parse: Parser, piece: bytes, work: Work | None = None) -> tuple[int, int]:
    """Return the work for much of ``piece``, and for `TIMES` as much."""
    counted = work or Work()
    small = counted.of(parse, piece * (SIZE // len(piece) + 1))
    return small, counted.of(parse, piece * (TIMES * (SIZE // len(piece) + 1)))


def test_every_function_that_looks_into_text_is_measured_or_has_a_reason() -> None:
    work = Work()
    for parse in PARSERS.values():
        for piece in (b"a", b'["a"],', b"\\*", b"%41", b"; charset=", b"<p>a</p>"):
            work.of(parse, piece * (2 * LONG // len(piece)))
    apart = {f"fxtrio.{name}" for names in APART.values() for name in names}
    found = set(readers())
    assert sorted(found - work.met - apart) == [], "measure them, or say why no long text comes"
    assert sorted(apart - found) == [], "they are gone, or look into no text"


@pytest.mark.parametrize(
    ("source", "looks"),
    [
        ("def read(text: str): return text.split(',')", True),
        ("def read(lines: list[bytes]): return [line for line in lines]", True),
        ("def read(text: str | None): return _PATTERN.search(text)", True),
        ("def read(data: bytes): return data[1:]", True),
        ("def read(text: str): return other(text)", False),
        ("def read(count: int): return count.bit_count()", False),
        ("def read(known: dict[str, int]): return known['a']", False),
    ],
)
def test_functions_that_look_into_text_are_known_by_their_code(source: str, looks: bool) -> None:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert looks_into_text(function) is looks


@pytest.mark.parametrize("name", PARSERS)
def test_each_piece_is_parsed_in_linear_work(name: str) -> None:
    work = Work()
    for piece in PIECES:
        small, large = growth_of(PARSERS[name], piece, work)
        assert large <= GROWTH * small + FIXED, piece


@given(
    name=st.sampled_from([*PARSERS]),
    pieces=st.lists(st.sampled_from(PIECES), min_size=2, max_size=3),
)
@settings(max_examples=amount(50, short=10, long=200))
def test_hostile_input_is_parsed_in_linear_work(name: str, pieces: list[bytes]) -> None:
    small, large = growth_of(PARSERS[name], b"".join(pieces))
    assert large <= GROWTH * small + FIXED


def test_quadratic_work_would_be_noticed() -> None:
    def quadratic(body: bytes) -> None:
        for _ in body:
            for _ in body[::4]:
                pass

    def once(body: bytes) -> None:
        for _ in body:
            pass

    small, large = growth_of(quadratic, b"x")
    assert large > GROWTH * small + FIXED
    small, large = growth_of(once, b"x")
    assert large <= GROWTH * small + FIXED


@pytest.mark.parametrize("piece", PIECES)
def test_no_regular_expression_of_cookies_looks_at_a_character_again(piece: bytes) -> None:
    """Matches of the one pattern cover each character once at most, in order."""
    from fxtrio.serve.request.requests import _ESCAPE

    text = piece.decode("latin-1") * 1000
    ends = [match.span() for match in _ESCAPE.finditer(text)]
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
    assert all(end - begin in (2, 4) for begin, end in ends)
