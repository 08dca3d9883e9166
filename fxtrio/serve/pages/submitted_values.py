"""What a form that failed was filled with, as its page may repeat it: no passwords.

The server learns which fields are passwords from the page itself: it is rendered, and if
one of its ``<input type="password">`` has been sent, rendered again without that value.
Neither the HTML nor the page state has it then.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

# React writes attributes in double quotes, and no "<", ">" or quote within them.
_INPUT = re.compile(rb"<input\b[^<>]*+>")
_ATTRIBUTE = re.compile(rb' (type|name)="([^"]*)"')


def password_fields(rendered: bytes) -> frozenset[str]:
    """Return the names of the password fields in a page's HTML, as React writes it."""
    fields = (dict(_ATTRIBUTE.findall(found)) for found in _INPUT.findall(rendered))
    return frozenset(
        html.unescape(field[b"name"].decode())
        for field in fields
        if field.get(b"type", b"").lower() == b"password" and b"name" in field
    )


def without(action_data: Mapping[str, Any], names: frozenset[str]) -> Mapping[str, Any] | None:
    """Return a form's outcome without the values of ``names``; None when it has none of them."""
    values: Mapping[str, Any] = action_data["values"]
    if names.isdisjoint(values):
        return None
    safe_values = {name: value for name, value in values.items() if name not in names}
    return {**action_data, "values": safe_values}
