"""What is known of a library that is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import attrs


@attrs.frozen
class Work:
    """What a library is asked for."""

    call: Callable[[], Awaitable[object]]
    """Is cancelled in the middle."""

    begun: Callable[[int], Awaitable[object]]
    """Waits until so many calls have been in the middle, counted from the first."""

    check: Callable[[], Awaitable[object]]
    """Shows that the library still works, and raises otherwise."""

    quiet: Callable[[], Awaitable[bool]]
    """Tells whether nothing of the calls is left on the other side."""


Library = Callable[[], AbstractAsyncContextManager[Work]]
