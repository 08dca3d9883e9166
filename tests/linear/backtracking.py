"""Runs the program of a pattern as `re` runs the pattern, and counts the steps."""

from __future__ import annotations

from .program import Op, Program, stands

Slots = tuple[int, ...]

# An enumeration takes most of a step to find a member of it.
_CHAR, _SPLIT, _JUMP, _SAVE, _MATCH, _DONE = (
    Op.CHAR,
    Op.SPLIT,
    Op.JUMP,
    Op.SAVE,
    Op.MATCH,
    Op.DONE,
)
_ATOMIC, _LOOK, _AT, _MOVED, _SAME = Op.ATOMIC, Op.LOOK, Op.AT, Op.MOVED, Op.SAME


class TooManySteps(Exception):
    """There were too many steps."""


class Engine:
    """Matches one pattern. ``steps`` counts the instructions since `begin`."""

    def __init__(self, program: Program, most: int = 300_000) -> None:
        self._code = program.code
        self._none: Slots = (-1,) * program.slots
        self._most = most
        self._text = ""
        self.steps = 0

    def begin(self, text: str) -> None:
        """Take a new text, and reset the count."""
        self._text, self.steps = text, 0

    def match(self, at: int) -> int | None:
        """Return where the match at ``at`` ends; None without one. Raises TooManySteps."""
        found = self._run(0, at, self._none)
        return None if found is None else found[0]

    def _run(self, pc: int, at: int, slots: Slots) -> tuple[int, Slots] | None:
        code, text = self._code, self._text
        size, most = len(text), self._most
        waiting = [(pc, at, slots)]
        while waiting:
            pc, at, slots = waiting.pop()
            while True:
                self.steps += 1
                if self.steps > most:
                    raise TooManySteps
                op, a, b = code[pc]
                pc += 1
                if op is _CHAR:
                    if at == size or not a[text[at]]:
                        break
                    at += 1
                elif op is _SPLIT:
                    waiting.append((b, at, slots))
                    pc = a
                elif op is _JUMP:
                    pc = a
                elif op is _SAVE:
                    slots = (*slots[:a], at, *slots[a + 1 :])
                elif op is _MATCH or op is _DONE:
                    return at, slots
                elif op is _ATOMIC:
                    alone = self._run(pc, at, slots)
                    if alone is None:
                        break
                    (at, slots), pc = alone, b
                elif op is _LOOK:
                    back, wanted = a
                    seen = self._run(pc, at - back, slots) if at >= back else None
                    if (seen is not None) is not wanted:
                        break
                    slots, pc = seen[1] if seen is not None else slots, b
                elif op is _AT:
                    if not stands(a, b, text, at):
                        break
                elif op is _MOVED:
                    if slots[a] == at:
                        break
                elif op is _SAME:
                    begin, end = slots[2 * a - 2], slots[2 * a - 1]
                    group, here = text[begin:end], text[at : at + end - begin]
                    self.steps += len(group)
                    if begin < 0 or end < 0 or (group != here and not (b and _alike(group, here))):
                        break
                    at += len(group)
                elif slots[2 * a - 1] < 0:  # IF
                    pc = b
        return None


def _alike(one: str, other: str) -> bool:
    return one.lower() == other.lower()
