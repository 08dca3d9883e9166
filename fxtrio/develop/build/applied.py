"""What comes of changed files of a project that is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from fxtrio.develop.processes.messages import Swap, Swapped

SwapCode = Callable[[Swap], Awaitable[Swapped]]


@attrs.frozen(kw_only=True)
class Applied:
    """What came of a change."""

    restart: str = ""
    """Why the process that serves must be restarted; "" when it need not."""

    problems: tuple[str, ...] = ()
    """Problems, for the terminal."""

    used: bool = True
    """Whether any of the files is one that the project is made of."""

    modules: int = 0
    """How many Python modules were run."""
