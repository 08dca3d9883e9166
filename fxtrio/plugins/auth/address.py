"""Email addresses as names of accounts: one form for each. Pure."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 254
"""Characters of an address (RFC 5321, 4.5.3.1.3, without the angle brackets)."""

_LOCAL = r"[^@\s\x00-\x1f\x7f<>()\[\]\\,;:\"]{1,64}"
_LABEL = r"[^@\s\x00-\x1f\x7f.]+"
_SHAPE = re.compile(rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})+")


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
