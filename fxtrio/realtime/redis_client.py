"""Commands to Redis, on connections that are thrown away when it does not answer.

coredis goes on using a connection on which a command has timed out, and its pool loses a place
with each command that is cancelled while it connects. So a command that takes too long costs the
whole pool, and the next one begins with a new one.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import attrs
import coredis
import trio
from coredis.exceptions import RedisError
from coredis.retry import NoRetryPolicy

from fxtrio.config import RealtimeConfig
from fxtrio.realtime.redis_connection import OwnThreadsConnection

T = TypeVar("T")
Client = coredis.Redis[bytes]

UNREACHABLE = (
    RedisError,
    OSError,
    TimeoutError,
    trio.TooSlowError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
"""What is raised when Redis is gone, hangs, or is still loading."""

_SILENT = (TimeoutError, trio.TooSlowError)


@attrs.frozen
class RedisServer:
    """How a server is connected to, and how long it has."""

    url: str
    """As coredis takes it."""

    settings: RealtimeConfig
    answer_timeout: float
    """Longest wait for the response to a command (seconds)."""

    @property
    def limit(self) -> float:
        """Longest wait for a command that may have to connect first (seconds)."""
        return self.answer_timeout + self.settings.connect_timeout

    def new_client(self) -> Client:
        """Return a client with a pool of its own, which connects when it is used."""
        options: dict[str, Any] = {}
        by_network = not self.url.startswith("unix")
        if by_network:
            watched = _watched_by_the_system(self.settings)
            options = {"socket_keepalive": True, "socket_keepalive_options": watched}
        client = coredis.Redis.from_url(
            self.url,
            retry_policy=NoRetryPolicy(),
            stream_timeout=self.answer_timeout,
            connect_timeout=min(self.settings.connect_timeout, self.answer_timeout),
            **options,
        )
        if by_network:  # which a URL cannot say
            client.connection_pool.connection_class = OwnThreadsConnection
        return client


@attrs.define(eq=False)
class RedisCommands:
    """Made by `open_commands`; valid until its block ends."""

    _server: RedisServer
    _nursery: trio.Nursery
    _client: Client | None = None
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _opening: trio.Lock = attrs.field(factory=trio.Lock)

    async def ask(self, command: Callable[[Client], Awaitable[T]]) -> T:
        """Return what ``command`` does with a client. Raises one of `UNREACHABLE`."""
        client = self._client or await self._open()
        try:
            with trio.fail_after(self._server.limit):
                return await command(client)
        except _SILENT:
            if client is self._client:  # else another command has done it
                self._client = None
                self._scope.cancel()
            raise

    async def _open(self) -> Client:
        async with self._opening:
            if self._client is None:
                client = self._server.new_client()
                self._scope = await self._nursery.start(_keep_open, client)
                self._client = client
            return self._client


async def _keep_open(client: Client, *, task_status: trio.TaskStatus[trio.CancelScope]) -> None:
    with trio.CancelScope() as scope:
        async with client:
            task_status.started(scope)
            await trio.sleep_forever()


@asynccontextmanager
async def open_commands(server: RedisServer) -> AsyncIterator[RedisCommands]:
    """Give commands to a Redis server for as long as the block lasts."""
    async with trio.open_nursery() as nursery:
        yield RedisCommands(server, nursery)
        nursery.cancel_scope.cancel()


def _watched_by_the_system(settings: RealtimeConfig) -> dict[int, int | bytes]:
    """Return the options of a socket whose other side may go without a word; 0 leaves one out."""
    wanted = {
        "TCP_KEEPIDLE": settings.keepalive_idle,
        "TCP_KEEPINTVL": settings.keepalive_interval,
        "TCP_KEEPCNT": settings.keepalive_count,
        "TCP_USER_TIMEOUT": round(1000 * settings.tcp_user_timeout),
    }
    return {
        getattr(socket, name): value
        for name, value in wanted.items()
        if value and hasattr(socket, name)  # each system has some of them
    }
