"""Commands to Redis, on connections that are thrown away when it does not answer.

coredis goes on using a connection on which a command has timed out, and its pool of 64 loses a
place with each command that is cancelled while it connects, and with each connection that breaks
while a command has it; without a place, commands wait for ever. So commands are run in tasks that
nobody else cancels, one that takes too long costs the whole pool, and after one whose connection
has broken the next ones begin with a new pool.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from typing import Any, Generic, TypeVar

import anyio
import attrs
import coredis
import outcome
import trio
from anyio import connect_tcp
from anyio.abc import ByteStream, SocketAttribute
from coredis.connection import TCPConnection
from coredis.exceptions import ConnectionError as ConnectionBroken
from coredis.exceptions import RedisError
from coredis.retry import NoRetryPolicy

from fxtrio.config import RealtimeConfig
from fxtrio.limiters import limiter_of

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
"""Errors of a Redis that is unreachable, hangs, or is still loading."""

_SILENT = (TimeoutError, trio.TooSlowError)
_BROKEN = (ConnectionBroken, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


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
class _Call(Generic[T]):
    """A command under way."""

    command: Callable[[Client], Awaitable[T]]
    outcome: outcome.Outcome[T] = attrs.field(
        factory=lambda: outcome.Error(OSError("the connections to Redis were given up"))
    )
    done: trio.Event = attrs.field(factory=trio.Event)


@attrs.define(eq=False)
class _Commander:
    """A client, and its running commands. Created by `_keep_open`."""

    client: Client
    limit: float
    nursery: trio.Nursery
    """Ends with the client, and all commands with both."""

    usable: bool = True
    _calls: int = 0

    async def run(self, call: _Call[Any]) -> None:
        """Run a command, even if its caller no longer waits."""
        self._calls += 1
        try:
            with trio.fail_after(self.limit):
                call.outcome = outcome.Value(await call.command(self.client))
        except _SILENT as error:
            call.outcome = outcome.Error(error)
            self.end()
        except _BROKEN as error:
            call.outcome = outcome.Error(error)
            self.usable = False
        except Exception as error:
            call.outcome = outcome.Error(error)
        finally:
            call.done.set()
            self._calls -= 1
            if not self.usable and not self._calls:
                self.end()

    def end(self) -> None:
        """Discard the client and its running commands."""
        self.usable = False
        self.nursery.cancel_scope.cancel()


@attrs.define(eq=False)
class RedisCommands:
    """Runs commands. Created by `open_commands`; valid until its block ends."""

    _server: RedisServer
    _nursery: trio.Nursery
    _commander: _Commander | None = None
    _opening: trio.Lock = attrs.field(factory=trio.Lock)

    async def ask(self, command: Callable[[Client], Awaitable[T]]) -> T:
        """Call ``command`` with a client and return its result. Raises one of `UNREACHABLE`.

        Cancelling the caller does not cancel the command.
        """
        commander = await self._usable()
        call = _Call(command)
        commander.nursery.start_soon(commander.run, call)
        await call.done.wait()
        return call.outcome.unwrap()

    async def _usable(self) -> _Commander:
        while self._commander is None or not self._commander.usable:
            async with self._opening:
                if self._commander is None or not self._commander.usable:
                    self._commander = await self._nursery.start(_keep_open, self._server)
        return self._commander


async def _keep_open(server: RedisServer, *, task_status: trio.TaskStatus[_Commander]) -> None:
    client = server.new_client()
    async with client, trio.open_nursery() as nursery:
        commander = _Commander(client, server.limit, nursery)
        try:
            task_status.started(commander)
            await trio.sleep_forever()
        finally:
            commander.usable = False


@asynccontextmanager
async def open_commands(server: RedisServer) -> AsyncIterator[RedisCommands]:
    """Give commands to a Redis server for as long as the block lasts."""
    async with trio.open_nursery() as nursery:
        yield RedisCommands(server, nursery)
        nursery.cancel_scope.cancel()


def _watched_by_the_system(settings: RealtimeConfig) -> dict[int, int | bytes]:
    """Return the socket options that detect a lost peer; 0 leaves one out."""
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


# coredis resolves names in trio's default threads, which belong to the application: while it
# occupies all of them, a lost connection to a named host could not be reestablished.
class OwnThreadsConnection(TCPConnection):
    """A coredis connection with its own name resolution."""

    async def _connect(self) -> ByteStream:
        """Connect to the first address of the host that takes it; each has a part of the time.

        Raises OSError, and trio.TooSlowError.
        """
        host, port = self.location.host, self.location.port
        limit = self._connect_timeout
        assert limit is not None  # `RedisServer` sets one
        with trio.fail_after(limit):
            addresses = await _look_up(host, port)
        failed: Exception = OSError(f"{host} has no address")
        for address in addresses:
            try:
                with trio.fail_after(limit / len(addresses)):
                    stream = await _open(address, port, host, self._ssl_context)
            except (OSError, trio.TooSlowError) as error:
                failed = error
                continue
            self._watch_over(stream)
            return stream
        raise failed

    def _watch_over(self, stream: ByteStream) -> None:
        raw = stream.extra(SocketAttribute.raw_socket)
        if self._socket_keepalive:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in self._socket_keepalive_options.items():
                raw.setsockopt(socket.IPPROTO_TCP, option, value)


async def _open(address: str, port: int, host: str, tls: ssl.SSLContext | None) -> ByteStream:
    if tls is None:
        return await connect_tcp(address, port)
    return await connect_tcp(
        address,
        port,
        ssl_context=tls,
        tls_hostname=host,
        tls_standard_compatible=False,  # Redis ends without a farewell
    )


async def _look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host in the system's order. Raises OSError."""
    with suppress(ValueError):
        return [str(ip_address(host))]
    found = await trio.to_thread.run_sync(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM),
        abandon_on_cancel=True,  # which nothing else ends
        limiter=limiter_of("names"),
    )
    return [*dict.fromkeys(str(address[0]) for *_, address in found)]
