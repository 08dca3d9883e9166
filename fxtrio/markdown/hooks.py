"""Application hooks: called whether sync or async, their answers checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxtrio.callables import awaitable
from fxtrio.errors import ResultInvalid


class MarkdownHookMistaken(ResultInvalid):
    """A Markdown hook returned something else than a str or None."""

    remedy = "Return a str to serve, or None to decline"


class MarkdownHook:
    """A ``to_markdown``, ``wrap_markdown`` or ``llms_txt`` of the application."""

    def __init__(self, place: str, function: Callable[..., Any]) -> None:
        """``place`` is where it stands, for errors: ``pages/llms.py: to_markdown()``.

        A plain ``function`` runs in a thread.
        """
        self._place = place
        self._ask = awaitable(function)

    async def ask(self, *arguments: object) -> str | None:
        """Return its text, or None when it declines.

        Whatever it raises passes unchanged: a `LoaderError` keeps its status, all else
        is the caller's 500. Raises MarkdownHookMistaken when it returns anything else.
        """
        answer = await self._ask(*arguments)
        if answer is None or isinstance(answer, str):
            return answer
        raise MarkdownHookMistaken(self._place, answer)
