"""Reads the files that Starlette serves, for fxtrio and the application, in separate threads.

Starlette takes its threads from anyio, which uses trio's default limiter. If the
application occupies all of them, no script is served and no page hydrates. `install`
replaces one of Starlette's names for the whole process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from io import FileIO
from types import ModuleType
from typing import Any, BinaryIO, TypeVar, TypeVarTuple, Unpack

import trio
from starlette import responses, staticfiles

from fxtrio.limiters import limiter_of

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def install() -> None:
    """Replace Starlette's file access, also for frameworks that build on it."""
    for module in (responses, staticfiles):
        anyio = getattr(module, "anyio")  # noqa: B009  # an error here is a Starlette that has moved it
        if not isinstance(anyio, FileThreads):
            setattr(module, "anyio", FileThreads(anyio))  # noqa: B010  # it has no such type


class FileThreads:
    """anyio, as the modules of Starlette that read files see it."""

    def __init__(self, anyio: ModuleType) -> None:
        self._anyio = anyio
        self.to_thread = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._anyio, name)

    async def run_sync(self, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Return ``function(*args)``, which accesses the file system."""
        if trio.lowlevel.in_trio_run():
            return await in_file_thread(function, *args)
        found: T = await self._anyio.to_thread.run_sync(function, *args)  # another event loop
        return found

    async def open_file(self, path: str | os.PathLike[str], mode: str) -> Any:
        """Open a file to be read."""
        if trio.lowlevel.in_trio_run():
            return ReadFile(await in_file_thread(FileIO, path, mode))
        return await self._anyio.open_file(path, mode=mode)


class ReadFile:
    """An open file, with the part of anyio's interface that Starlette uses."""

    def __init__(self, file: BinaryIO | FileIO) -> None:
        self._file = file

    async def read(self, size: int) -> bytes:
        """Return the next bytes, ``size`` of them at most; none at the end."""
        return await in_file_thread(self._file.read, size)

    async def seek(self, place: int) -> int:
        """Go to a place, which does not ask the disk."""
        return self._file.seek(place)

    async def aclose(self) -> None:
        """Close it, which does not wait for the disk: nothing was written."""
        self._file.close()

    async def __aenter__(self) -> ReadFile:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


async def in_file_thread(function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
    """Return ``function(*args)``, from one of the threads for files."""
    return await trio.to_thread.run_sync(function, *args, limiter=limiter_of("files"))
