"""A regular expression as a program of few instructions, which can be run and analysed.

`re` does not say how often it looks at a character. It tries alternatives in a fixed order,
though, and so does this program, of which `backtracking` counts the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum, auto

# The parser of `re` has no public name.
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

import attrs


class Op(Enum):
    """What one instruction does. Its operands are named in brackets."""

    CHAR = auto()
    """Take a character that is in (a set)."""

    SPLIT = auto()
    """Go on at the (first place), and at the (second) where that fails."""

    JUMP = auto()
    """Go on at a (place)."""

    SAVE = auto()
    """Note the position in a (slot)."""

    MOVED = auto()
    """Fail if the position is still that of a (slot): a repeat of nothing would not end."""

    ATOMIC = auto()
    """Run what follows up to `DONE` by itself, and never again; go on at the (place)."""

    LOOK = auto()
    """Run what follows up to `DONE`, (how many characters before, whether it must match), and
    go on at the (place), without having moved."""

    DONE = auto()
    """End what `ATOMIC` or `LOOK` has begun; what comes behind it is at the (place)."""

    AT = auto()
    """Be at (a kind of place, the flags)."""

    SAME = auto()
    """Take again what the (group) has taken, (whether in any case)."""

    IF = auto()
    """Go on with the next instruction if a (group) has matched, else at the (place)."""

    MATCH = auto()
    """The end."""


Instruction: TypeAlias = tuple[Op, Any, Any]


class Accepted(dict[str, bool]):
    """Whether a character is in the set of a `CHAR`, worked out once for each."""

    def __init__(self, accepts: Callable[[str], bool]) -> None:
        super().__init__()
        self._accepts = accepts

    def __missing__(self, char: str) -> bool:
        found = self[char] = self._accepts(char)
        return found


@attrs.frozen
class Program:
    """The instructions of one pattern. ``slots`` is how many positions it notes."""

    code: tuple[Instruction, ...]
    slots: int
    points: frozenset[int]
    """Code points that its sets begin and end with."""

    wide: bool
    """Whether it knows letters beyond ASCII."""


def compile_program(pattern: str | bytes, flags: int = 0, *, whole: bool = False) -> Program:
    """Return the program of ``pattern``; with ``whole`` it takes all of a text, or nothing."""
    tree = parser.parse(pattern, flags)
    writer = _Writer(tree.state.groups)
    writer.write(list(tree), tree.state.flags)
    if whole:
        writer.add(Op.AT, c.AT_END_STRING, 0)
    writer.add(Op.MATCH)
    code = tuple((op, a, b) for op, a, b in writer.code)
    wide = bool(tree.state.flags & re.UNICODE)
    return Program(code, writer.slots, frozenset(writer.points), wide)


class _Writer:
    def __init__(self, groups: int) -> None:
        self.code: list[list[Any]] = []
        self.slots = 2 * groups
        self.points: set[int] = set()

    def add(self, op: Op, a: Any = None, b: Any = None) -> list[Any]:
        self.code.append([op, a, b])
        return self.code[-1]

    def write(self, nodes: Sequence[tuple[Any, Any]], flags: int) -> None:
        for op, value in nodes:
            self._node(op, value, flags)

    def _node(self, op: Any, value: Any, flags: int) -> None:
        if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            self.add(Op.CHAR, Accepted(self._set(op, value, flags)))
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT):
            self._repeat(value, flags, greedy=op is c.MAX_REPEAT)
        elif op is c.POSSESSIVE_REPEAT:
            atomic = self.add(Op.ATOMIC)
            self._repeat(value, flags, greedy=True)
            self._end(atomic)
        elif op is c.ATOMIC_GROUP:
            atomic = self.add(Op.ATOMIC)
            self.write(value, flags)
            self._end(atomic)
        elif op is c.SUBPATTERN:
            number, more, less, inner = value
            if number is not None:
                self.add(Op.SAVE, 2 * number - 2)
            self.write(inner, (flags | more) & ~less)
            if number is not None:
                self.add(Op.SAVE, 2 * number - 1)
        elif op is c.BRANCH:
            self._branches(value[1], flags)
        elif op in (c.ASSERT, c.ASSERT_NOT):
            direction, inner = value
            back = 0 if direction > 0 else inner.getwidth()[0]
            look = self.add(Op.LOOK, (back, op is c.ASSERT))
            self.write(inner, flags)
            self._end(look)
        elif op is c.AT:
            self.add(Op.AT, value, flags)
        elif op is c.GROUPREF:
            self.add(Op.SAME, value, bool(flags & re.IGNORECASE))
        elif op is c.GROUPREF_EXISTS:
            number, yes, no = value
            choice = self.add(Op.IF, number)
            self.write(yes, flags)
            jump = self.add(Op.JUMP)
            choice[2] = len(self.code)
            self.write(no or (), flags)
            jump[1] = len(self.code)
        elif op is c.FAILURE:
            self.add(Op.CHAR, Accepted(lambda char: False))
        else:
            raise NotImplementedError(op)

    def _end(self, begun: list[Any]) -> None:
        self.add(Op.DONE, len(self.code) + 1)
        begun[2] = len(self.code)

    def _branches(self, branches: Sequence[Any], flags: int) -> None:
        jumps = []
        for branch in branches[:-1]:
            split = self.add(Op.SPLIT, len(self.code) + 1)
            self.write(branch, flags)
            jumps.append(self.add(Op.JUMP))
            split[2] = len(self.code)
        self.write(branches[-1], flags)
        for jump in jumps:
            jump[1] = len(self.code)

    def _repeat(self, value: Any, flags: int, *, greedy: bool) -> None:
        least, most, inner = value
        for _ in range(least):
            self.write(inner, flags)
        splits = []
        if most is c.MAXREPEAT:
            begin = len(self.code)
            splits.append(self.add(Op.SPLIT))
            may_be_empty = inner.getwidth()[0] == 0
            slot = self.slots
            if may_be_empty:
                self.slots += 1
                self.add(Op.SAVE, slot)
            self.write(inner, flags)
            if may_be_empty:
                self.add(Op.MOVED, slot)
            self.add(Op.JUMP, begin)
            ways = [(begin + 1, len(self.code))]
        else:
            ways = []
            for _ in range(int(most) - least):
                ways.append((len(self.code) + 1, -1))
                splits.append(self.add(Op.SPLIT))
                self.write(inner, flags)
        for split, (body, _) in zip(splits, ways, strict=True):
            split[1:] = (body, len(self.code)) if greedy else (len(self.code), body)

    def _set(self, op: Any, value: Any, flags: int) -> Callable[[str], bool]:
        if op is c.ANY:
            return (lambda char: True) if flags & re.DOTALL else (lambda char: char != "\n")
        members = value if op is c.IN else [(c.LITERAL, value)]
        for kind, member in members:
            if kind is c.LITERAL:
                self.points.add(member)
            elif kind is c.RANGE:
                self.points.update((member[0] - 1, *member, member[1] + 1))
        wanted = op is not c.NOT_LITERAL and members[0][0] is not c.NEGATE
        spellings = _any_case if flags & re.IGNORECASE else _as_it_is
        narrow = not flags & re.UNICODE
        return lambda char: (
            any(
                _is_member(kind, member, one, narrow)
                for one in spellings(char)
                for kind, member in members
            )
            is wanted
        )


def _as_it_is(char: str) -> tuple[str, ...]:
    return (char,)


def _any_case(char: str) -> tuple[str, ...]:
    return tuple(one for one in (char, char.lower(), char.upper()) if len(one) == 1)


def _is_member(kind: Any, member: Any, char: str, narrow: bool) -> bool:
    if kind is c.LITERAL:
        return bool(ord(char) == member)
    if kind is c.RANGE:
        least, most = member
        return bool(least <= ord(char) <= most)
    if kind is c.CATEGORY:
        belongs, negated = _CATEGORIES[member]
        is_one = belongs(char) and (char.isascii() or not narrow)
        return is_one is not negated
    return False  # the negation, which is no member


def is_word(char: str) -> bool:
    """Return whether ``char`` is one of ``\\w``."""
    return char.isalnum() or char == "_"


_CATEGORIES: dict[Any, tuple[Callable[[str], bool], bool]] = {
    c.CATEGORY_DIGIT: (str.isdecimal, False),
    c.CATEGORY_NOT_DIGIT: (str.isdecimal, True),
    c.CATEGORY_SPACE: (str.isspace, False),
    c.CATEGORY_NOT_SPACE: (str.isspace, True),
    c.CATEGORY_WORD: (is_word, False),
    c.CATEGORY_NOT_WORD: (is_word, True),
}


def stands(kind: Any, flags: int, text: str, at: int) -> bool:
    """Return whether ``at`` is a place of that kind."""
    lines = bool(flags & re.MULTILINE)
    if kind is c.AT_BEGINNING_STRING or (kind is c.AT_BEGINNING and not lines):
        return at == 0
    if kind is c.AT_END_STRING:
        return at == len(text)
    if kind is c.AT_BEGINNING:
        return at == 0 or text[at - 1] == "\n"
    if kind is c.AT_END:
        return at == len(text) or (text[at] == "\n" and (lines or at == len(text) - 1))
    before = at > 0 and is_word(text[at - 1])
    after = at < len(text) and is_word(text[at])
    return (before != after) is (kind is c.AT_BOUNDARY)
