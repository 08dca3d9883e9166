"""The brackets, templates and JSX elements that are open while UI code is read.

The base of `jsx_elements` and `scanner`: it owns the place in the text, the stack, and
what happens when the two do not fit together.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

import attrs

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText

# No JavaScript holds these words in this order. At the start of a line of code they are Python,
# however many brackets are open.
PYTHON_IN_CODE = re.compile(
    r"(?:async[ \t]++)?def[ \t]++\w++[ \t]*+[(\[]|from[ \t]++[\w.]++[ \t]++import[ \t(]"
)
_VOID = frozenset(  # HTML's "void elements"
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track")
) | {"wbr"}
_PYTHON_LINE = re.compile(rf"(?m)^(?:{PYTHON_IN_CODE.pattern})")


class BracketKind(Enum):
    """Something that can be open; the value is how it starts and ends."""

    PAREN = ("(", ")")
    CONTROL = ("( ", ")")
    """The parenthesis of ``if (…)``: a statement follows it."""

    SQUARE = ("[", "]")
    BLOCK = ("{", "}")
    OBJECT = ("{ ", "}")
    TEMPLATE = ("`", "`")
    INSERTION = ("${", "}")
    """Code inside a template."""

    TAG = ("<", ">")
    """Inside of a JSX tag, where attributes are."""

    CHILDREN = ("<>", "</>")
    """Between the tags of a JSX element, where text is."""

    EXPRESSION = ("{  ", "}")
    """Code inside a JSX element or tag."""

    @property
    def opener(self) -> str:
        """How it starts, for messages."""
        return str(self.value[0]).strip()

    @property
    def closer(self) -> str:
        """How it ends."""
        return str(self.value[1])


class OpenBracket(NamedTuple):
    """One thing that is open."""

    kind: BracketKind
    offset: int
    name: str = ""
    """Of a JSX element; "" for a fragment and for brackets."""

    @property
    def text(self) -> str:
        """How it starts, for messages."""
        is_element = self.kind in (BracketKind.TAG, BracketKind.CHILDREN)
        return f"<{self.name}>" if is_element else f"'{self.kind.opener}'"

    @property
    def closer(self) -> str:
        """What would close it."""
        return f"</{self.name}>" if self.kind is BracketKind.CHILDREN else self.kind.closer

    @property
    def remedy(self) -> str:
        """What to do when it is never closed, without a full stop."""
        is_void = self.kind is BracketKind.CHILDREN and self.name in _VOID
        return f"Write '<{self.name} />'" if is_void else f"Add '{self.closer}'"


@attrs.define
class Brackets:
    """The place in the text and the stack. The text is read once, from left to right."""

    source: SourceText
    offset: int = 0
    """The next character to be read."""

    problems: list[Problem] = attrs.field(init=False, factory=list)
    stack: list[OpenBracket] = attrs.field(init=False, factory=list)
    operand: bool = attrs.field(init=False, default=False)
    """Whether what came before can be the left side of an operator."""

    last: str = attrs.field(init=False, default=";")
    """The last token: a word, an operator, a bracket, or "value"."""

    gave_up: bool = attrs.field(init=False, default=False)
    """Whether ``offset`` is a line start found by `give_up`."""

    def restart(self, offset: int) -> None:
        """Begin a new statement at ``offset``."""
        self.offset = offset
        self.stack.clear()
        self.operand = False
        self.last = ";"

    def enter(self, kind: BracketKind, offset: int, name: str = "") -> None:
        """Open something."""
        self.stack.append(OpenBracket(kind, offset, name))

    def leave_with_value(self) -> None:
        """Close the top of the stack; it was an operand."""
        self.stack.pop()
        self.operand = True
        self.last = "value"

    def report(self, offset: int, message: str, remedy: str) -> None:
        """Add a problem."""
        place = self.source.place_of(offset)
        self.problems.append(self.source.syntax_problem(*place, message, remedy))

    def give_up(self, offset: int, message: str, remedy: str) -> None:
        """Report a place behind which brackets cannot be trusted, and go on at Python."""
        self.report(offset, message, remedy)
        text = self.source.text
        found = _PYTHON_LINE.search(text, max(offset, self.offset))
        self.restart(len(text) if found is None else found.start())
        self.gave_up = True

    def give_up_all(self, offset: int, message: str, remedy: str) -> None:
        """Report something without an end, which therefore takes up the rest of the text."""
        self.report(offset, message, remedy)
        self.restart(len(self.source.text))

    def never_closed(self, python: int | None = None) -> None:
        """Report the innermost thing that is open; ``python`` is where Python follows."""
        frame = self.stack[-1]
        where = ""
        if python is not None:
            where = f" before the Python of line {self.source.line_of(python)}"
        message = f"{frame.text} is never closed{where}"
        self.report(frame.offset, message, frame.remedy)
        self.stack.clear()
        if python is None:
            self.restart(len(self.source.text))

    def mismatch(self, closer: str, offset: int) -> None:
        """Report a closing bracket or tag that does not fit, and go on at Python.

        When it closes something further out, the top of the stack is to blame.
        """
        if not self.stack:
            self.give_up(offset, f"'{closer}' closes nothing", "Remove it")
            return
        frame = self.stack[-1]
        if any(closer == other.closer for other in self.stack):
            where = f"before the '{closer}' of line {self.source.line_of(offset)}"
            self.give_up(frame.offset, f"{frame.text} is never closed {where}", frame.remedy)
            return
        line = self.source.line_of(frame.offset)
        message = f"'{closer}' does not close the {frame.text} of line {line}"
        self.give_up(offset, message, f"Write '{frame.closer}'")
