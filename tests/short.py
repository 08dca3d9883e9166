"""How much the tests try, by the environment variable ``FXTRIO_TESTS``.

``short`` is what runs on a second Python: every test, but few examples and cases of each;
``long`` is what runs at night: as many examples as a test has time for.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

SHORT = os.environ.get("FXTRIO_TESTS") == "short"
LONG = os.environ.get("FXTRIO_TESTS") == "long"
FEW = 1
"""So many parametrized cases of each test run in short, spread over all of them."""


def amount(usual: int, *, short: int | None = None, long: int) -> int:
    """Return how many examples a test shall try (count)."""
    return long if LONG else short if SHORT and short is not None else usual


def few_cases(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return `FEW` cases of each test function, and all of those marked ``each_python``."""
    cases: dict[str, list[pytest.Item]] = {}
    chosen: set[pytest.Item] = set()
    for item in items:
        if item.get_closest_marker("each_python"):
            chosen.add(item)
        else:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for its in cases.values():
        chosen.update(its[:: -(-len(its) // FEW)])
    return chosen


def unnamed_long(
    items: Iterable[pytest.Item], arguments: Collection[str], folder: Path
) -> set[pytest.Item]:
    """Return the tests marked ``nightly`` that none of the ``arguments`` names.

    They are those of a command in ``folder``. One names a test after ``::``, not by its file.
    """
    parts = [argument.partition("::") for argument in arguments]
    named = [(folder / file, name) for file, _, name in parts if name]
    return {
        item
        for item in items
        if item.get_closest_marker("nightly") and not any(_is_named(item, *one) for one in named)
    }


def _is_named(item: pytest.Item, file: Path, name: str) -> bool:
    """Return whether ``name``, which may be that of a class or of all cases, names ``item``."""
    its = item.nodeid.partition("::")[2]
    return item.path.resolve() == file.resolve() and (
        its == name or its.startswith((f"{name}[", f"{name}::"))
    )
