"""Email addresses as names of accounts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.plugins.auth.passwords.credentials import canonical_email


@pytest.mark.parametrize(
    ("text", "email"),
    [
        ("ada@example.org", "ada@example.org"),
        ("  Ada.L+x@Mail.Example.ORG\n", "ada.l+x@mail.example.org"),
        ("\uff41da@example.org", "ada@example.org"),  # a full-width a
        ("jörg@exämple.de", "jörg@exämple.de"),
    ],
)
def test_an_address_has_one_form(text: str, email: str) -> None:
    assert canonical_email(text) == email


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "ada",
        "ada@example",
        "@example.org",
        "ada@",
        "a da@example.org",
        "ada@exa mple.org",
        "ada@@example.org",
        "ada@.org",
        "ada@example..org",
        "ada@example.org\nbcc: x@y.z",
        "ada\0@example.org",
        "Ada <ada@example.org>",
        f"{'x' * 65}@example.org",
        f"ada@{'x' * 250}.org",
        "\ud800@example.org",
    ],
)
def test_other_things_are_no_address(text: object) -> None:
    assert canonical_email(text) is None


@given(st.text(max_size=20), st.text(max_size=20))
def test_the_form_of_a_form_is_itself(local: str, domain: str) -> None:
    email = canonical_email(f"{local}@{domain}.org")
    if email is not None:
        assert canonical_email(email) == email
