"""A short notation for a split: which lines are in which half."""

from __future__ import annotations

from itertools import groupby

from fxtrio.compile.split.halves import Sections


def halves_of(sections: Sections) -> str:
    """Return lines such as ``python 1-4 6``; blank lines are left out."""
    marks = [
        ("both" if python and ui else "python" if python else "ui", number)
        for number, (python, ui) in enumerate(
            zip(sections.python.split("\n"), sections.ui.split("\n"), strict=True), 1
        )
        if python.strip() or ui.strip()
    ]
    lines = ""
    for half, group in groupby(marks, key=lambda mark: mark[0]):
        numbers = [number for _, number in group]
        lines += f"{half} {_ranges(numbers)}\n"
    return lines


def _ranges(numbers: list[int]) -> str:
    runs: list[str] = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        runs.append(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}")
    return " ".join(runs)
