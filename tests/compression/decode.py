"""Decodes bodies with the libraries of others, as a client does."""

from __future__ import annotations

import gzip

import brotli
import zstandard


def decoded(coding: str | None, body: bytes) -> bytes:
    """Return the body that ``Content-Encoding`` says to be encoded."""
    if coding == "br":
        return bytes(brotli.decompress(body))
    if coding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(body)
    if coding == "gzip":
        return gzip.decompress(body)
    assert coding is None, coding
    return body
