"""In which order test files run beside each other: heavy and light ones in turn, light ones last.

Heavy ones alone would come upon each other, and their deadlines with them; and a long one that
comes last is waited for by all cores but one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TypeVar

File = TypeVar("File", bound=Hashable)

ENDS = {
    "long": Fraction(1, 8),
    "browser": Fraction(3, 4),
    "processes": Fraction(9, 10),
    "light": Fraction(1),
}
"""Kinds of files, and after which part of all work the last of a kind begins."""

SHARED_DEV = "shared_dev"
"""The mark of tests that share one `fx dev`. Their files run in one process, one after the other:
another `fx dev` for each process costs as much as several of them.
"""

LIGHT = frozenset(
    {
        *("auth", "benchmarks", "compile", "compression", "contract", "http1", "markdown"),
        *("plugins", "routes", "serve", "testing", "tests", "wire"),
    }
)
"""Folders whose tests run in the process of pytest, most of them."""


def kind_of(folder: str, marks: Iterable[str]) -> str:
    """Return the kind of a file in a folder of tests, some of whose tests have these marks."""
    marks = set(marks)
    if folder == "edits" or SHARED_DEV in marks:
        return "long"
    if "browser" in marks:
        return "browser"
    return "light" if folder in LIGHT else "processes"


def in_turn(files: dict[File, str]) -> dict[File, Fraction]:
    """Return the place of each file among all, from 0 to 1, by its kind.

    The files of a kind are spread evenly over the part of the work that is theirs.
    """
    places: dict[File, Fraction] = {}
    for kind, end in ENDS.items():
        named = [file for file, its in files.items() if its == kind]
        for number, file in enumerate(named):
            places[file] = end * Fraction(2 * number + 1, 2 * len(named))
    return places
