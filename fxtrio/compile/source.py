"""The text of a file with its places: offsets in, lines and columns out."""

from __future__ import annotations

import errno
import os
import re
import stat
from bisect import bisect_right
from pathlib import Path

import attrs

from fxtrio.compile.problems import Problem, frame_of

_BOM = "\ufeff"


@attrs.frozen(eq=False)
class SourceText:
    """A file as the compiler reads it.

    Line ends are ``\\n`` and there is no byte order mark, so lines and columns
    are those that an editor shows.
    """

    path: str
    """POSIX path relative to the project folder, for messages."""

    text: str
    line_starts: list[int]
    """Offset of each line, the first being 0."""

    def line_of(self, offset: int) -> int:
        """Return the line (1-based) that ``offset`` is in."""
        return bisect_right(self.line_starts, offset)

    def line_end(self, offset: int) -> int:
        """Return the offset behind the line break of the line that ``offset`` is in."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def line_text(self, line: int) -> str:
        """Return a line (1-based) without its line break; "" when there is none."""
        if not 1 <= line <= len(self.line_starts):
            return ""
        start = self.line_starts[line - 1]
        return self.text[start : self.line_end(start)].rstrip("\n")

    def place_of(self, offset: int) -> tuple[int, int]:
        """Return line and column (both 1-based) of ``offset``."""
        line = self.line_of(offset)
        return line, offset - self.line_starts[line - 1] + 1

    def offset_of(self, line: int, byte_column: int) -> int:
        """Return the offset of a place as `ast` gives it: columns in UTF-8 bytes, 0-based."""
        before = self.line_text(line).encode("utf-8", "surrogatepass")[:byte_column]
        return self.line_starts[line - 1] + len(before.decode(errors="replace"))

    def problem(self, offset: int, message: str, remedy: str) -> Problem:
        """Return a problem at ``offset``."""
        return Problem(self.path, *self.place_of(offset), message, remedy)

    def syntax_problem(self, line: int, column: int, message: str, remedy: str) -> Problem:
        """Return a problem at ``line`` and ``column``, both from 1, with the lines around it."""
        return Problem(self.path, line, column, message, remedy, self.frame(line, column))

    def frame(self, line: int, column: int) -> str:
        """Return a line between its neighbours, with a mark below ``column``; both from 1."""
        last = len(self.line_starts) - self.text.endswith("\n")
        numbers = range(max(1, line - 1), min(last, line + 1) + 1)
        return frame_of(((number, self.line_text(number)) for number in numbers), line, column)

    def node_problem(self, line: int, byte_column: int, message: str, remedy: str) -> Problem:
        """Return a problem at a place as `ast` gives it."""
        return self.problem(self.offset_of(line, byte_column), message, remedy)


def read_text(text: str, path: str) -> SourceText:
    """Return ``text`` with plain line ends and without byte order marks at its beginning.

    What has been read may be read again, and remains as it is.
    """
    plain = text.lstrip(_BOM).replace("\r\n", "\n").replace("\r", "\n")
    starts = [0, *(match.end() for match in re.finditer("\n", plain))]
    return SourceText(path, plain, starts)


def read_bytes(data: bytes, path: str) -> SourceText | Problem:
    """Return the text of a UTF-8 file, or why it is none."""
    try:
        return read_text(data.decode(), path)
    except UnicodeDecodeError as error:
        before = read_text(data[: error.start].decode(), path)
        return before.problem(
            len(before.text),
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            "Save the file as UTF-8",
        )


def file_bytes(path: Path) -> bytes:
    """Return what a file contains.

    Raises OSError, also for what is no regular file: a read of a pipe waits for who writes to it.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_source(root: Path, path: str) -> SourceText | Problem:
    """Return a file of the project in ``root``, or why it cannot be read."""
    try:
        data = file_bytes(root / path)
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        return Problem(path, 1, 1, message, "Check that the file is there and may be read")
    return read_bytes(data, path)
