"""The work for what a client sends grows with its size, and not with the square of it.

Work is what Python is asked to do, in calls and lines, so no clock is involved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import UploadFile

from fxtrio.errors import ActionError
from fxtrio.markdown.accept import prefers_markdown
from fxtrio.origin import read_origin
from fxtrio.serve.request.cookies import parse_cookies
from fxtrio.serve.request.csrf import read_cookie
from fxtrio.serve.request.foreign import require_plain
from fxtrio.serve.request.forms import MULTIPART, URLENCODED, form_values, options_of, parse_form
from fxtrio.serve.request.json_body import parse_json

SIZE = 2_000
TIMES = 8
"""How much larger the large input is. Linear work grows 8 times, quadratic 64 times."""

GROWTH = 2 * TIMES
FIXED = 2_000
"""Work that does not depend on the size: caches that fill, modules that load."""

BOUNDARY = f"{MULTIPART}; boundary=b"
HEAD = b'--b\r\nContent-Disposition: form-data; name="a"'


def form(body: bytes) -> object:
    """Parse a multipart form as it comes from the disk."""
    chunks = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    found = parse_form(chunks, BOUNDARY)
    for value in found.values():
        if isinstance(value, UploadFile):
            value.file.close()
    return form_values(found)


PARSERS: dict[str, Callable[[bytes], object]] = {
    "JSON": parse_json,
    "urlencoded": lambda body: form_values(parse_form([body], URLENCODED)),
    "multipart": form,
    "multipart, in a field": lambda body: form(HEAD + b"\r\n\r\n" + body + b"\r\n--b--"),
    "multipart, in a file": lambda body: form(
        HEAD + b'; filename="f"\r\n\r\n' + body + b"\r\n--b--"
    ),
    "multipart, in a header": lambda body: form(HEAD + b"; " + body + b"\r\n\r\n\r\n--b--"),
    "content type": lambda body: options_of("multipart/form-data; " + body.decode("latin-1")),
    "cookies": lambda body: parse_cookies([body.decode("latin-1")]),
    "a quoted cookie": lambda body: parse_cookies(['a="' + body.decode("latin-1") + '"']),
    "the token cookie": lambda body: read_cookie(body, "fx-csrf"),
    "foreign": lambda body: require_plain([(b"cookie", body), (b"content-type", body)]),
    "origin": lambda body: read_origin("http://" + body.decode("latin-1")),
    "accept": lambda body: prefers_markdown("text/markdown" + body.decode("latin-1")),
}
PIECES = [
    b"a", b"%", b"%zz", b"%41", b"&", b"=", b"+", b";", b"; ", b",", b'"', b'\\"', b"\\", b"\\054",
    b"\r\n", b"\r", b"\n", b"--b", b"\r\n--b", b"\r\n--", b"-", b" ", b"[", b"{", b"[],", b'"a",',
    b'{"a":', b"1", b"\\u00e4", b"\xff", b"\xc3\xa4", b"filename=", b'name="', b"text/*;q=0,",
    b"@", b":",
]  # fmt: skip


def work(parse: Callable[[bytes], object], body: bytes) -> int:
    """Return how many calls and lines of Python, and calls of C, it takes to parse ``body``."""
    steps = 0

    def count(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal steps
        steps += 1
        return count

    before, traced = sys.getprofile(), sys.gettrace()
    sys.setprofile(count)
    sys.settrace(count)
    try:
        with suppress(ActionError):
            parse(body)
    finally:
        sys.settrace(traced)
        sys.setprofile(before)
    return steps


@pytest.mark.parametrize("name", PARSERS)
@given(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3))
@settings(max_examples=25)
def test_hostile_input_is_parsed_in_linear_work(name: str, pieces: list[bytes]) -> None:
    piece = b"".join(pieces)
    parse = PARSERS[name]
    small = work(parse, piece * (SIZE // len(piece)))
    large = work(parse, piece * (TIMES * SIZE // len(piece)))
    assert large <= GROWTH * small + FIXED


def test_quadratic_work_would_be_noticed() -> None:
    def quadratic(body: bytes) -> None:
        for _ in body:
            for _ in body[::10]:
                pass

    def once(body: bytes) -> None:
        for _ in body:
            pass

    assert work(quadratic, b"x" * TIMES * 100) > GROWTH * work(quadratic, b"x" * 100) + FIXED
    assert work(once, b"x" * TIMES * 100) <= GROWTH * work(once, b"x" * 100) + FIXED


@pytest.mark.parametrize("piece", PIECES)
def test_no_regular_expression_of_cookies_looks_at_a_character_again(piece: bytes) -> None:
    """Matches of the one pattern cover each character once at most, in order."""
    from fxtrio.serve.request.cookies import _ESCAPE

    text = piece.decode("latin-1") * 1000
    ends = [match.span() for match in _ESCAPE.finditer(text)]
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
    assert all(end - begin in (2, 4) for begin, end in ends)
