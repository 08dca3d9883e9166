"""Patterns that would cost too much if they were tried everywhere, and where they are tried.

Each is judged as it is used, so that only the way of trying is taken on trust.
"""

from __future__ import annotations

from .patterns import Mode

CALLERS: dict[tuple[Mode, str], tuple[str, ...]] = {
    ("lines", "tried where a line of the file begins"): (
        "compile/split/type_aliases.py:_CONTINUED",
        "compile/split/language_detection.py:_DECORATED_UI_CLASS",
        "compile/split/language_detection.py:_PYTHON",
        "compile/split/language_detection.py:_PYTHON_BLOCK",
        "compile/split/language_detection.py:_PYTHON_VALUE",
        "compile/split/language_detection.py:_UI_START",
    ),
    ("tokens", "goes on behind each match, and ends where there is none"): (
        "compile/split/jsx_elements.py:_TAG",
        "compile/split/python_statements.py:_SKIPPED",
        "accept.py:_PARAMETER",
        "tools/types/ui/source/jsx_positions.py:_ATTRIBUTE",
    ),
    ("match", "a string, template or comment without an end is tried once"): (
        "compile/split/format_strings.py:_STRING",
        "compile/split/scanner.py:_CODE",
        "compile/split/python_statements.py:_PART",
    ),
    ("match", "a slash without a partner is not asked again on its line"): (
        "compile/split/scanner.py:_REGEX",
    ),
    ("match", "tried behind the name of each alias, which is not the next one's"): (
        "compile/split/newer_syntax.py:_VALUE",
    ),
    ("match", "tried where the name of a tag ends; without a match the search is over"): (
        "export/html.py:_REST",
        "markdown/page_content.py:_REST",
    ),
    ("match", "tried behind an escaped character, and stops at the next one of its kind"): (
        "markdown/escapes.py:_ENTITY",
        "markdown/escapes.py:_LINK",
        "markdown/escapes.py:_TAG",
    ),
    ("match", "tried at the default export and at five places within it"): (
        "tools/types/ui/source/default_export.py:_ARROW",
        "tools/types/ui/source/default_export.py:_BARE_ARROW",
        "tools/types/ui/source/default_export.py:_FUNCTION",
        "tools/types/ui/source/default_export.py:_WRAPPED",
    ),
    ("match", "tried where TypeScript complains of a name, which begins there"): (
        "tools/types/report/javascript_leniency.py:_ASSIGNED",
        "tools/types/report/javascript_leniency.py:_ATTRIBUTE",
        "tools/types/report/remedies.py:_VALUE_START",
    ),
    ("match", "tried once for each line of the output of a checker, or for the name of a type"): (
        "tools/types/report/python_checkers.py:_MYPY",
        "tools/types/report/python_checkers.py:_PYREFLY",
        "tools/types/report/python_checkers.py:_PYRIGHT",
        "tools/types/report/diagnostic_messages.py:_OWNERS:7",
    ),
    (
        "match",
        "tried at the elements of code that has been read: their types end before the next",
    ): ("tools/types/ui/source/jsx_positions.py:_NAME",),
}
