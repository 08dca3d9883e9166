"""Parses the text of a migration: its head, and its statements. Plain functions."""

from __future__ import annotations

import re

import attrs

_TOKEN = re.compile(
    r"""
    --[^\n]*+ | /\*.*?(?:\*/|\Z)                             # comments
    | '(?:[^']|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z)        # text and names
    | (?<![\w$])\$((?:[^\W\d]\w*+)?+)\$.*?(?:\$\1\$|\Z)    # the body of a PostgreSQL function
    | ; | [^;'"$/-]++ | .
    """,
    re.DOTALL | re.VERBOSE,
)
_COMMENT = re.compile(r"--[^\n]*+|(?P<endless>/\*(?!.*?\*/).*+)|/\*.*?\*/", re.DOTALL)
_CONTROL = re.compile(
    r"(begin|commit|rollback(?!\s+(?:transaction\s+|work\s+)?to\b)|abort|start\s+transaction)\b",
    re.IGNORECASE,
)
_END = re.compile(r"end(\s+(work|transaction))?", re.IGNORECASE)
_BODIES = re.compile(r"\btrigger\b|\bbegin\s+atomic\b", re.IGNORECASE)
"""Constructs whose END does not end a transaction."""

_NO_TRANSACTION = re.compile(r"--\s*transaction:\s*none\s*", re.IGNORECASE)
_INCOMPATIBLE = re.compile(r"--\s*incompatible\b[\s:]*(.*)", re.IGNORECASE)


@attrs.frozen
class Head:
    """The comments at the start of a migration, parsed."""

    transactional: bool = True
    """False after ``-- transaction: none``."""

    incompatible: str | None = None
    """The text after ``-- incompatible``; None without that line."""


def head_of(text: str) -> Head:
    """Parse the comments at the start."""
    transactional, incompatible = True, None
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith("--"):
            break
        if _NO_TRANSACTION.fullmatch(line):
            transactional = False
        elif (found := _INCOMPATIBLE.fullmatch(line)) is not None:
            incompatible = found[1]
    return Head(transactional, incompatible)


def statements_of(text: str) -> list[str]:
    """Return the statements of a script for PostgreSQL, without those that are empty."""
    found, begun = [], ""
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            found.append(begun)
            begun = ""
        else:
            begun += token[0]
    return [one.strip() for one in (*found, begun) if _bare(one)]


def transaction_control(text: str) -> str | None:
    """Return the first word of a statement that begins or ends a transaction; None without one."""
    for statement in statements_of(text):
        bare = _bare(statement)
        found = _CONTROL.match(bare)
        if found is not None:
            return found[1].lower()
        if _END.fullmatch(bare) and not _BODIES.search(text):
            return "end"
    return None


def _bare(statement: str) -> str:
    return _COMMENT.sub(r"\g<endless>", statement).strip()
