"""How much Python has to do for a text, counted: no clock is involved."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import _lru_cache_wrapper, cache
from types import FrameType
from typing import Any

LONG = 500
"""Characters from which on a text that a function gets is what was sent, and not a word of it."""

MOST_STEPS = 3_000_000
"""Steps after which nobody waits for the end."""


class TooMuch(BaseException):
    """There was too much work: application code must not catch it."""


class Work:
    """Counts calls and lines of Python, and calls of C; and notes which functions got long text.

    ``names`` are the parameters of text of each function, by code object.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.met: set[str] = set()

    def of(self, parse: Callable[[bytes], object], body: bytes) -> int:
        """Return the steps that ``parse`` takes for ``body``, whatever it raises."""
        for remembered in _caches():
            remembered.cache_clear()
        self.steps = 0
        traced, profiled = sys.gettrace(), sys.getprofile()
        sys.setprofile(self._count)
        sys.settrace(self._count)
        try:
            with suppress(Exception, TooMuch):
                parse(body)
        finally:
            sys.settrace(traced)
            sys.setprofile(profiled)
        return self.steps

    def _count(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooMuch
        if event == "call":
            self._note(frame)
        return self._count

    def _note(self, frame: FrameType) -> None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("fxtrio."):
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        values = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
        if any(map(_is_long, values)):
            self.met.add(f"{module}:{code.co_qualname}")


@cache
def _caches() -> list[Any]:
    modules = [module for name, module in sys.modules.items() if name.startswith("fxtrio.")]
    values = [value for module in modules for value in vars(module).values()]
    return [value for value in values if isinstance(value, _lru_cache_wrapper)]


def _is_long(value: object) -> bool:
    if isinstance(value, str | bytes | bytearray | memoryview):
        return len(value) >= LONG
    if isinstance(value, list | tuple) and value:
        if isinstance(value[0], tuple):
            return any(map(_is_long, value[:3]))
        whole = sum(len(each) for each in value if isinstance(each, str | bytes))
        return whole >= LONG
    return False
