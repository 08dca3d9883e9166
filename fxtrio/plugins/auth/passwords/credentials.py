"""Whether what somebody sends may be an address and a password, by the settings. Pure."""

from __future__ import annotations

import re
import unicodedata

from fxtrio.plugins.auth.passwords.passwords import normalize_password, password_problem
from fxtrio.plugins.auth.settings import AuthSettings

LONGEST = 254
"""Characters of an address (RFC 5321, 4.5.3.1.3, without the angle brackets)."""

_LOCAL = r"[^@\s\x00-\x1f\x7f<>()\[\]\\,;:\"]{1,64}"

_LABEL = r"[^@\s\x00-\x1f\x7f.]+"

_SHAPE = re.compile(rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})+")


def readable_password(password: object, *, longest: int) -> str | None:
    """Return a password as it is hashed; None when nobody can have it.

    ``longest`` counts characters.
    """
    if not isinstance(password, str) or not 0 < len(password) <= longest:
        return None
    return normalize_password(password)


def credential_problems(
    settings: AuthSettings, address: str | None, password: object
) -> dict[str, list[str]]:
    """Return the errors of a new password, and of an address that is None, by field."""
    fields: dict[str, list[str]] = {}
    if address is None:
        fields["email"] = ["This is not an email address."]
    problem = "Choose a password."
    if isinstance(password, str) and password:
        problem = password_problem(
            password,
            shortest=settings.password_min_length,
            longest=settings.password_max_length,
            email=address or "",
        )
    if problem:
        fields["password"] = [problem]
    return fields


def canonical_email(text: object) -> str | None:
    """Return an address normalized for storage and lookup: NFKC, lower case, trimmed.

    None if ``text`` is not shaped like an address. Only a mail can verify that the address
    exists.
    """
    if not isinstance(text, str) or len(text) > 2 * LONGEST:
        return None
    email = unicodedata.normalize("NFKC", text.strip()).lower()
    try:
        email.encode()
    except UnicodeEncodeError:  # a lone surrogate, from JSON
        return None
    return email if len(email) <= LONGEST and _SHAPE.fullmatch(email) else None
