"""Tokens, signatures and cookies."""

from __future__ import annotations

import base64
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.plugins.auth.sessions.tokens import (
    CookieRules,
    CookieSigner,
    CookieValue,
    binding_of,
    key_of,
    new_token,
)

OLD, NEW = b"the old secret key", b"the new secret key"
RULES = CookieRules("sid", always_secure=False)


def test_a_token_is_256_random_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    plain = secrets.token_urlsafe

    def counting(size: int) -> str:
        sizes.append(size)
        return plain(size)

    monkeypatch.setattr(secrets, "token_urlsafe", counting)
    tokens = {new_token() for _ in range(100)}
    assert sizes == [32] * 100
    assert len(tokens) == 100
    assert all(len(base64.urlsafe_b64decode(token + "=")) == 32 for token in tokens)


def test_a_token_means_nothing_but_itself() -> None:
    token = new_token()
    assert len({token, key_of(token).hex(), binding_of(token)}) == 3
    assert key_of(token) == key_of(token)
    assert binding_of(token) != binding_of(new_token())


def test_the_first_key_signs_and_every_key_verifies() -> None:
    token = new_token()
    signed_before = CookieSigner((OLD,)).sign(token)
    both = CookieSigner((NEW, OLD))
    assert both.read(signed_before) == CookieValue(token, current=False)
    assert both.read(both.sign(token)) == CookieValue(token, current=True)
    assert CookieSigner((NEW,)).read(both.sign(token)) == CookieValue(token, current=True)
    assert CookieSigner((NEW,)).read(signed_before) is None


def test_without_keys_nothing_verifies() -> None:
    assert CookieSigner(()).read(CookieSigner((OLD,)).sign(new_token())) is None


@given(st.text(max_size=100) | st.text(st.sampled_from("aB0._-é"), min_size=85, max_size=89))
def test_invented_values_are_rejected(value: str) -> None:
    assert CookieSigner((OLD,)).read(value) is None


@given(st.integers(0, 86), st.characters(codec="ascii"))
def test_one_changed_character_breaks_the_signature(place: int, char: str) -> None:
    value = CookieSigner((OLD,)).sign("A" * 43)
    changed = value[:place] + char + value[place + 1 :]
    assert (CookieSigner((OLD,)).read(changed) is None) is (changed != value)


def test_secrets_do_not_show_in_a_repr() -> None:
    signer = CookieSigner((OLD,))
    value = signer.read(signer.sign("A" * 43))
    assert "AAAA" not in repr(value)
    assert "secret" not in repr(signer)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (b"sid=a", "a"),
        (b"x=1; sid=a; y=2", "a"),
        (b"x=1;sid=a", "a"),
        (b'sid="a"', "a"),
        (b"asid=b; sid=a", "a"),
        (b"sid=a; sid=b", "a"),
        (b"sid=", ""),
        (b"sid", None),
        (b"__Host-sid=a", None),
        (b"x=sid", None),
        (b"", None),
        (b"\xff\xfe; =;;", None),
    ],
)
def test_cookies_are_read_by_their_exact_name(header: bytes, value: str | None) -> None:
    assert RULES.read([(b"host", b"x"), (b"cookie", header)], "http") == value


def test_a_cookie_may_come_in_a_header_of_its_own() -> None:
    headers = [(b"cookie", b"x=1"), (b"cookie", b"__Host-sid=a")]
    assert RULES.read(headers, "https") == "a"
    assert RULES.read(headers, "wss") == "a"
    assert RULES.read(headers, "ws") is None
