"""Words that two parts of a pattern can take alike: repeated, they are what costs time.

A pattern is read as a nondeterministic automaton, without its lookarounds and with all its
repeats giving back, so that more words are found than are harmful. `re` tries one way after
the other, so that work grows

- with the square of a word's repetitions, where one loop can take the word, and a later one too,
  and there is a way from the first to the second with that word;
- exponentially, where there are two ways with the same word from a state back to itself.

See Weber and Seidl, On the degree of ambiguity of finite automata (1991). A search is a loop in
front of the pattern that takes everything.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import islice
from re import _constants as c  # type: ignore[attr-defined]  # it has no public name
from typing import NamedTuple

import attrs

from .program import Op, Program, is_word, stands

SAMPLES = "a1 \n-_AzZ\t.\0é"
MOST_WORDS = 12
"""Of one pattern and each kind; all of them are tried before it counts as harmless (count)."""

LONGEST = 24
"""Characters of a word."""

_ANY, _WORD, _NO_WORD, _NEWLINE, _NOTHING = "any", "word", "no word", "newline", "nothing"
"""What the next character has to be, for the sake of ``\\b``, ``$`` and the like."""

_BOUNDARIES = (c.AT_BOUNDARY, c.AT_NON_BOUNDARY)


class State(NamedTuple):
    """The `CHAR` that is next, and what it must be besides."""

    pc: int
    need: str = _ANY


SEARCHING = State(-1)
"""The state of a search that has not begun to match."""

_Several = tuple[State, ...]


@attrs.frozen
class Pump:
    """A word that can be repeated, and what comes before."""

    before: str
    word: str


class Automaton:
    """The states of a program. ``anywhere`` lets it begin behind any text."""

    def __init__(self, program: Program, *, anywhere: bool) -> None:
        self._program = program
        self._code = program.code
        self._anywhere = anywhere
        self._pumps: list[Pump] | None = None
        self.alphabet = _alphabet(program)
        self.ways = cache(self._ways)
        self._starts = list(self._entries(0, ""))
        if anywhere:
            self._starts.append(SEARCHING)
        self._reached = self._explore()
        self._loops = sorted(state for state in self._reached if state in self._reached[state])

    def pumps(self) -> list[Pump]:
        """Return words that may cost time, those that cost the most first."""
        if self._pumps is not None:
            return self._pumps
        inner = [way for loop in self._loops if loop != SEARCHING for way in self._polynomial(loop)]
        searches = list(self._polynomial(SEARCHING)) if self._anywhere else []
        kinds = (self._exponential(), _in_turn(inner), _in_turn(searches))
        found = (pump for kind in kinds for pump in islice(kind, MOST_WORDS))
        self._pumps = list(dict.fromkeys(found))
        return self._pumps

    def endings(self, pump: Pump) -> list[str]:
        """Return what may follow a pump so that there is no match: nothing, and characters."""
        alive = set(self._starts)
        for char in pump.before + 2 * pump.word:
            alive = {after for state in alive for after in self.ways(state, char)}
        deadly = [
            char
            for char in self.alphabet
            if not any(self.ways(state, char) for state in alive - {SEARCHING})
        ]
        return list(dict.fromkeys(["", *deadly[:1], "\n"]))

    def wander(self, dice: random.Random, size: int) -> str:
        """Return a text of ``size`` characters that goes from state to state, and loses the way."""
        text, alive = "", self._starts
        for _ in range(size):
            state = dice.choice(alive)
            taken = [char for char in self.alphabet if self.ways(state, char)]
            astray = not taken or dice.random() < 0.05
            char = dice.choice(self.alphabet if astray else taken)
            alive = sorted(self.ways(state, char)) or self._starts
            text += char
        return text

    def _ways(self, state: State, char: str) -> Counter[State]:
        """Return the states behind ``char``, each with 2 where more than one way leads to it."""
        if state == SEARCHING:
            return Counter({SEARCHING: 1}) + self._entries(0, char)
        if not _is_met(state.need, char) or not self._code[state.pc][1][char]:
            return Counter()
        return self._entries(state.pc + 1, char)

    def _entries(self, pc: int, before: str) -> Counter[State]:
        """Return what can be next at ``pc``, behind the character ``before``."""
        found: Counter[State] = Counter()
        seen: Counter[State] = Counter()
        waiting = [State(pc)]
        while waiting:
            here = waiting.pop()
            seen[here] += 1
            if seen[here] > 2:
                continue
            at, need = here
            op, a, b = self._code[at]
            if op is Op.CHAR:
                found[here] += 1
                continue
            if op is Op.AT:
                need = _both(need, _needed(a, b, before))
            targets = {
                Op.SPLIT: (a, b),
                Op.IF: (at + 1, b),
                Op.JUMP: (a,),
                Op.DONE: (a,),
                Op.LOOK: (b,),
                Op.MATCH: (),
            }.get(op, (at + 1,))
            if need != _NOTHING:
                waiting += [State(target, need) for target in targets]
        return found

    def _explore(self) -> dict[State, set[State]]:
        """Return which states each state leads to, in one step or many."""
        after: dict[State, set[State]] = {}
        waiting = list(self._starts)
        while waiting:
            state = waiting.pop()
            if state not in after:
                after[state] = {end for char in self.alphabet for end in self.ways(state, char)}
                waiting += after[state]
        reached: dict[State, set[State]] = {}
        for state in after:
            found: set[State] = set()
            waiting = [state]
            while waiting:
                new = after[waiting.pop()] - found
                found |= new
                waiting += new
            reached[state] = found
        return reached

    def _cycle(self, state: State) -> set[State]:
        """Return the states between ``state`` and itself."""
        return {each for each in self._reached[state] if state in self._reached[each]}

    def _words(
        self, begin: _Several, ends: Collection[_Several], within: Sequence[set[State]]
    ) -> Iterator[str]:
        """Yield the shortest words from ``begin`` to one of ``ends``, one for each first letter.

        Each member of a state moves by itself, and stays in its own set.
        """
        for first in self.alphabet:
            seen: set[_Several] = set()
            waiting = deque([(begin, "")])
            while waiting:
                states, word = waiting.popleft()
                if word and states in ends:
                    yield word
                    break
                if len(word) == LONGEST:
                    break
                for char in self.alphabet if word else (first,):
                    for after in self._moves(states, char, within):
                        if after not in seen:
                            seen.add(after)
                            waiting.append((after, word + char))

    def _moves(self, states: _Several, char: str, within: Sequence[set[State]]) -> list[_Several]:
        moves: list[_Several] = [()]
        for state, allowed in zip(states, within, strict=True):
            ends = [end for end in self.ways(state, char) if end in allowed]
            moves = [(*move, end) for move in moves for end in ends]
        return moves

    def _before(self, state: State) -> str:
        """Return a shortest text that leads to ``state``."""
        seen = set(self._starts)
        waiting = deque((start, "") for start in self._starts)
        while waiting:
            at, text = waiting.popleft()
            if at == state:
                return text
            for char in self.alphabet:
                for after in self.ways(at, char).keys() - seen:
                    seen.add(after)
                    waiting.append((after, text + char))
        raise AssertionError(f"{state} is not reached")

    def _polynomial(self, first: State) -> Iterator[Iterator[Pump]]:
        """Yield for each later loop the words that lead from the loop ``first`` to it."""
        reached = self._reached[first]
        for second in self._loops:
            if second not in reached or first in self._reached[second]:
                continue
            later = self._cycle(second)
            between = {each for each in reached if second in self._reached[each]} | later
            words = self._words(
                (first, first, second),
                {(first, second, second)},
                (self._cycle(first), between, later),
            )
            yield map(Pump, _always(self._before(first)), words)

    def _exponential(self) -> Iterator[Pump]:
        known: set[State] = set()
        for state in self._loops:
            if state == SEARCHING or state in known:
                continue
            cycle = self._cycle(state)
            known |= cycle
            yield from islice(self._doubled(cycle), 2)
            yield from islice(self._two_ways(cycle), 2)

    def _doubled(self, cycle: set[State]) -> Iterator[Pump]:
        """Yield words with a step in them that can be taken in two ways."""
        for state in sorted(cycle):
            for char in self.alphabet:
                for after, ways in self.ways(state, char).items():
                    if ways > 1 and after in cycle:
                        back = () if after == state else self._words((after,), {(state,)}, (cycle,))
                        yield Pump(self._before(state), char + next(iter(back), ""))

    def _two_ways(self, cycle: set[State]) -> Iterator[Pump]:
        """Yield words with which there are two ways from a state of ``cycle`` back to it."""
        within = (cycle, cycle)
        apart = {(one, other) for one in cycle for other in cycle if one < other}
        for origin in sorted(cycle):
            for word in self._words((origin, origin), apart, within):
                for pair in sorted(apart & self._after((origin, origin), word, within)):
                    for back in islice(self._words(pair, {(origin, origin)}, within), 1):
                        yield Pump(self._before(origin), word + back)

    def _after(self, states: _Several, word: str, within: Sequence[set[State]]) -> set[_Several]:
        found = {states}
        for char in word:
            found = {end for one in found for end in self._moves(one, char, within)}
        return found


def _always(text: str) -> Iterator[str]:
    while True:
        yield text


def _in_turn(several: Sequence[Iterator[Pump]]) -> Iterator[Pump]:
    """Yield the first of each, then the second of each, and so on."""
    waiting = deque(several)
    while waiting:
        one = waiting.popleft()
        pump = next(one, None)
        if pump is not None:
            yield pump
            waiting.append(one)


def _needed(kind: object, flags: int, before: str) -> str:
    """Return what has to come next at a place, behind ``before`` ("" at the beginning)."""
    if kind in _BOUNDARIES:
        changes = kind is c.AT_BOUNDARY
        return _WORD if (before != "" and is_word(before)) is not changes else _NO_WORD
    if kind is c.AT_END_STRING:
        return _NOTHING
    if kind is c.AT_END:
        return _NEWLINE
    return _ANY if stands(kind, flags, before, len(before)) else _NOTHING


def _both(one: str, other: str) -> str:
    if _ANY in (one, other) or one == other:
        return other if one == _ANY else one
    return _NEWLINE if {one, other} == {_NO_WORD, _NEWLINE} else _NOTHING


def _is_met(need: str, char: str) -> bool:
    if need == _NEWLINE:
        return char == "\n"
    return need == _ANY or is_word(char) is (need == _WORD)


def _alphabet(program: Program) -> list[str]:
    """Return a character for each of the sets that the program can tell apart."""
    points = {point for point in program.points if 0 <= point < (0x110000 if program.wide else 256)}
    sets = [a for op, a, _ in program.code if op is Op.CHAR]
    found: dict[tuple[bool, ...], str] = {}
    for char in (*SAMPLES, *map(chr, sorted(points))):
        marks = (char == "\n", is_word(char), *(one[char] for one in sets))
        found.setdefault(marks, char)
    return list(found.values())
