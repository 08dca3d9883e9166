"""Request bodies as they arrive: limited for the whole process, spooled to disk when large."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, TypeVar, TypeVarTuple

import trio
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from fxtrio.asgi_extensions import WholeResponse
from fxtrio.clients import public_network_of
from fxtrio.errors import BodiesFull, BodyTooLarge
from fxtrio.limiters import limiter_of
from fxtrio.serve.request.bodies.forms import parse_form

IN_MEMORY = 1024**2
"""Largest body that stays in memory; a larger one is written to disk (bytes)."""

UNCOUNTED = 16 * 1024
"""Each body has this much outside the budget: logins work while uploads fill it (bytes)."""

LARGE = 64 * 1024
"""Bodies above this are parsed and validated in a thread (bytes)."""

SHARE = 0.25
"""Share of the budget for one public address that has more than one body."""

_WRITTEN_AT_ONCE = 256 * 1024
THREADS = 2
"""More threads would only wait for each other: parsing is Python (count)."""

log = logging.getLogger("fx.serve")

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Bodies:
    """The budget of one process for all request bodies, and the threads that parse them.

    ``capacity`` is in bytes. A request beyond it raises BodiesFull. So does one from a public
    address whose other bodies use `SHARE` of it: no address can block the others.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.shares: Counter[str] = Counter()
        """Bytes of each public address, IPv6 ones by their network."""

        self.threads = trio.CapacityLimiter(THREADS)

    def require_room(self, size: int, client: str = "", *, own: int = 0) -> None:
        """Raise BodiesFull when ``size`` bytes more do not fit.

        ``own`` are those that their body has already; ``client`` is "" for one without a share.
        """
        if self.used + size > self.capacity:
            raise BodiesFull
        held = self.shares[client] if client else 0
        # One body may be of any size that fits: a share is for clients that send several at once.
        if held > own and held + size > self.capacity * SHARE:
            raise BodiesFull

    def claim(self, size: int, client: str = "", *, own: int = 0) -> None:
        """Take ``size`` bytes of the budget. Raises BodiesFull, and takes nothing then."""
        self.require_room(size, client, own=own)
        self.used += size
        if client:
            self.shares[client] += size

    def release(self, size: int, client: str = "") -> None:
        """Return claimed bytes to the budget."""
        self.used -= size
        if client:
            self.shares[client] -= size
            if not self.shares[client]:
                del self.shares[client]


class Body:
    """The body of one request. Its creator closes it, however the request ends.

    Without ``bodies`` it is not counted and stays in memory, which suits small limits.
    """

    # Defaults are the class's: setting them all for every request would cost a microsecond.
    size = 0
    """Bytes that have come."""

    complete = False
    """Whether the complete body is stored."""

    _share = ""
    _claimed = 0
    _in_memory = 0
    _file: IO[bytes] | None = None
    _form: FormData | None = None
    _parsed: Any = None
    _closed = False

    def __init__(
        self,
        receive: Receive,
        headers: Mapping[bytes, bytes],
        *,
        limit: int,
        bodies: Bodies | None = None,
        address: str = "",
    ) -> None:
        """``address`` is the client's, where it is known."""
        self._receive = receive
        self._headers = headers
        self._limit = limit
        self._bodies = bodies
        self._address = address
        self._stored: list[bytes] = []

    @property
    def content_type(self) -> str:
        """The content type that the client declares; "" for none."""
        return self._headers.get(b"content-type", b"").decode("latin-1")

    def take(self, server: WholeResponse) -> bool:
        """Store the body if all of it has come and it is small; return whether it was."""
        body = server.take_body(min(self._limit, UNCOUNTED))
        if body is None:
            return False
        if body:
            self._stored.append(body)
        self.size = self._in_memory = len(body)
        self.complete = True
        return True

    async def receive(self) -> Message:
        """Return the next ASGI message, counted but not stored.

        Raises BodyTooLarge above the limit, declared or not, and BodiesFull.
        """
        if not self.size:
            length = self._headers.get(b"content-length", b"")
            if length.isdigit():
                # 20 digits are enough for every size, and int() rejects 5,000.
                declared = int(length[:20])
                if declared > self._limit:
                    raise BodyTooLarge(self._limit)
                self._claim(declared, arrived=False)
        message = await self._receive()
        self.size += len(message.get("body", b""))
        if self.size > self._limit:
            raise BodyTooLarge(self._limit)
        self._claim(self.size)
        return message

    async def read(self) -> None:
        """Read and store the complete body. Raises what `receive` does, and ClientDisconnect."""
        while not self.complete:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk = message.get("body", b"")
            if chunk:
                self._stored.append(chunk)
                self._in_memory += len(chunk)
                await self._spill(IN_MEMORY if self._file is None else _WRITTEN_AT_ONCE)
            if not message.get("more_body", False):
                if self._file is not None:
                    await self._spill(0)
                self.complete = True

    async def data(self) -> bytes:
        """Return the body that was read, in memory."""
        if self._file is not None:
            return await trio.to_thread.run_sync(self._joined, limiter=limiter_of("spool"))
        return self._joined()

    async def stream(self) -> AsyncIterator[bytes]:
        """Iterate over the body that was read."""
        if self._file is None:
            for chunk in self._stored:
                yield chunk
            return
        at = 0
        while chunk := await self._read(at):
            at += len(chunk)
            yield chunk

    def again(self) -> Receive:
        """Return a ``receive`` that replays the stored body, then passes on further messages."""
        at = 0
        ended = False

        async def receive() -> Message:
            nonlocal at, ended
            if ended:
                return await self._receive()
            if self._file is not None:
                chunk = await self._read(at)
                at += len(chunk)
            else:
                chunk = self._stored[at] if at < len(self._stored) else b""
                at += 1
            ended = not chunk
            return {"type": "http.request", "body": chunk, "more_body": not ended}

        return receive

    async def form(self, content_type: str, **limits: Any) -> FormData:
        """Return the fields and files of the body that was read; the same each time.

        The files are deleted when the body is closed. Errors are those of `parse_form`, and
        BodiesFull when the disk has no room for the files.
        """
        if self._form is None:
            with _disk_of_bodies():
                self._form = await self.work(
                    lambda: parse_form(self._chunks(), content_type, **limits)
                )
        return self._form

    def small_value(self, parse: Callable[[bytes], T]) -> T | None:
        """Return the same as `value` of an ordinary body, without waiting; None of a large one."""
        if self._parsed is None:
            if self._bodies is not None and self.size > LARGE:
                return None
            self._parsed = (parse(self._joined()),)
        found: T = self._parsed[0]
        return found

    async def value(self, parse: Callable[[bytes], T]) -> T:
        """Return the stored body parsed by ``parse``; the same value each time."""
        if self._parsed is None:
            self._parsed = (await self.work(lambda: parse(self._joined())),)
        found: T = self._parsed[0]
        return found

    async def work(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return ``function(*args)``, in a thread when the body is large.

        Waiting for a thread can be cancelled; running work cannot, and is awaited.
        Context variables are those of the caller.
        """
        if self._bodies is None or self.size <= LARGE:
            return function(*args)
        return await trio.to_thread.run_sync(function, *args, limiter=self._bodies.threads)

    def rewind(self) -> None:
        """Parse the body again at its next use: a caller may have changed the parsed value."""
        self._parsed = None
        self._close_form()

    def _close_form(self) -> None:
        form, self._form = self._form, None
        for _, value in form.multi_items() if form is not None else ():
            if isinstance(value, UploadFile):
                value.file.close()

    def close(self) -> None:
        """Drop the body, delete its files, and return its bytes to the budget."""
        if self._closed:
            return
        self._closed = True
        if self._claimed and self._bodies is not None:
            self._bodies.release(self._claimed, self._share)
        if self._file is not None:
            self._file.close()
        if self._form is not None:
            self._close_form()

    async def aclose(self) -> None:
        """Do as `close` does, as the last of a request's background tasks."""
        self.close()

    def _claim(self, size: int, *, arrived: bool = True) -> None:
        """Claim budget for bytes that arrived; for declared bytes only check that they fit.

        If a declaration were enough to claim, a client could block all others without sending.
        """
        more = size - UNCOUNTED - self._claimed
        if self._bodies is None or more <= 0:
            return
        if not self._claimed and self._address:
            self._share = public_network_of(self._address)
        if arrived:
            self._bodies.claim(more, self._share, own=self._claimed)
            self._claimed += more
        else:
            self._bodies.require_room(more, self._share)

    async def _spill(self, most: int) -> None:
        """Write the stored chunks to disk when they exceed ``most`` bytes."""
        if self._bodies is None or self._in_memory <= most:
            return
        with _disk_of_bodies():
            await trio.to_thread.run_sync(self._write, limiter=limiter_of("spool"))

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="fx-body-")  # noqa: SIM115  # see close
        self._file.writelines(self._stored)
        self._stored.clear()
        self._in_memory = 0

    async def _read(self, place: int) -> bytes:
        return await trio.to_thread.run_sync(self._read_at, place, limiter=limiter_of("spool"))

    def _read_at(self, place: int) -> bytes:
        assert self._file is not None
        self._file.seek(place)
        return self._file.read(_WRITTEN_AT_ONCE)

    def _joined(self) -> bytes:
        if self._file is None:
            return self._stored[0] if len(self._stored) == 1 else b"".join(self._stored)
        self._file.seek(0)
        return self._file.read()

    def _chunks(self) -> Iterator[bytes]:
        if self._file is None:
            yield from self._stored
            return
        at = 0
        while chunk := self._read_at(at):
            at += len(chunk)
            yield chunk


@contextmanager
def _disk_of_bodies() -> Iterator[None]:
    """Log that the disk is full, or that too many files are open, when a body cannot be stored."""
    try:
        yield
    except OSError as error:
        log.error("a request's body could not be stored on disk: %s. Free disk space.", error)
        raise BodiesFull from error
