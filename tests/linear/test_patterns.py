"""Regular expressions look at each character a bounded number of times, whatever the text.

Each call of `re` in the package is found and judged: `ambiguity` says which words may be
harmful if they are repeated, and `backtracking` counts the steps of `re` with them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from functools import cache

import attrs
import pytest

from .ambiguity import Automaton, Pump
from .backtracking import Engine, TooManySteps
from .callers import CALLERS
from .patterns import FILES, Mode, Pattern, patterns
from .program import Program, compile_program

FEW, TIMES = 16, 4
"""Repetitions of a word, and how many times as many come then."""

SUSPECT, GROWTH = 4.4, 6
"""Linear steps grow 4 times, quadratic ones 16 times when there is little else to do: what
grows somewhat more is repeated once more as often."""


@cache
def by_place() -> Mapping[str, Pattern]:
    """Return all patterns: found once the first test runs, and not wherever tests are collected."""
    return {pattern.place: pattern for pattern in patterns()}


def patterns_of(file: str) -> list[Pattern]:
    return [one for place, one in by_place().items() if place.partition(":")[0] == file]


def costly(pattern: Pattern) -> Pump | None:
    """Return a word whose repetition takes work that is not linear; None without any."""
    for mode in sorted(pattern.modes):
        whole = mode == "fullmatch"
        program, automaton = read(pattern.text, pattern.flags, whole, mode not in _ONCE)
        engine = Engine(program)
        for pump in automaton.pumps():
            for after in automaton.endings(pump):
                if grows(engine, pump, after, mode):
                    return pump
    return None


@cache
def read(text: str | bytes, flags: int, whole: bool, anywhere: bool) -> tuple[Program, Automaton]:
    """Return a pattern as it is run, and as it is analysed; two tests need both."""
    program = compile_program(text, flags, whole=whole)
    return program, Automaton(program, anywhere=anywhere)


def grows(engine: Engine, pump: Pump, after: str, mode: Mode) -> bool:
    """Return whether the steps grow faster than the number of repetitions."""

    def steps(count: int) -> int:
        return count_steps(engine, pump.before + count * pump.word + after, mode)

    try:
        few, many = steps(FEW), steps(FEW * TIMES)
        if many <= SUSPECT * few:
            return False
        return steps(FEW * TIMES * TIMES) > GROWTH * many
    except TooManySteps:
        return True


def count_steps(engine: Engine, text: str, mode: Mode) -> int:
    """Return the steps that `re` takes for ``text``."""
    engine.begin(text)
    if mode == "lines":
        for line in re.finditer(r"(?m)^[ \t]*+", text):
            engine.match(line.end())
        return engine.steps
    at = 0
    while at <= len(text):
        end = engine.match(at)
        if mode in _ONCE or (mode == "tokens" and end in (None, at)) or (mode == "search" and end):
            break
        at = at + 1 if end is None or end == at else end
    return engine.steps


_ONCE = ("match", "fullmatch")
TRUSTED = {place: mode for (mode, _), places in CALLERS.items() for place in places}


def mistake(pattern: Pattern) -> str | None:
    """Return what is wrong with a pattern of the package."""
    if pattern.place in TRUSTED:
        if costly(pattern) is None:
            return "it is linear wherever it is tried: no need to trust"
        pattern = attrs.evolve(pattern, modes=frozenset({TRUSTED[pattern.place]}))
    found = costly(pattern)
    if found is None:
        return None
    return f"use possessive quantifiers, or say in CALLERS where it is tried: {found}"


@pytest.mark.parametrize("file", FILES)
def test_no_pattern_looks_at_a_character_again_and_again(file: str) -> None:
    wrong = {one.place: mistake(one) for one in patterns_of(file)}
    assert {place: problems for place, problems in wrong.items() if problems} == {}


def test_all_patterns_are_of_a_file_that_is_tested() -> None:
    assert len(by_place()) > 100
    assert {place.partition(":")[0] for place in by_place()} <= {*FILES}


def test_patterns_that_callers_are_trusted_with_are_there() -> None:
    assert sorted(TRUSTED.keys() - by_place().keys()) == []


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (r"a*a*b", "match"),
        (r"\s+$", "search"),
        (r"<!--.*?-->", "scan"),
        (r"<input\b[^>]*>", "scan"),
        (r"(?:a|a)*b", "match"),
        (r"(?:a+)+b", "match"),
        (r"(?:ab|a|b)*c", "fullmatch"),
        (r"(?:a[bc]?|ab)*", "fullmatch"),
        (r"\[[^\[]*\]|\w+\s*=", "scan"),
    ],
)
def test_a_costly_pattern_is_noticed(text: str, mode: Mode) -> None:
    assert costly(Pattern("", text, 0, frozenset({mode}))) is not None


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (r"a*+b", "match"),
        (r"(?:a|a)*+", "match"),
        (r"<input\b[^<>]*+>", "scan"),
        (r"\w+", "scan"),
        (r"(?:[^a]|a(?!b))*", "fullmatch"),
        (r"a*b*c", "match"),
        (r"\bfoo\b", "search"),
        (r"a{0,5}a{0,5}b", "search"),
    ],
)
def test_a_linear_pattern_passes(text: str, mode: Mode) -> None:
    assert costly(Pattern("", text, 0, frozenset({mode}))) is None


def texts(pattern: Pattern, dice: random.Random) -> Iterator[str]:
    """Yield texts that the pattern matches in parts."""
    _, automaton = read(pattern.text, pattern.flags, False, True)
    for _ in range(20):
        yield automaton.wander(dice, dice.randint(0, 30))


@pytest.mark.parametrize("file", FILES)
def test_steps_are_counted_where_python_goes(file: str) -> None:
    for pattern in patterns_of(file):
        compiled = re.compile(pattern.text, pattern.flags)
        program, _ = read(pattern.text, pattern.flags, False, True)
        engine = Engine(program)
        for text in texts(pattern, random.Random(pattern.place)):
            subject = text.encode("latin-1", "replace") if isinstance(pattern.text, bytes) else text
            found = compiled.match(subject)  # type: ignore[arg-type]  # both are text or both bytes
            engine.begin(subject.decode("latin-1") if isinstance(subject, bytes) else subject)
            assert engine.match(0) == (found and found.end()), (pattern.place, text)
