"""By which signs a line at statement level shows its language. Called by `halves`.

Each pattern holds only what the other language cannot start a statement with.
"""

from __future__ import annotations

import ast
import re
from enum import Enum

from fxtrio.compile.check.declarations import RESERVED
from fxtrio.compile.split.brackets import PYTHON_IN_CODE
from fxtrio.compile.split.python_statements import logical_line, skip_blank

# What both languages could start with is in none of the patterns: ``type A =`` is an alias in both
# (`type_aliases`), and ``import a`` may continue with ``from`` on the next line of UI code.
_PYTHON = re.compile(
    rf"""
    {PYTHON_IN_CODE.pattern}
  | (?:async[ \t]++)?def[ \t]++\w
  | async[ \t]++(?:with|for)[ \t]++[\w(]
  | class[ \t]++\w++[ \t]*+[:(\[]
  | type[ \t]++\w++[ \t]*+\[
  | from[ \t]*+\.++[ \t]*+(?:import\b|[\w.]++[ \t]++import\b)
  | from[ \t]++[\w.]++[ \t]++import\b
  | import[ \t]++\w++[ \t]*+(?:\.|,[ \t]*+\w|as\b)
  | import[ \t]++\w++[ \t]*+(?:[#;\n]|\Z)(?!\s*from\s*["'])
  | (?:{"|".join(sorted(RESERVED))})[ \t]*+(?::[^=\n]*+)?=(?![=>])
  | (?:raise|assert|del|global|nonlocal)[ \t]++[A-Za-z_]
  | [rRbBuUfFtT]{{0,2}}(?:\"{{3}}|'{{3}})
    """,
    re.VERBOSE,
)
_PYTHON_BLOCK = re.compile(
    r"(?:(?:if|while|for|with|match)\b[^\n{`]*[\w)\]\"' \t]|try[ \t]*+):"
    r"(?:[ \t]*+#[ \t][^\n]*+|[ \t]*+)(?:\n|\Z)"
)
_JS_COMMENT = re.compile(r"//|/\*")
_PYTHON_VALUE = re.compile(
    r"(?:[A-Z][A-Z0-9_]*+|__\w+?__)[ \t]*+(?::[^=\n]*+)?=(?![=>])|\w++[ \t]*+:[^=:\n]++=(?![=>])"
)

_UI = r"""
    //|/\*|`|;|!|\{|<[\w>/!]
  | export[ \t]+(?:default|const|let|var|function|async|class|abstract|enum|interface|type|declare
                |namespace|import)\b
  | export[ \t]*+[{*]
  | import\s*+(?:[{*"'(]|type\s++[\w{*]|[\w$]++\s*+,\s*+[{*]|[\w$]++\s++from\s*+["'])
  | (?:const|let|var)[ \t]++[\w$\[{]
  | (?:async[ \t]++)?function(?:[ \t]*+\*|[ \t]++[\w$])
  | (?:abstract[ \t]++)?class[ \t]++[\w$]++\s*+(?:\{|<|extends\b|implements\b|//|/\*)
  | (?:interface|enum|namespace)[ \t]++[\w$]++\s*+[{<]
  | interface[ \t]++[\w$]++\s++extends\b
  | (?:declare|new|throw|typeof|void|delete)[ \t]++[\w$"']
  | type[ \t]++[\w$]++[ \t]*+<
  | (?:try|do)\s*+\{
  | (?:if|for|while|switch|with)[ \t]*+\([^\n]*\)[ \t]*+(?:\{|\n\s*+\{)
  | for[ \t]*+\([ \t]*+(?:const|let|var)\b
  | ["']use[ ](?:client|server|strict|cache|memo|no[ ]memo|asm)["'][ \t]*+;?[ \t]*+
    (?://[^\n]*+)?(?:\n|\Z)
    """
_UI_START = re.compile(_UI, re.VERBOSE)
_UI_LINE = re.compile(rf"(?m)^[ \t]*+(?:{_UI})", re.VERBOSE)
# What Python has nowhere outside of strings and comments.
_UI_TOKEN = re.compile(
    r"(?m)=>|===|!==|&&|\|\||[?`$]|!(?!=)|\)[ \t]*+\{[ \t]*+$|(?:\+\+|--)[ \t]*+;?[ \t]*+$"
)
_PYTHON_STRING = re.compile(
    r"(?P<endless>\"{3}(?![\s\S]*?\"{3})[\s\S]*+|'{3}(?![\s\S]*?'{3})[\s\S]*+"
    r"|\"(?!\"\")(?:[^\"\\\n]|\\.)*+(?!\")|'(?!'')(?:[^'\\\n]|\\.)*+(?!'))"
    r"|\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}"
    r"|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|#[^\n]*+"
)
_REST_OF_LINE = re.compile(
    r"(?P<rest>\\.|\"(?:[^\"\\\n]|\\.)*+(?!\")|'(?:[^'\\\n]|\\.)*+(?!'))"
    r"|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|#[^\n]*+"
)
"""What stands behind a quote that nothing ends: other strings, and comments."""

_UI_THOUGH_IT_STARTS_LIKE_PYTHON = re.compile(
    r"(?:if|for|while|switch|with)[ \t]*+\([^\n]*\)[ \t]*+[^\s:]"
)
_UI_CLASS = re.compile(r"(?:export|default|abstract|declare|class)\b")
_DECORATED_UI_CLASS = re.compile(
    r"@[\w$.]+(?:\([^\n]*\))?[ \t]+(?:export|default|abstract|declare|class)\b"
)
_INDENTATION = re.compile(r"[ \t]++")
_FIRST_NAME = re.compile(r"[A-Za-z_$][\w$]*")

BROWSER_NAMES = frozenset(
    {"console", "customElements", "debugger", "document", "globalThis", "localStorage"}
    | {"navigator", "performance", "process", "sessionStorage", "window"}
)
"""Names that JavaScript has everywhere and Python nowhere."""


class Sign(Enum):
    """What the start of a line at the statement level of UI code says."""

    PYTHON = "Python, whether it parses or not"
    PERHAPS = "Python if it parses and holds a literal"
    UI = "no Python"


def python_sign(text: str, offset: int, *, within_expression: bool) -> Sign:
    """Say what the line at ``offset``, indentation left out, looks like."""
    if text.startswith("@", offset):
        return Sign.PYTHON if decorated_class(text, offset) is None else Sign.UI
    if _PYTHON.match(text, offset):
        return Sign.PYTHON
    if within_expression:
        return Sign.UI
    if (block := _PYTHON_BLOCK.match(text, offset)) and not _JS_COMMENT.search(block.group()):
        return Sign.PYTHON
    return Sign.PERHAPS if _PYTHON_VALUE.match(text, offset) else Sign.UI


def starts_ui(text: str, offset: int) -> bool:
    """Whether the line at ``offset``, indentation left out, can only be UI code."""
    if text.startswith("@", offset):
        return decorated_class(text, offset) is not None
    return _UI_START.match(text, offset) is not None


def next_ui_line(text: str, offset: int) -> int:
    """Return the start of the next line, from ``offset`` on, that looks like UI code.

    It may be inside of a Python string or block.
    """
    found = _UI_LINE.search(text, offset)
    return len(text) if found is None else found.start()


def has_ui_token(code: str) -> bool:
    """Whether code that is no Python holds something that only JavaScript has."""
    if _UI_THOUGH_IT_STARTS_LIKE_PYTHON.match(code):
        return True
    return _UI_TOKEN.search(_PYTHON_STRING.sub(_without_text, code)) is not None


def _without_text(string: re.Match[str]) -> str:
    """Return what remains of a string: of one without an end, whose quote may be none, much."""
    rest: str | None = string["endless"]
    return '""' if rest is None else rest[0] + _REST_OF_LINE.sub(r"\g<rest>", rest[1:])


def first_name(text: str, offset: int) -> str:
    """Return the name that the line at ``offset`` starts with, or ""."""
    found = _FIRST_NAME.match(text, offset)
    return found.group() if found else ""


def decorated_class(text: str, offset: int) -> int | None:
    """Return where the TypeScript class is that the decorators at ``offset`` belong to."""
    if _DECORATED_UI_CLASS.match(text, offset):
        return offset
    closed = True
    while closed and text.startswith("@", offset):
        line = logical_line(text, offset)
        offset = skip_blank(text, line.end)
        closed = line.closed
    if _UI_CLASS.match(text, offset) is None or _PYTHON.match(text, offset):
        return None
    return offset


def past_indented(text: str, end: int) -> int:
    """Return where the indented lines end that follow a broken statement ending at ``end``."""
    while True:
        start = skip_blank(text, end)
        found = _INDENTATION.match(text, start)
        if found is None or starts_ui(text, found.end()):
            return end
        end = logical_line(text, start).end


def is_literal_assignment(node: ast.stmt) -> bool:
    """Whether a statement gives a literal to one name, or has an annotation and a value."""
    if isinstance(node, ast.AnnAssign):
        return node.value is not None
    if not isinstance(node, ast.Assign):
        return False
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True
