"""The log of a server that also sends Hypercorn's metrics to statsd."""

from __future__ import annotations

import logging

import trio
from hypercorn.config import Config
from hypercorn.logging import Logger
from hypercorn.statsd import StatsdLogger

from fxtrio.server.supervise.logs.access_log import AccessLog
from fxtrio.server.supervise.logs.server_log import ServerLogger


class _OwnLog(ServerLogger, Logger):
    """Stands where Hypercorn's metrics expect its log."""


class ServerStatsdLogger(StatsdLogger, _OwnLog):
    """Hypercorn's own class for trio would import HTTP/2 with it."""

    CALLER = ServerLogger.CALLER + 1  # Hypercorn's method stands between

    def __init__(
        self, errors: logging.Logger, lines: AccessLog | None, *, host: str, prefix: str
    ) -> None:
        """``host`` is ``host:port``; ``prefix`` begins the name of each metric."""
        ServerLogger.__init__(self, errors, lines)
        self.dogstatsd_tags = Config.dogstatsd_tags
        self.prefix = f"{prefix.removesuffix('.')}." if prefix else ""
        self._address = tuple(host.rsplit(":", 1))
        self._socket = trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM)

    def close(self) -> None:
        """Write pending lines, and send no more."""
        super().close()
        self._socket.close()

    async def _socket_send(self, message: bytes) -> None:
        await self._socket.sendto(message, self._address)
