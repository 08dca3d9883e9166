"""Bodies as they arrive: counted for the whole process, on disk when they are large."""

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

from fxtrio.clients import public_network_of
from fxtrio.errors import BodiesFull, BodyTooLarge
from fxtrio.limiters import limiter_of
from fxtrio.serve.request.bodies.forms import parse_form

IN_MEMORY = 1024**2
"""What of one body stays in memory; the whole of a larger one goes to the disk (bytes)."""

UNCOUNTED = 16 * 1024
"""What each body has besides the budget: logins go on while uploads fill it (bytes)."""

LARGE = 64 * 1024
"""Bodies above this are parsed and validated in a thread (bytes)."""

SHARE = 0.25
"""What the bodies of one public address may have of the budget, if they are more than one."""

_WRITTEN_AT_ONCE = 256 * 1024
THREADS = 2
"""More threads would only wait for each other: parsing is Python (count)."""

log = logging.getLogger("fx.serve")

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Bodies:
    """The budget of one process for all bodies that it holds, and the threads that read them.

    ``capacity`` is in bytes. A request that finds no room raises BodiesFull. So does one of
    a public address whose other bodies have `SHARE` of it: nobody keeps all others out.
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
        if held > own and held + size > self.capacity * SHARE:
            raise BodiesFull

    def claim(self, size: int, client: str = "", *, own: int = 0) -> None:
        """Take ``size`` bytes of the budget. Raises BodiesFull, and takes nothing then."""
        self.require_room(size, client, own=own)
        self.used += size
        if client:
            self.shares[client] += size

    def release(self, size: int, client: str = "") -> None:
        """Give back what was claimed."""
        self.used -= size
        if client:
            self.shares[client] -= size
            if not self.shares[client]:
                del self.shares[client]


class Body:
    """The body of one request. Whoever makes it closes it, however the request ends.

    Without ``bodies`` it is not counted and stays in memory: for small limits.
    """

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
        self.size = 0
        """Bytes that have come."""

        self.complete = False
        """Whether `read` has kept the whole of it."""

        self.content_type = headers.get(b"content-type", b"").decode("latin-1")
        """What the client calls it; "" when it says nothing."""

        self._receive = receive
        self._declared = headers.get(b"content-length", b"")
        self._limit = limit
        self._bodies = bodies
        self._address = address
        self._share = ""
        self._claimed = 0
        self._kept: list[bytes] = []
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self._form: FormData | None = None
        self._parsed: Any = None
        self._closed = False

    async def receive(self) -> Message:
        """Return the next ASGI message, counted but not kept.

        Raises BodyTooLarge above the limit, declared or not, and BodiesFull.
        """
        if not self.size and self._declared.isdigit():
            # 20 digits are enough for every size, and int() refuses 5,000.
            declared = int(self._declared[:20])
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
        """Keep the whole body. Raises what `receive` does, and ClientDisconnect."""
        while not self.complete:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk = message.get("body", b"")
            if chunk:
                self._kept.append(chunk)
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
            for chunk in self._kept:
                yield chunk
            return
        at = 0
        while chunk := await self._read(at):
            at += len(chunk)
            yield chunk

    def again(self) -> Receive:
        """Return a ``receive`` of the body that was read, and then of whatever else comes."""
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
                chunk = self._kept[at] if at < len(self._kept) else b""
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

    async def value(self, parse: Callable[[bytes], T]) -> T:
        """Return what ``parse`` makes of the body that was read; the same each time."""
        if self._parsed is None:
            if self._bodies is None or self.size <= LARGE:  # the ordinary one, without a call more
                self._parsed = (parse(self._joined()),)
            else:
                self._parsed = (await self.work(lambda: parse(self._joined())),)
        found: T = self._parsed[0]
        return found

    async def work(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return ``function(*args)``, in a thread when the body is large.

        Waiting for a thread can be cancelled, the work itself cannot: it ends first.
        Context variables are those of the caller.
        """
        if self._bodies is None or self.size <= LARGE:
            return function(*args)
        return await trio.to_thread.run_sync(function, *args, limiter=self._bodies.threads)

    def rewind(self) -> None:
        """Let the body be parsed again, since whoever had it may have changed what came of it."""
        self._parsed = None
        self._close_form()

    def _close_form(self) -> None:
        form, self._form = self._form, None
        for _, value in form.multi_items() if form is not None else ():
            if isinstance(value, UploadFile):
                value.file.close()

    def close(self) -> None:
        """Forget the body, delete its files, and give back what it took of the budget."""
        if self._closed:
            return
        self._closed = True
        if self._bodies is not None:
            self._bodies.release(self._claimed, self._share)
        if self._file is not None:
            self._file.close()
        self._close_form()

    async def aclose(self) -> None:
        """Do as `close` does, as the last of a request's background tasks."""
        self.close()

    def _claim(self, size: int, *, arrived: bool = True) -> None:
        """Take what has arrived of the budget; of what has only been declared see that it fits.

        Who could claim by saying so would keep all others out without sending anything.
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
        """Write what is kept to the disk when it is more than ``most``."""
        if self._bodies is None or self._in_memory <= most:
            return
        with _disk_of_bodies():
            await trio.to_thread.run_sync(self._write, limiter=limiter_of("spool"))

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="fx-body-")  # noqa: SIM115  # see close
        self._file.writelines(self._kept)
        self._kept.clear()
        self._in_memory = 0

    async def _read(self, place: int) -> bytes:
        return await trio.to_thread.run_sync(self._read_at, place, limiter=limiter_of("spool"))

    def _read_at(self, place: int) -> bytes:
        assert self._file is not None
        self._file.seek(place)
        return self._file.read(_WRITTEN_AT_ONCE)

    def _joined(self) -> bytes:
        if self._file is None:
            return self._kept[0] if len(self._kept) == 1 else b"".join(self._kept)
        self._file.seek(0)
        return self._file.read()

    def _chunks(self) -> Iterator[bytes]:
        if self._file is None:
            yield from self._kept
            return
        at = 0
        while chunk := self._read_at(at):
            at += len(chunk)
            yield chunk


@contextmanager
def _disk_of_bodies() -> Iterator[None]:
    """Say in words that the disk, or the number of open files, has no room for a body."""
    try:
        yield
    except OSError as error:
        log.error("a request's body could not be kept on disk: %s. Make room.", error)
        raise BodiesFull from error
