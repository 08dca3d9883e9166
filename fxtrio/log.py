"""The log on standard error: one format for the server, the framework and the application.

Every record is one line, or begins with one that nothing a visitor sends can imitate:
what follows it is indented. As JSON every record is a line.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from typing import Literal

import msgspec

from fxtrio.context import add_request_id

LogFormat = Literal["console", "json"]


def open_log(log_format: LogFormat, level: str) -> None:
    """Write records of ``level`` and above to standard error.

    An application that has set up logging by itself, when it was imported, keeps its
    own way: it gets the records of fxtrio, from ``level`` on, and writes them.
    """
    root = logging.getLogger()
    logging.getLogger("fx").setLevel(level)
    if root.handlers:
        return
    root.addHandler(_handler(log_format))
    root.setLevel(level)


def log_early(record: logging.LogRecord, log_format: LogFormat, level: str) -> None:
    """Write a record before `open_log`, unless the application has set up logging already."""
    logger = logging.getLogger(record.name)
    if not logging.getLogger().handlers:
        if record.levelno >= logging.getLevelNamesMapping()[level]:
            _handler(log_format).handle(record)
    elif logger.isEnabledFor(record.levelno):
        logger.handle(record)


def _handler(log_format: LogFormat) -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ConsoleFormatter() if log_format == "console" else JsonFormatter())
    handler.addFilter(add_request_id)
    return handler


def open_own_log() -> None:
    """Write records of ``fx`` to standard error, under a server that sets up no log for them.

    What the application sets up, before or later, takes their place: a handler of the
    logger ``fx``, or of the root logger.
    """
    own = logging.getLogger("fx")
    if own.handlers:
        return
    handler = _handler("console")
    handler.addFilter(_nobody_else_writes)
    own.addHandler(handler)
    if own.level == logging.NOTSET and logging.getLogger().level == logging.WARNING:
        own.setLevel(logging.INFO)  # as under `fx serve`; WARNING is the root's when nobody chose


def _nobody_else_writes(record: logging.LogRecord) -> bool:
    return not logging.getLogger().handlers and len(logging.getLogger("fx").handlers) == 1


_UNPRINTABLE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
"""Control characters (C0 but for tab and line feed, C1) and those that turn the direction of
text: a terminal obeys them, and messages quote what visitors have sent."""

_COLOURS = r"(\x1b\[[0-9;]*+m)|[^\x1b]++|\x1b"


def printable(text: str) -> str:
    """Return a text for terminals: what these would obey is written as ``\\x1b``."""
    if text.isprintable():  # most are
        return text
    return re.sub(_UNPRINTABLE, lambda found: ascii(found[0])[1:-1], text)


def printable_in_colours(text: str) -> str:
    """Return the same of what another program prints, with the colours that it has chosen."""
    return re.sub(_COLOURS, lambda found: found[1] or printable(found[0]), text)


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
        return printable(super().format(record)).rstrip("\n").replace("\n", "\n    ")


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
