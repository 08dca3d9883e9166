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
    code = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source)
    for found in _TEXT.finditer(code):
        text = next(group for group in found.groups() if group is not None)
        if " " in text:
            yield code.count("\n", 0, found.start()) + 1, text
