"""JavaScript, TypeScript and JSX as far as finding out where a statement can start.

`Scanner` walks over the UI half of a page file once, from left to right, and
stops at the line starts that are outside of every bracket, string, template,
comment and JSX element. It knows brackets and quotes, not grammar: the bundler
checks the rest. Called by `halves`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import attrs

from fxtrio.compile.split.brackets import PYTHON_IN_CODE, BracketKind
from fxtrio.compile.split.jsx_elements import JsxReader

# Repetitions are possessive (`*+`): none gives back what it has read, or a hostile text would be
# read once for each of its characters.
_WORD = r"(?:[^\x00-\"%-@\[-^`{-\x7f]|\\u)[^\x00-\#%-/:-@\[\]^`{-\x7f]*+"
_TEMPLATE = r"[^`\\$]*+(?>(?:(?:\\[\s\S]|\$(?!\{))[^`\\$]*+)*)"
_CODE = re.compile(
    rf"""
    (?P<space>[ \t\f\v\xa0\ufeff]++)
  | (?P<newline>\n(?:[ \t]*+\n)*+)
  | (?P<property>\??\.\s*{_WORD})
  | (?P<word>{_WORD})
  | (?P<number>\.?[0-9][\w.]*+)
  | (?P<string>"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'
              |`{_TEMPLATE}`)
  | (?P<comment>//[^\n]*+|/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/)
  | (?P<step>\+\+|--)
  | (?P<open>[(\[{{])
  | (?P<close>[)\]}}])
  | (?P<template>`)
  | (?P<angle><(?!<))
  | (?P<slash>/(?!\*))
  | (?P<bang>!(?!=))
  | (?P<operator>=>|<<|[=!]==?|[-+*%&|^?:,.~@=>;])
    """,
    re.VERBOSE,
)
_REGEX = re.compile(r"/(?>(?:[^/\\\[\n]++|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*+\])+)/[A-Za-z]*+")
_TEMPLATE_TEXT = re.compile(_TEMPLATE)
_OPERAND_FOLLOWS = frozenset(
    {"return", "typeof", "instanceof", "in", "of", "new", "delete", "void", "throw", "case"}
    | {"do", "else", "await", "yield", "default", "extends", "as", "satisfies"}
)
_CONTROL = frozenset(["if", "while", "for", "with"])
_BLOCK_FOLLOWS = frozenset([";", "{", "}", "=>", "else", "do"])
_ENDS_EXPRESSION_NEVER = frozenset([*"=,+-*/%&|^?:.~<", "=>", "==", "===", "!=", "!=="])
_DEEPEST_INDENT = 200  # characters; bounds the look back at the start of the line


class Stop(NamedTuple):
    """A line start at which a statement can begin."""

    offset: int
    within_expression: bool
    """Whether the line before ends in an operator."""


@attrs.define
class Scanner(JsxReader):
    """Reads UI code. `next_line` moves on; `restart` begins again at a statement."""

    exports: list[int] = attrs.field(init=False, factory=list)
    """Offsets of the word ``export`` outside of brackets."""

    _line: int = attrs.field(init=False, default=0)
    """Where the current line of code starts."""

    _no_regex_before: int = attrs.field(init=False, default=0)
    """End of a line on which a slash had no partner; keeps the time linear."""

    def next_line(self) -> Stop | None:
        """Return the next line start outside of brackets, or None at the end of the text.

        After a problem that leaves the brackets in disorder, the next line start is
        the next one that can only be Python.
        """
        size = len(self.source.text)
        while self.offset < size:
            kind = self.stack[-1].kind if self.stack else None
            if kind is BracketKind.TEMPLATE:
                self._template()
            elif kind is BracketKind.TAG:
                self.read_tag()
            elif kind is BracketKind.CHILDREN:
                self.read_children()
            elif (stop := self._code()) is not None:
                return stop
            if self.gave_up:
                self.gave_up = False
                return Stop(self.offset, within_expression=False)
        if self.stack:
            self.never_closed()
        return None

    def _code(self) -> Stop | None:
        """Read code up to a line start outside of brackets, or to where another mode starts."""
        text, match = self.source.text, _CODE.match
        # A slash, an angle bracket and a brace mean two things each: which one depends on whether
        # a value stands before it. That is `operand`, and `last` is what stands there.
        while (found := match(text, self.offset)) is not None:
            kind = found.lastgroup
            start, self.offset = found.span()
            if kind == "space" or kind == "comment":
                continue
            if kind == "word":
                self._word(found.group(), start)
            elif kind == "newline":
                stop = self._newline()
                if stop is not None:
                    return stop
            elif kind == "property" or kind == "number" or kind == "string":
                # A property may be named as a keyword is: behind ``x.return`` a slash divides.
                self.operand = True
                self.last = "value"
            elif kind == "open":
                self._open(found.group(), start)
            elif kind == "close":
                if not self._close(found.group(), start):
                    return None
            elif kind == "template":
                self.enter(BracketKind.TEMPLATE, start)
                return None
            elif kind == "angle" and not self.operand and self.enter_element(start):
                return None
            elif kind == "slash" and not self.operand and self._regex(start):
                continue
            elif kind == "bang" and self.operand and not self._starts_line(start):
                continue  # TypeScript's ``value!``
            elif kind != "step":  # ``++`` leaves things as they are
                self.operand = False
                self.last = found.group()
        if self.offset < len(text):
            return self._stray()
        return None

    def _word(self, word: str, offset: int) -> None:
        if word == "export" and not self.stack:
            self.exports.append(offset)
        self.operand = word not in _OPERAND_FOLLOWS
        if not (word == "await" and self.last == "for"):  # ``for await (``: the bracket of a loop
            self.last = word

    def _newline(self) -> Stop | None:
        self._line = offset = self.offset
        if not self.stack:
            # What follows an operator continues the expression, whatever language it looks like.
            return Stop(offset, self.last in _ENDS_EXPRESSION_NEVER)
        text = self.source.text
        # The first letter is looked at first: this is asked of each line inside of brackets.
        if text[offset : offset + 1] in ("a", "d", "f") and PYTHON_IN_CODE.match(text, offset):
            self.never_closed(offset)
            return Stop(offset, within_expression=False)
        return None

    def _open(self, bracket: str, offset: int) -> None:
        # Behind an object literal a slash divides, and behind a block it begins a regular
        # expression: a brace has to be known for what it is before it is closed.
        if bracket == "(":
            self.enter(BracketKind.CONTROL if self.last in _CONTROL else BracketKind.PAREN, offset)
        elif bracket == "[":
            self.enter(BracketKind.SQUARE, offset)
        elif self.operand or self.last in _BLOCK_FOLLOWS:
            self.enter(BracketKind.BLOCK, offset)
        else:
            self.enter(BracketKind.OBJECT, offset)
        self.operand = False
        self.last = bracket

    def _close(self, bracket: str, offset: int) -> bool:
        """Close a bracket; False when what follows is no code, or when it does not fit."""
        if not self.stack or self.stack[-1].kind.closer != bracket:
            self.mismatch(bracket, offset)
            return False
        kind = self.stack.pop().kind
        self.last = bracket
        # Behind a block or ``if (…)`` a slash begins a regular expression, and ``<`` an element;
        # behind every other bracket they divide and compare.
        self.operand = kind is not BracketKind.BLOCK and kind is not BracketKind.CONTROL
        return kind is not BracketKind.INSERTION and kind is not BracketKind.EXPRESSION

    def _regex(self, offset: int) -> bool:
        """Read a regular expression; False when there is none."""
        if offset < self._no_regex_before:
            return False
        found = _REGEX.match(self.source.text, offset)
        if found is None:
            self._no_regex_before = self.source.line_end(offset)
            return False
        self.offset = found.end()
        self.operand = True
        self.last = "value"
        return True

    def _template(self) -> None:
        text = self.source.text
        found = _TEMPLATE_TEXT.match(text, self.offset)
        self.offset = found.end() if found else self.offset
        if text.startswith("`", self.offset):
            self.offset += 1
            self.leave_with_value()
        elif text.startswith("${", self.offset):
            self.enter(BracketKind.INSERTION, self.offset)
            self.offset += 2
            self.operand = False
            self.last = "("
        else:
            self.never_closed()

    def _stray(self) -> Stop | None:
        """Handle a quote or comment without an end, or an odd character."""
        text, offset = self.source.text, self.offset
        char = text[offset]
        if char in "\"'":
            # A string ends with its line, but for a backslash there, so the next one is read as
            # usual; behind a comment without an end nothing can be known.
            self.report(offset, f"the string that starts with {char} has no end", f"Add {char}")
            end = text.find("\n", offset)
            self.offset = len(text) if end < 0 else end
            self.operand = True
            self.last = "value"
        elif char == "/":
            self.give_up_all(offset, "the comment has no end", "Add '*/'")
        else:
            self.give_up(offset, f"{char!r} has no meaning in JavaScript", "Remove it")
        return None

    def _starts_line(self, offset: int) -> bool:
        before = offset - self._line
        return before < _DEEPEST_INDENT and not self.source.text[self._line : offset].strip()
