"""The `Cookie` header: text in, values out, in one look at each character."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ESCAPE = re.compile(r"\\(?:([0-3][0-7][0-7])|(.))", re.DOTALL)


def parse_cookies(headers: Iterable[str]) -> dict[str, str]:
    """Return the cookies of `Cookie` headers; of equal names the last.

    As Starlette has it, with quoted values as `http.cookies` writes them, whose own
    parser is quadratic before CPython 3.13.6: 30 kB of backslashes take it 1.6 s.
    """
    cookies: dict[str, str] = {}
    for header in headers:
        for chunk in header.split(";"):
            name, separator, value = chunk.partition("=")
            if not separator:
                name, value = "", chunk
            name, value = name.strip(), value.strip()
            if name or value:
                cookies[name] = _unquoted(value)
    return cookies


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != '"' or value[-1] != '"':
        return value
    return _ESCAPE.sub(_character, value[1:-1]) if "\\" in value else value[1:-1]


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code else str(escape[2])
