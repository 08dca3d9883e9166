"""Patterns that would cost too much if they were tried everywhere, and where they are tried.

Each is judged as it is used, so that only the way of trying is taken on trust.
"""

from __future__ import annotations

from .patterns import Mode

CALLERS: dict[tuple[Mode, str], tuple[str, ...]] = {
    ("lines", "tried where a line of the file begins"): (
        "compile/aliases.py:_CONTINUED",
        "compile/signs.py:_DECORATED_UI_CLASS",
        "compile/signs.py:_PYTHON",
        "compile/signs.py:_PYTHON_BLOCK",
        "compile/signs.py:_PYTHON_VALUE",
        "compile/signs.py:_UI_START",
    ),
    ("tokens", "goes on behind each match, and ends where there is none"): (
        "compile/jsx.py:_TAG",
        "compile/statements.py:_SKIPPED",
        "markdown/accept.py:_PARAMETER",
        "types/ui_places.py:_ATTRIBUTE",
    ),
    ("match", "a string, template or comment without an end is tried once"): (
        "compile/formatted.py:_STRING",
        "compile/scanner.py:_CODE",
        "compile/statements.py:_PART",
    ),
    ("match", "a slash without a partner is not asked again on its line"): (
        "compile/scanner.py:_REGEX",
    ),
    ("match", "tried behind the name of each alias, which is not the next one's"): (
        "compile/newer.py:_VALUE",
    ),
    ("match", "tried where the name of a tag ends; without a match the search is over"): (
        "markdown/convert.py:_REST",
    ),
    ("match", "tried behind an escaped character, and stops at the next one of its kind"): (
        "markdown/escapes.py:_ENTITY",
        "markdown/escapes.py:_LINK",
        "markdown/escapes.py:_TAG",
    ),
    ("match", "tried at the default export and at five places within it"): (
        "types/default_export.py:_ARROW",
        "types/default_export.py:_BARE_ARROW",
        "types/default_export.py:_FUNCTION",
        "types/default_export.py:_WRAPPED",
    ),
    ("match", "tried where TypeScript complains of a name, which begins there"): (
        "types/loose_rules.py:_ASSIGNED",
        "types/loose_rules.py:_ATTRIBUTE",
        "types/remedies.py:_GIVEN",
    ),
    ("match", "tried once for each line of the output of a checker, or for the name of a type"): (
        "types/python_halves.py:_MYPY",
        "types/python_halves.py:_PYREFLY",
        "types/python_halves.py:_PYRIGHT",
        "types/told.py:_OWNERS:7",
    ),
    (
        "match",
        "tried at the elements of code that has been read: their types end before the next",
    ): ("types/ui_places.py:_NAME",),
}
