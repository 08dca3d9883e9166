"""The files of one form on the disk: all in one, so that many take no more than one descriptor.

A form of 10 MB can have 150 files that are too large to stay in memory.
"""

from __future__ import annotations

import io
import os
import tempfile
from typing import IO, TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class PartFiles:
    """Stores a form's large files one after the other in one temporary file.

    The file on disk exists from the first `begin` until `close` and the end of all readers.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._users = 1
        self._start = self._end = 0

    def begin(self) -> None:
        """Begin a file. Raises OSError."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="fx-form-")  # noqa: SIM115  # see close
        self._start = self._end

    def write(self, data: bytes) -> None:
        """Go on with the file. Raises OSError."""
        assert self._file is not None
        self._file.write(data)
        self._end += len(data)

    def end(self) -> BinaryIO:
        """Return the current file for reading. The caller closes it. Raises OSError."""
        assert self._file is not None
        self._file.flush()
        self._users += 1
        window = _Window(self, self._file.fileno(), self._start, self._end)
        return cast("BinaryIO", io.BufferedReader(window))

    def close(self) -> None:
        """Say that one fewer needs the file: the form, or one of its readers."""
        self._users -= 1
        if not self._users and self._file is not None:
            self._file.close()


class _Window(io.RawIOBase):
    """A part of a file, which many read at the same time."""

    def __init__(self, files: PartFiles, descriptor: int, start: int, end: int) -> None:
        self._files = files
        self._descriptor = descriptor
        self._start = start
        self._size = end - start
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        with memoryview(buffer) as view:
            size = max(0, min(len(view), self._size - self._at))
            data = os.pread(self._descriptor, size, self._start + self._at)
            view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}
        place = bases[whence] + offset
        if place < 0:
            raise ValueError(f"negative seek position {place}")
        self._at = place
        return place

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            self._files.close()
        super().close()
