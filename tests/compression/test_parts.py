"""What `Accept-Encoding` says, and the codings by themselves."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.compression import codings
from fxtrio.compression.accept_encoding import Coding, read_accepted
from fxtrio.compression.codings import available, encode_whole, open_encoder, smallest_first
from fxtrio.compression.eligibility import is_text, visitor_of
from fxtrio.compression.gzip_splice import StoredBody, deflate_pieces
from fxtrio.serve.request.client_protocol import PAYLOAD_LINES
from tests.compression.decode import decoded

OFFERED: tuple[Coding, ...] = ("zstd", "br", "gzip")


@pytest.mark.parametrize(
    ("header", "best"),
    [
        (b"gzip, deflate, br, zstd", "zstd"),
        (b"gzip, deflate, br", "br"),
        (b"gzip", "gzip"),
        (b"x-gzip", "gzip"),
        (b"GZIP ; Q=0.5 , BR;q=0.8", "br"),
        (b"br;q=0.8, gzip", "gzip"),
        (b"*", "zstd"),
        (b"*;q=0.5, zstd;q=0", "br"),
        (b"*;q=0, gzip", "gzip"),
        (b"identity;q=0", None),
        (b"identity;q=0, *", "zstd"),
        (b"identity, gzip;q=0.5", None),
        (b"identity;q=0.5, gzip", "gzip"),
        (b"gzip;q=0", None),
        (b"gzip;q=much", None),
        (b"gzip;q=1.5", None),
        (b"deflate", None),
        (b"", None),
        (b",;,", None),
    ],
)
def test_the_coding_is_the_one_that_is_wanted_most(header: bytes, best: str | None) -> None:
    assert read_accepted(header).best(OFFERED) == best


@pytest.mark.parametrize(
    ("header", "rejected"),
    [
        (b"gzip", False),
        (b"*;q=0", True),
        (b"*;q=0, identity", False),
        (b"identity;q=0, gzip", True),
        (b"identity;q=0.0", True),
        (b"*", False),
    ],
)
def test_a_client_that_rejects_identity_says_so(header: bytes, rejected: bool) -> None:
    assert read_accepted(header).rejects_identity is rejected


@given(st.binary(max_size=400))
def test_no_header_is_too_odd(header: bytes) -> None:
    accepted = read_accepted(header)
    assert accepted.best(OFFERED) in (None, *OFFERED)
    assert all(0 <= weight <= 1 for weight in accepted.weights.values())


def test_nothing_is_offered_by_who_has_nothing() -> None:
    assert read_accepted(b"gzip").best(()) is None


@given(st.sampled_from(OFFERED), st.lists(st.binary(max_size=300), max_size=6), st.booleans())
def test_a_body_in_parts_is_the_same_for_a_client(
    coding: Coding, parts: list[bytes], flush: bool
) -> None:
    encoder = open_encoder(coding)
    encoded = b"".join(encoder.feed(part, flush=flush) for part in parts) + encoder.end()
    assert decoded(coding, encoded) == b"".join(parts)


@given(st.sampled_from(OFFERED), st.binary(max_size=2000), st.booleans())
def test_a_whole_body_is_the_same_for_a_client(coding: Coding, body: bytes, best: bool) -> None:
    assert decoded(coding, encode_whole(coding, body, best=best)) == body


@given(
    st.lists(st.binary(max_size=300), min_size=1, max_size=6),
    st.binary(max_size=64),
    st.binary(max_size=12),
)
def test_a_body_of_cached_parts_is_one_gzip_member(
    pieces: list[bytes], between: bytes, tail: bytes
) -> None:
    body = between.join(pieces) + tail
    encoded = StoredBody(body, deflate_pieces(pieces), between, tail).gzip()
    member = zlib.decompressobj(wbits=31)
    assert member.decompress(encoded) == body
    assert member.eof and not member.unused_data


def test_an_installation_without_the_packages_has_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codings, "_brotli", lambda: None)
    monkeypatch.setattr(codings, "_zstd", lambda: None)
    available.cache_clear()
    smallest_first.cache_clear()
    try:
        assert available() == smallest_first() == ("gzip",)
    finally:
        available.cache_clear()
        smallest_first.cache_clear()


def test_text_is_distinguished_from_compressed_formats() -> None:
    text = [b"text/html; charset=utf-8", b"Application/JSON", b"image/svg+xml", b"font/ttf"]
    text.append(PAYLOAD_LINES)
    other = [b"image/png", b"font/woff2", b"application/zip", b"video/mp4", b""]
    assert [is_text(media) for media in (*text, *other)] == [True] * 5 + [False] * 5


def test_a_visitor_is_known_by_what_only_they_have() -> None:
    common = frozenset({b"fx-csrf"})

    def known(request: list[tuple[bytes, bytes]], *cookies: bytes) -> bool:
        return visitor_of(request, cookies, common=common).known

    assert not known([(b"accept", b"*/*")])
    assert not known([(b"cookie", b"fx-csrf=1.2")], b"fx-csrf=3.4; Path=/")
    assert known([(b"cookie", b"fx-csrf=1.2; session=3")])
    assert known([(b"cookie", b"a=1"), (b"cookie", b"fx-csrf=2")])
    assert known([(b"authorization", b"Basic Zm8=")])
    assert known([], b"session=3; HttpOnly")
    assert visitor_of([(b"cookie", b"fx-csrf=1.2")], (), common=common).tokens == (b"1.2",)
