"""The codings: for complete bodies, bodies in parts, and stored bodies.

gzip is always available; zstd and Brotli are if their packages are installed, which lack
builds for some interpreters.
"""

from __future__ import annotations

import gzip
import zlib
from functools import cache
from typing import Any, Protocol

from fxtrio.compression.accept_encoding import Coding

SUFFIXES: dict[Coding, str] = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
"""Of encoded files, those of the coding first that makes files smallest."""

_LEVELS: dict[Coding, int] = {"zstd": 3, "br": 4, "gzip": 5}
"""For bodies that are sent once: about 10 ms per MB (br and gzip: 30)."""

BEST: dict[Coding, int] = {"zstd": 19, "br": 11, "gzip": 9}
"""For stored bodies. Higher levels of zstd need windows that browsers reject (RFC 9659)."""

_GZIP_WINDOW = 31  # 32 KiB, with the header and checksum of gzip


class Encoder(Protocol):
    """Encodes a body that arrives in parts."""

    def feed(self, data: bytes, *, flush: bool) -> bytes:
        """Return the bytes that can be sent; with ``flush`` those of all input."""
        ...

    def end(self) -> bytes:
        """Return the rest."""
        ...


@cache
def available() -> tuple[Coding, ...]:
    """Return the codings that this installation has, the quickest first."""
    codings: list[Coding] = ["gzip"]
    if _brotli() is not None:
        codings.insert(0, "br")
    if _zstd() is not None:
        codings.insert(0, "zstd")
    return tuple(codings)


@cache
def smallest_first() -> tuple[Coding, ...]:
    """Return the same, those first that make files smallest."""
    return tuple(coding for coding in SUFFIXES if coding in available())


def encode_whole(coding: Coding, data: bytes, *, best: bool = False) -> bytes:
    """Return ``data`` encoded; ``best`` compresses slower, for data that is sent often."""
    level = (BEST if best else _LEVELS)[coding]
    if coding == "gzip":
        return gzip.compress(data, level, mtime=0)
    if coding == "br":
        return bytes(_brotli().compress(data, quality=level))
    return bytes(_zstd().compress(data, level=level))


def open_encoder(coding: Coding) -> Encoder:
    """Return an encoder for one body."""
    level = _LEVELS[coding]
    if coding == "gzip":
        return _Gzip(level)
    return _Brotli(level) if coding == "br" else _Zstd(level)


class _Gzip:
    def __init__(self, level: int) -> None:
        self._deflate = zlib.compressobj(level, wbits=_GZIP_WINDOW)

    def feed(self, data: bytes, *, flush: bool) -> bytes:
        encoded = self._deflate.compress(data)
        return encoded + self._deflate.flush(zlib.Z_SYNC_FLUSH) if flush else encoded

    def end(self) -> bytes:
        return self._deflate.flush()


class _Brotli:
    def __init__(self, level: int) -> None:
        self._encoder = _brotli().Compressor(quality=level)

    def feed(self, data: bytes, *, flush: bool) -> bytes:
        encoded = self._encoder.process(data)
        return bytes(encoded + self._encoder.flush() if flush else encoded)

    def end(self) -> bytes:
        return bytes(self._encoder.finish())


class _Zstd:
    def __init__(self, level: int) -> None:
        self._encoder = _zstd().ZstdCompressor(level=level)

    def feed(self, data: bytes, *, flush: bool) -> bytes:
        encoder = self._encoder
        return bytes(encoder.compress(data, encoder.FLUSH_BLOCK if flush else encoder.CONTINUE))

    def end(self) -> bytes:
        return bytes(self._encoder.flush())


@cache
def _brotli() -> Any:
    try:
        import brotli
    except ImportError:
        return None
    return brotli


@cache
def _zstd() -> Any:
    try:
        from compression import zstd  # of Python 3.14 and later
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            return None
    return zstd
