"""Paths that were checked in the text in front of them; the work for one is bounded."""

from __future__ import annotations

import pytest

from fxtrio.tools.types.ui.source import checked_paths
from fxtrio.tools.types.ui.source.checked_paths import is_guarded


def pairs_of(text: str) -> dict[int, int]:
    opened: list[int] = []
    pairs: dict[int, int] = {}
    for index, char in enumerate(text):
        if char in "([{":
            opened.append(index)
        elif char in ")]}":
            pairs[opened.pop()] = index
    return pairs


def guarded(text: str) -> bool:
    """Whether the last ``a.b`` of a text is."""
    return is_guarded(text, pairs_of(text), text.rindex("a.b"), "a.b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const q = a.b;\nq && f(a.b.c);", True),
        ("const q = a.b;\nf(a.b.c);", False),
        ("if (a.b) { f(() => a.b.c); }", True),
        ("if  (a.b) { } f(() => a.b.c);", False),
        ("if (!a.b) { return; } f(() => a.b.c);", True),
        ("notif (a.b) { f(() => a.b.c); }", False),
        ("const q = a.b;\n" * 500 + "q && f(a.b.c);", True),
        ("f(a.b);\n" * 500 + "if (a.b) { f(() => a.b.c); }", True),
        ("if (a.b) { " + "f((x) => x);\n" * 150 + "f(() => a.b.c); }", True),
    ],
)
def test_a_check_is_found(text: str, expected: bool) -> None:
    assert guarded(text) is expected


@pytest.mark.parametrize(
    "line",
    [
        "const q = a.b;\n",
        "const q = a.b;\nf(q);\n",
        "(a.b && x);\n",
        "f(() => a.b);\n",
        "if (a.b) { f(() => 1) }\n",
        '("b" in a) && {};\n',
    ],
)
def test_few_of_many_places_are_looked_at(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    looked_at = 0
    around = checked_paths._around

    def counted(pairs: dict[int, int], offset: int) -> frozenset[int]:
        nonlocal looked_at
        looked_at += 1
        return around(pairs, offset)

    monkeypatch.setattr(checked_paths, "_around", counted)
    guarded(line * 1000 + "g(a.b.c);")
    assert looked_at < 1000
