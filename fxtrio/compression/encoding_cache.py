"""Encodings of large files, in a folder that all builds of a user share.

The smallest encoding of React alone takes half a second of a core, a quarter of the build of a
small project, and is the same in each. `fx build` uses it.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import msgspec

from fxtrio.compression.accept_encoding import Coding
from fxtrio.compression.codings import BEST, encode_whole

SMALLEST = 32 * 1024
"""A smaller original is compressed each time, which takes a few milliseconds (bytes)."""

MOST = 60
"""So many encodings stay, those that were used last; about 75 kB each for React (count)."""

_DIGEST = 16  # bytes


class EncodingCache(msgspec.Struct, frozen=True):
    """Compresses, and remembers what it compressed in a folder.

    An encoding that is damaged or cannot be read is made anew; where the folder cannot be
    written, nothing is remembered.
    """

    folder: Path

    def encode(self, coding: Coding, data: bytes) -> bytes:
        """Return ``data`` as `encode_whole` compresses it best."""
        if len(data) < SMALLEST:
            return encode_whole(coding, data, best=True)
        entry = self.folder / f"{_digest(data).hex()}-{coding}-{BEST[coding]}"
        encoding = _read(entry)
        if encoding is None:
            encoding = encode_whole(coding, data, best=True)
            with suppress(OSError):
                self.folder.mkdir(parents=True, exist_ok=True)
                entry.write_bytes(_digest(encoding) + encoding)
                self._forget_oldest()
        return encoding

    def _forget_oldest(self) -> None:
        entries = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for entry in entries[:-MOST]:
            entry.unlink(missing_ok=True)


def _read(entry: Path) -> bytes | None:
    """Return the encoding in a file; None if it is not whole: another process may write it."""
    try:
        content = entry.read_bytes()
        digest, encoding = content[:_DIGEST], content[_DIGEST:]
        if _digest(encoding) != digest:
            return None
        with suppress(OSError):  # of another user, who lets this one read only
            entry.touch()
    except OSError:
        return None
    return encoding


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()
