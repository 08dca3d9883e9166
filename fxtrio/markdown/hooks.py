"""Application hooks: called whether sync or async, their answers checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from fxtrio.callables import awaitable
from fxtrio.errors import FxtrioError


class MarkdownHookMistaken(FxtrioError):
    """A Markdown hook returned something else than a str or None."""

    def __init__(self, place: str, value: object) -> None:
        super().__init__(
            f"{place}: returned {value!r:.80} ({type(value).__name__}). "
            "Return a str to serve, or None to decline."
        )
        self.place = place
        self.value = value


@attrs.frozen
class MarkdownHook:
    """A ``to_markdown``, ``wrap_markdown`` or ``llms_txt`` of the application."""

    place: str
    """Where it stands, for errors: ``pages/llms.py: to_markdown()``."""

    function: Callable[..., Awaitable[Any]] = attrs.field(converter=awaitable)
    """Made of one that may be plain, and then runs in a thread."""

    async def ask(self, *arguments: object) -> str | None:
        """Return its text, or None when it declines.

        Whatever it raises passes unchanged: a `LoaderError` keeps its status, all else
        is the caller's 500. Raises MarkdownHookMistaken when it returns anything else.
        """
        answer = await self.function(*arguments)
        if answer is None or isinstance(answer, str):
            return answer
        raise MarkdownHookMistaken(self.place, answer)
