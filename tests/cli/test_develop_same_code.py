"""A function is the same as long as its own text is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from fxtrio.develop.reload.hot_reload import is_same

HANDLER = "async def websocket(ws, limit=3):\n    inner = [one for one in ws]\n    return inner\n"


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "pages/index.fxl", "exec"), names)
    return names["websocket"]


@pytest.mark.parametrize("text", [HANDLER, f"\n\nX = 1\n{HANDLER}", f"# more\n{HANDLER}Y = 2\n"])
def test_its_place_does_not_matter(text: str) -> None:
    assert is_same(function(HANDLER), function(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [("limit=3", "limit=4"), ("for one in ws]", "for one in [ws]]"), ("return inner", "return")],
)
def test_any_part_of_the_text_does(old: str, new: str) -> None:
    assert not is_same(function(HANDLER), function(HANDLER.replace(old, new)))


def test_wrapped_functions_are_compared_as_well() -> None:
    def wrapped(inner: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(inner)
        def outer(ws: object) -> object:
            return inner(ws)

        return outer

    other = function(HANDLER.replace("inner]", "inner, 1]").replace("return inner", "return 1"))

    assert is_same(wrapped(function(HANDLER)), wrapped(function(HANDLER)))
    assert not is_same(wrapped(function(HANDLER)), wrapped(other))


def test_removed_code_is_not_the_same() -> None:
    assert not is_same(function(HANDLER), None)
    assert is_same(None, None)
