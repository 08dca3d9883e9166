"""The last lines of the log, by request, for agents. Runs in the process that serves.

Only what the framework and the application log is in it: no headers, no bodies, no queries.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from fxtrio.context import add_request_id
from fxtrio.tracebacks import logged_error, place_in_application

MOST = 500
"""Lines that are remembered (count)."""

_FORMAT = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


@attrs.frozen
class LogLine:
    """A line, with the traceback if it has one."""

    request: str
    """The id of the request, or "-"."""

    text: str
    is_error: bool
    place: str
    """The file and line of an error, ``pages/index.fxl:4 load``; "" if there is none."""


class RecentLog(logging.Handler):
    """Remembers the last `MOST` lines; the oldest are forgotten for new ones."""

    def __init__(self, root: Path) -> None:
        """``root`` is the project folder, from which places are named."""
        super().__init__(logging.INFO)
        self.addFilter(add_request_id)
        self.setFormatter(_FORMAT)
        self._root = root
        self.lines: deque[LogLine] = deque(maxlen=MOST)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take records for as long as the block lasts."""
        logging.getLogger().addHandler(self)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:  # the base class's name
        """Take a record, on any thread."""
        error = logged_error(record)
        request = str(getattr(record, "request_id", "-"))
        is_error = record.levelno >= logging.ERROR
        place = "" if error is None else place_in_application(error, self._root)
        self.lines.append(LogLine(request, self.format(record), is_error, place))
