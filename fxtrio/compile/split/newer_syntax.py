"""Syntax that is younger than the oldest Python fxtrio runs on: found, and said in older words.

A page file is divided by one grammar, that of Python 3.14, whichever Python runs: what
that one does not know is replaced by older syntax of the same extent before it is parsed.
Pure; called by `python_statements`, and by `project` for what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fxtrio.compile.split.format_strings import STRING, prefix_of, read_formatted

OLDEST = (3, 11)
"""The grammar that everything newer is replaced by."""

_WORTH_A_LOOK = re.compile(
    r"(?i:\b(?:[ft]r?|r[ft]))[\"']|\b(?:def|class|type)[ \t]++\w++[ \t]*+\["
    r"|\btype[ \t]++\w++[ \t]*+=|(?m:^)[ \t]*+except\b[^\n,]*+,"
)
_PART = re.compile(
    r"[^\n\"'#]++|\n|(?P<comment>\#[^\n]*+)"
    rf"|(?P<string>{STRING})"
    r"|(?P<endless>(?:\"{3}|'{3})[\s\S]*+|[\"'][^\n]*+)"
)
_PARAMETERS = re.compile(r"(?m)^[ \t]*+(?:async[ \t]++)?(?:def|class)[ \t]++\w++[ \t]*+(?=\[)")
_ALIAS = re.compile(r"(?m)(?:^|[:;])[ \t]*+(?P<type>type[ \t]++)(?P<name>\w++)[ \t]*+(?=[=\[])")
_VALUE = re.compile(r"[ \t]*+=(?!=)")
_EXCEPT = re.compile(r"(?m)^[ \t]*+except\b[ \t]*+\*?[ \t]*+(?P<classes>[^\s:][^\n:]*+):")
_NO_NEWLINE = re.compile(r"[^\n]")
_LONGEST = 2000  # characters of type parameters; keeps the time linear
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@attrs.frozen
class Newer:
    """A piece of newer syntax, and what older Python says instead."""

    start: int
    end: int
    instead: str
    """As many lines as the piece, for the grammar `OLDEST`."""

    version: tuple[int, int]
    """The first Python that knows it."""

    name: str
    remedy: str
    """What to write for older Pythons, without a full stop."""


def find_newer(code: str) -> list[Newer]:
    """Return the newer syntax of Python code, in order; it need not parse."""
    if _WORTH_A_LOOK.search(code) is None:
        return []
    strings: list[Newer] = []
    bare = _without_strings(code, strings)
    return sorted(
        [*strings, *_parameters(bare), *_aliases(bare), *_excepts(bare)],
        key=lambda piece: piece.start,
    )


def in_older_words(code: str) -> str:
    """Return ``code`` for the grammar `OLDEST`, line for line."""
    written: list[str] = []
    done = 0
    for piece in find_newer(code):
        if piece.start >= done:
            written += [code[done : piece.start], piece.instead]
            done = piece.end
    return "".join([*written, code[done:]])


def _without_strings(code: str, newer: list[Newer]) -> str:
    """Return ``code`` with spaces for strings and comments; newer strings are added to a list."""
    bare: list[str] = []
    offset = 0
    while (found := _PART.match(code, offset)) is not None:
        start, offset = found.span()
        quoted = found.lastgroup in ("string", "endless")
        if quoted and (prefix := prefix_of(code, start)):
            string = read_formatted(code, start)
            if string is not None:
                offset = string.end
                start -= len(prefix)
                bare[-1] = bare[-1][: -len(prefix)]
                if string.newer or "t" in prefix:
                    newer.append(_string(code, start, offset, prefix))
        piece = code[start:offset]
        bare.append(_NO_NEWLINE.sub(" ", piece) if found.lastgroup else piece)
    return "".join(bare)


def _string(code: str, start: int, end: int, prefix: str) -> Newer:
    """Return a formatted string whose fields are text, and which spans as many lines."""
    lines = code[start:end].count("\n")
    width = end - start - len("f''")
    instead = 'f"""' + "\n" * lines + '"""' if lines else "f'" + "x" * width + "'"
    if "t" in prefix:
        return Newer(start, end, instead, (3, 14), "a t-string", "Write an f-string")
    remedy = "Give the value in the braces a name in front of it"
    return Newer(start, end, instead, (3, 12), "the code in the f-string's braces", remedy)


def _parameters(bare: str) -> Iterator[Newer]:
    for found in _PARAMETERS.finditer(bare):
        if (end := _closing(bare, found.end())) is not None:
            yield _type_parameters(bare, found.end(), end)


def _type_parameters(bare: str, start: int, end: int) -> Newer:
    piece = bare[start:end]
    instead = "\\\n" * piece.count("\n")
    if "=" in piece:
        remedy = "Remove the default"
        return Newer(start, end, instead, (3, 13), "the default of a type parameter", remedy)
    return Newer(start, end, instead, (3, 12), "a type parameter", "Use typing.TypeVar")


def _aliases(bare: str) -> Iterator[Newer]:
    for found in _ALIAS.finditer(bare):
        start, end = found.span("type")
        name = found["name"]
        value = found.end()
        parameters: int | None = None
        if bare.startswith("[", value):
            parameters = _closing(bare, value)
            if parameters is None:
                continue
        if _VALUE.match(bare, parameters or value):
            remedy = f"Write '{name} = …'"
            yield Newer(start, end, "", (3, 12), "a 'type' statement", remedy)
            if parameters is not None:
                yield _type_parameters(bare, value, parameters)


def _excepts(bare: str) -> Iterator[Newer]:
    for found in _EXCEPT.finditer(bare):
        start, classes = found.start("classes"), found["classes"].rstrip(" \t")
        end = start + len(classes)
        if " as " not in classes and _has_comma_outside(classes):
            remedy = f"Write 'except ({classes}):'"
            name = "'except' with several classes and no parentheses"
            yield Newer(start, end, f"({classes})", (3, 14), name, remedy)


def _has_comma_outside(classes: str) -> bool:
    depth = 0
    for char in classes:
        depth += _BRACKETS.get(char, 0)
        if char == "," and depth == 0:
            return True
    return False


def _closing(bare: str, offset: int) -> int | None:
    """Return the offset behind the bracket that closes the one at ``offset``."""
    depth = 0
    for place in range(offset, min(len(bare), offset + _LONGEST)):
        depth += _BRACKETS.get(bare[place], 0)
        if depth == 0:
            return place + 1
    return None
