"""The log on standard error: one form for the server, the framework and the application.

Every record is one line, or begins with one that nothing a visitor sends can imitate:
what follows it is indented. In the form of JSON every record is a line.
"""

from __future__ import annotations

import logging
import sys
import time

import msgspec

from fxtrio.context import add_request_id
from fxtrio.supervise.access import Form


def open_log(form: Form, level: str) -> None:
    """Write records of ``level`` and above to standard error.

    An application that has set up logging by itself, when it was imported, keeps its
    own way: it gets the records of fxtrio, from ``level`` on, and writes them.
    """
    root = logging.getLogger()
    logging.getLogger("fx").setLevel(level)
    if root.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ConsoleFormatter() if form == "console" else JsonFormatter())
    handler.addFilter(add_request_id)
    root.addHandler(handler)
    root.setLevel(level)


class ConsoleFormatter(logging.Formatter):
    """``[time] [process] [level] message [request id]``; further lines are indented."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] [%(process)d] [%(levelname)s] %(message)s")
        self.default_time_format = "%Y-%m-%d %H:%M:%S %z"
        self.default_msec_format = ""

    def formatMessage(self, record: logging.LogRecord) -> str:  # the base class's name
        """Return the record without its traceback."""
        line = super().formatMessage(record)
        request_id = getattr(record, "request_id", "-")
        if request_id == "-":
            return line
        first, newline, rest = line.partition("\n")
        return f"{first} [request {request_id}]{newline}{rest}"

    def format(self, record: logging.LogRecord) -> str:
        """Return the whole record."""
        return super().format(record).rstrip("\n").replace("\n", "\n    ")


class JsonFormatter(logging.Formatter):
    """An object per record: ``time, level, logger, message, process``, and, where there
    are such, ``request`` (its id) and ``traceback``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the whole record."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        request_id = getattr(record, "request_id", "-")
        if request_id != "-":
            line["request"] = request_id
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()
