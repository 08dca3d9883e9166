"""Words that a native reader stumbles over, and what to write in their place.

`test_words` finds them in the documentation, and in the messages of commands and errors.
Code between backticks is not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import attrs

WORDS = {
    r"\banew\b": "again",
    r"\b(?:is|are|was|were|be|been) told\b|\btold (?:apart|so|in)\b": (
        "logged, reported, notified, passed"
    ),
    r"\b(?:is|are|was|were|be) kept\b": "cached, stored, committed, retained",
    r"\brefus(?:e|es|ed|ing|al)\b": "reject, deny",
    r"\bstands?\b(?!-)": "is, is placed, means",
    r"\b(?:goes|go|went) on\b": "continues, keeps running",
    r"\b(?:is|are|has|have) gone\b": "has disconnected, was deleted",
    r"\bbelongs? into\b": "belongs in",
    r"\b(?:is|are) led\b": "is redirected",
    r"\bfor ever\b": "forever",
    r"\b(?:Python|UI|JSX|React) hal(?:f|ves)\b|\bUI code\b": "server half, client half",
    r"\bwhat is no\b": "anything other than",
    r"\bput right\b": "corrected",
    r"(?<!here )\bis no (?:async |)(?:class|file|function|message|module|number)\b": "is not a",
    r"(?<!here )\bis no (?:object|origin|page|setting)\b": "is not a",
    r"(?:^|(?<=[.:] )|(?<=^- ))(?:Who|Whoever|What) (?!.*\?)": "name the actor",
}
"""Pattern to what is written instead."""


@attrs.frozen
class Found:
    """A word in a text."""

    place: str
    word: str
    line: str
    instead: str

    def __str__(self) -> str:
        return (
            f"{self.place}: {self.word.strip()!r} (better: {self.instead}) in {self.line.strip()!r}"
        )


def find(place: str, text: str) -> Iterator[Found]:
    """Yield the words of ``text``, line by line; code between backticks is none."""
    for number, line in enumerate(text.splitlines(), 1):
        prose = re.sub(r"`[^`]*`", "``", line)
        for pattern, instead in WORDS.items():
            for found in re.finditer(pattern, prose, re.IGNORECASE if "Who" not in pattern else 0):
                yield Found(f"{place}:{number}", found[0], line, instead)


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences among the strings of a module, with their lines; with help texts."""
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):  # the help text of a command is its docstring
        if isinstance(node, ast.FunctionDef) and "click" in ast.dump(ast.List(node.decorator_list)):
            documented.discard(id(getattr(node.body[0], "value", None)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documented:
            continue
        if isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


_COMMENT = re.compile(r"/\*.*?\*/|(?:^|(?<=\s))//.*?$", re.DOTALL | re.MULTILINE)
_TEXT = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`""")


def texts_of_script(source: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of a JavaScript module that hold several words, with their lines."""
    code = _COMMENT.sub(_lines_of, source)
    for found in _TEXT.finditer(code):
        text = next(group for group in found.groups() if group is not None)
        if " " in text:
            yield code.count("\n", 0, found.start()) + 1, text


NAMES = {
    "anew": "again, reloaded",
    "asked": "requests, requested",
    "given": "options, value, passed",
    "gone": "removed, disconnected",
    "kept": "stored, cached, retained",
    "late": "later, slow, lateness",
    "made": "result, created",
    "shown": "rendered, visible, text",
    "told": "reported, messages, errors",
}
"""Words that say nothing of what a name stands for, and what such names hold."""

_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_DECLARED = re.compile(
    r"\b(?:const|let|var)\s*([{[][^=;]*?[}\]])\s*="
    r"|\bfunction\b\*?\s*([\w$]*)\s*\(([^()]*)\)"
    r"|\b(?:const|let|var|class)\s+([\w$]+)"
    r"|\(([^()]*)\)\s*=>|([\w$]+)\s*=>"
)
_BOUND = re.compile(r"[A-Za-z_$][\w$]*(?!\s*:|[\w$])")


def vague_words(name: str) -> set[str]:
    """Return the words of a name that are among `NAMES`."""
    return NAMES.keys() & {word.lower() for word in _WORD.findall(name)}


def names_of_module(source: str) -> Iterator[tuple[int, str]]:
    """Yield the names that a Python module gives to something, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def names_of_script(source: str) -> Iterator[tuple[int, str]]:
    """Yield the variables, functions, classes and parameters of a JavaScript module.

    Each with its line. Keys of objects are none: they may be another one's.
    """
    code = _TEXT.sub(_lines_of, _COMMENT.sub(_lines_of, source))
    for found in _DECLARED.finditer(code):
        line = code.count("\n", 0, found.start()) + 1
        for bound in _BOUND.findall(" ".join(filter(None, found.groups()))):
            yield line, bound


def _lines_of(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
