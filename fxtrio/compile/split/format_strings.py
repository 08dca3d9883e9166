"""Formatted strings (``f"…"``, ``t"…"``) by their text: where they end, and whether they are new.

They are read as Python 3.12 and later do (PEP 701), whichever Python runs. Pure; called by
`python_statements` and `newer_syntax`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PREFIXES = frozenset({"f", "t", "fr", "rf", "tr", "rt"})
_DEEPEST = 3  # strings within strings; keeps the time linear where none of them ends
_TEXT = re.compile(r"[^{}\\\n\"']++")
_NAMED = re.compile(r"\\N\{[^{}\n\"']*+\}")
_SPECIFIER = re.compile(r"[^{}\n\"']++")
STRING = (
    r"\"{3}[^\"\\]*+(?>(?:(?:\\[\s\S]|\"(?!\"\"))[^\"\\]*+)*)\"{3}"
    r"|'{3}[^'\\]*+(?>(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*)'{3}"
    r"|\"(?!\"\")[^\"\\\n]*+(?:\\[\s\S][^\"\\\n]*+)*+\""
    r"|'(?!'')[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'"
)
"""A text of Python that ends, with its quotes: a pattern, in verbose ones as well."""

_STRING = re.compile(STRING)
_CODE = re.compile(
    r"""
    (?P<plain>[^\n"'#()\[\]{}\\:]++)
  | (?P<newline>\n(?!(?:async[ \t]++)?(?:def|function)[ \t]|(?:class|import|export|const)[ \t]|@\w))
  | (?P<comment>\#[^\n]*+)
  | (?P<open>[(\[{])
  | (?P<close>[)\]}])
  | (?P<colon>:)
  | (?P<escape>\\)
  | (?P<quote>["'])
    """,
    re.VERBOSE,
)


class FormattedString(NamedTuple):
    """A formatted string, or a part of one."""

    end: int
    """Offset behind it."""

    newer: bool
    """Whether the code in its braces needs Python 3.12."""


def prefix_of(text: str, quote: int) -> str:
    """Return the prefix, in lower case, of the formatted string whose quote is at ``quote``.

    It is "" when there is another string.
    """
    start = quote
    while start > 0 and quote - start < 3 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = text[start:quote].lower()
    return word if word in _PREFIXES else ""


def read_formatted(text: str, offset: int, depth: int = 0) -> FormattedString | None:
    """Read the formatted string whose first quote is at ``offset``; None when it has no end."""
    raw = "r" in prefix_of(text, offset)
    quote = text[offset] * (3 if text.startswith(text[offset] * 3, offset) else 1)
    offset += len(quote)
    newer = False
    while not text.startswith(quote, offset):
        if found := _TEXT.match(text, offset):
            offset = found.end()
        elif text.startswith("\\", offset):
            named = None if raw else _NAMED.match(text, offset)
            offset = named.end() if named else offset + (1 if text[offset + 1 :][:1] in "{}" else 2)
        elif text.startswith(("{{", "}}"), offset):
            offset += 2
        elif text.startswith("{", offset):
            field = _read_field(text, offset + 1, quote, depth)
            if field is None:
                return None
            offset, newer = field.end, newer or field.newer
        elif offset >= len(text) or (text[offset] == "\n" and len(quote) == 1):
            return None
        else:
            offset += 1
    return FormattedString(offset + len(quote), newer)


def _read_field(text: str, offset: int, quote: str, depth: int) -> FormattedString | None:
    """Read what stands in braces, from ``offset`` to behind the closing one."""
    newer = False
    level = 0
    while (found := _CODE.match(text, offset)) is not None:
        kind, start, offset = found.lastgroup, found.start(), found.end()
        if kind == "open":
            level += 1
        elif kind == "close" and level:
            level -= 1
        elif kind == "close":
            return FormattedString(offset, newer) if found.group() == "}" else None
        elif kind == "colon" and not level:
            rest = _read_specifier(text, offset, quote, depth)
            return None if rest is None else FormattedString(rest.end, newer or rest.newer)
        elif kind == "quote":
            end = _end_of_string(text, start, depth)
            if end is None:
                return None
            newer = newer or quote in text[start:end] or "\\" in text[start:end]
            offset = end
        else:
            newer = newer or kind in ("comment", "escape") or (kind == "newline" and quote in "\"'")
    return None


def _read_specifier(text: str, offset: int, quote: str, depth: int) -> FormattedString | None:
    """Read the format behind a colon, and the closing brace."""
    newer = False
    while not text.startswith(quote, offset):
        if found := _SPECIFIER.match(text, offset):
            offset = found.end()
        elif text.startswith("}", offset):
            return FormattedString(offset + 1, newer)
        elif text.startswith("{", offset):
            field = _read_field(text, offset + 1, quote, depth)
            if field is None:
                return None
            offset, newer = field.end, newer or field.newer
        elif offset >= len(text) or (text[offset] == "\n" and len(quote) == 1):
            return None
        else:
            offset += 1
    return None


def _end_of_string(text: str, offset: int, depth: int) -> int | None:
    if prefix_of(text, offset):
        inner = read_formatted(text, offset, depth + 1) if depth < _DEEPEST else None
        return None if inner is None else inner.end
    found = _STRING.match(text, offset)
    return None if found is None else found.end()
