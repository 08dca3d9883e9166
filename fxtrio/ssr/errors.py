"""Why a render did not come, and why rendering did not begin."""

from __future__ import annotations

import re
from pathlib import Path

from fxtrio.errors import Busy, FxtrioError, PlacedError

_PLACE = r"([^:]++):(\d++):(\d++)"
"""A file in a stack of JavaScript. Names of folders may have blanks and brackets."""


class FrameSizeInvalid(PlacedError):
    """A frame of the SSR wire has an invalid length; the connection is closed."""

    remedy = "Let the loader return less data, or the page render less HTML"

    def __init__(self, length: int, limit: int) -> None:
        cause = f"its length is {length} bytes, not between the header's and {limit}"
        super().__init__("SSR frame", cause)
        self.length = length
        self.limit = limit


class RenderError(FxtrioError):
    """The base of everything that can keep a page from being rendered on the server."""


class RenderFailed(RenderError):
    """A component threw while its page was rendered.

    ``name`` is the JavaScript class, ``stack`` the JavaScript stack with the lines of the
    `.fxl` files (empty when it is not known).
    """

    def __init__(self, message: str, stack: str = "", name: str = "Error") -> None:
        super().__init__(f"{name}: {message}")
        self.message = message
        self.stack = stack
        self.name = name


def place_in_stack(stack: str, root: Path) -> tuple[str, int, int]:
    """Return the innermost place of a JavaScript stack in the project folder ``root``.

    That is an absolute path, line and column, both from 1; ``("", 0, 0)`` for no place.
    """
    for line in stack.splitlines():
        start = line.find(f"{root}/")
        found = re.match(_PLACE, line[start:]) if start >= 0 else None
        if found is not None and "/node_modules/" not in found[1]:
            return found[1], int(found[2]), int(found[3])
    return "", 0, 0


class RenderTimeout(RenderError, PlacedError):
    """A page was rendered for longer than `timeouts.render`; its worker was killed."""

    remedy = "Look for an endless loop, or raise timeouts.render"

    def __init__(self, page: int, timeout: float) -> None:
        cause = f"its render did not end within {timeout:g} s, so its worker was replaced"
        super().__init__(f"page {page}", cause)
        self.page = page
        self.timeout = timeout


class RenderCrashed(RenderError, PlacedError):
    """The render of a page ended its worker; ``cause`` says how."""

    remedy = "Look for process.exit() or unbounded memory in its components"

    def __init__(self, page: int, cause: str) -> None:
        super().__init__(f"page {page}", f"the worker that rendered it {cause}")
        self.page = page
        self.cause = cause


class SsrBusy(RenderError, PlacedError, Busy):
    """`ssr.maxPending` renders are waiting or running.

    ``retry_after`` is the time after which a new attempt makes sense (seconds, at least 1).
    """

    def __init__(self, pending: int, retry_after: float) -> None:
        remedy = f"Try again in {retry_after:g} s, or raise ssr.workers or ssr.maxPending"
        super().__init__("SSR pool", f"{pending} renders are pending", remedy)
        self.pending = pending
        self.retry_after = retry_after


class SsrDown(RenderError, PlacedError):
    """No SSR worker is alive, and none will be at once; ``cause`` says why."""

    def __init__(self, cause: str) -> None:
        super().__init__("SSR pool", cause)


class SsrStartFailed(PlacedError):
    """An SSR worker did not come up. ``log`` holds the last lines that it wrote."""

    def __init__(self, bundle: Path, cause: str, log: str = "") -> None:
        remedy = "Its output is below" if log else ""
        super().__init__(str(bundle), f"the SSR worker {cause}", remedy, output=log)
        self.bundle = bundle
        self.cause = cause
        self.log = log
