"""The log of the server, with the methods that Hypercorn's has: HTTP/2 writes to it, too."""

from __future__ import annotations

import logging
from typing import Any

from fxtrio.server.supervise.logs.access_log import AccessLog


class ServerLogger:
    """Writes messages to ``errors``, and requests to ``lines`` if there are any."""

    CALLER = 2
    """Of `logging`: lines have the location of the caller, since the rate limit depends on it."""

    def __init__(self, errors: logging.Logger, lines: AccessLog | None) -> None:
        self._errors = errors
        self.lines = lines

    async def critical(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log why the server ends."""
        self._errors.critical(message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def error(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log a defect; ``exc_info`` is its exception."""
        self._errors.error(message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def warning(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log what an operator should change."""
        self._errors.warning(message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def info(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log what may interest."""
        self._errors.info(message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def debug(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log what explains a defect."""
        self._errors.debug(message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Log a defect, with the exception that is being handled."""
        self._errors.exception(message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def log(self, level: int, message: str, *args: Any, **kwargs: Any) -> None:
        """Log with any level."""
        self._errors.log(level, message, *args, **{"stacklevel": self.CALLER, **kwargs})

    async def access(self, request: Any, response: Any, request_time: float) -> None:
        """Log one request; ``response`` is None if it had none."""
        if self.lines is not None:
            status = sent = None
            if response is not None:
                status, headers = response["status"], response.get("headers")
                sent = None if headers else 0  # those without any are Hypercorn's own
                for name, value in headers or ():
                    if name.lower() == b"content-length" and value.isdigit():
                        sent = int(value)
            self.lines.note(request, status, sent, request_time)

    def close(self) -> None:
        """Write pending lines."""
        if self.lines is not None:
            self.lines.flush()
