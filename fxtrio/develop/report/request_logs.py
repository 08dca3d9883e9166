"""What the process that serves tells browsers: what it logs of their requests. Runs in the child.

A browser names the requests that are its own by their ids, which nobody else learns, and gets
what has been logged of them, and what will be. All learn which code is new.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.context import add_request_id
from fxtrio.develop.report.overlay_errors import overlay_error
from fxtrio.tracebacks import logged_error

_MOST = 300  # records; a browser asks for those of its document some tenths of a second later
_FOLLOWED = 200  # requests of one browser
_WAITING = 100  # messages for one browser; further ones are dropped
_OVER_PAGE = "fx.serve"
"""The logger of what goes wrong with loaders, actions and renders."""

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))


@attrs.define(eq=False)
class Follower:
    """One browser: the requests that it has named, and messages that wait for it."""

    _records: Records
    _send: trio.MemorySendChannel[dict[str, Any]]
    _ids: dict[str, None] = attrs.field(factory=dict)

    def follow(self, request_id: str) -> None:
        """Offer the records of a request, present and later ones."""
        self._ids[request_id] = None
        if len(self._ids) > _FOLLOWED:
            del self._ids[next(iter(self._ids))]
        for record in tuple(self._records.latest):
            if record["request"] == request_id:
                self.offer(record)

    def offer(self, record: dict[str, Any]) -> None:
        """Take a record, if it is of a request that was named; never waits."""
        if record["request"] in self._ids:
            self.say("fx:logged", record)

    def say(self, event: str, data: dict[str, Any]) -> None:
        """Tell the browser something that it can do without; never waits."""
        with suppress(trio.WouldBlock):  # records stand in the terminal
            self._send.send_nowait({"type": "custom", "event": event, "data": data})


class Records(logging.Handler):
    """Keeps the last records of requests: ``{request, level, text, shown}``.

    ``shown`` is an `OverlayProblem`, None for messages that are no defect of a page; ``text`` is
    "" unless browsers shall print it.
    """

    def __init__(self, root: Path) -> None:
        """``root`` is the project folder."""
        super().__init__()
        self.addFilter(add_request_id)
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        self.lines = False
        """Whether browsers get the text: the setting ``dev.console``."""

        self.latest: deque[dict[str, Any]] = deque(maxlen=_MOST)
        self._root = root
        self._followers: set[Follower] = set()
        self._token: trio.lowlevel.TrioToken | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take log records for as long as the block lasts. Called within the event loop."""
        self._token = trio.lowlevel.current_trio_token()
        logging.getLogger().addHandler(self)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self)

    @contextmanager
    def follower(self) -> Iterator[tuple[Follower, trio.MemoryReceiveChannel[dict[str, Any]]]]:
        """Give a browser its place, for as long as the block lasts."""
        send, receive = trio.open_memory_channel[dict[str, Any]](_WAITING)
        follower = Follower(self, send)
        self._followers.add(follower)
        try:
            with send, receive:
                yield follower, receive
        finally:
            self._followers.discard(follower)

    def emit(self, record: logging.LogRecord) -> None:  # the base class's name
        """Take a record, on any thread."""
        request = getattr(record, "request_id", "-")
        if request == "-" or self._token is None:
            return
        level = next((name for least, name in _LEVELS if record.levelno >= least), "debug")
        error = logged_error(record) if record.name == _OVER_PAGE else None
        problem = None
        if error is not None and record.levelno >= logging.ERROR:
            problem = overlay_error(error, record.getMessage(), self._root)
            problem["request"] = request
        text = self.format(record) if self.lines else ""
        if problem is not None or text:
            entry = {"request": request, "level": level, "text": text, "shown": problem}
            self._token.run_sync_soon(self._keep, entry)

    def tell_swapped(self, sources: Iterable[str], *, at_once: bool) -> None:
        """Tell browsers whose server halves have been replaced, before Node does.

        They can load the new data, and show it ``at_once``, or when they hear of everything else.
        """
        for follower in tuple(self._followers):
            follower.say("fx:swapped", {"sources": list(sources), "atOnce": at_once})

    def _keep(self, entry: dict[str, Any]) -> None:
        self.latest.append(entry)
        for follower in tuple(self._followers):
            follower.offer(entry)
