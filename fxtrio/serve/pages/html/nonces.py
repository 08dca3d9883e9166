"""Nonces in bytes that come in parts."""

from __future__ import annotations


class NonceWriter:
    """Replaces the placeholder of the nonce in bytes that come in parts."""

    def __init__(self, placeholder: bytes, nonce: bytes) -> None:
        self._placeholder = placeholder
        self._nonce = nonce
        self._buffered = b""

    def feed(self, data: bytes) -> bytes:
        """Return the data that can be sent; an incomplete placeholder is held back."""
        placeholder = self._placeholder
        if not placeholder:
            return data
        data = (self._buffered + data).replace(placeholder, self._nonce)
        for size in range(min(len(placeholder) - 1, len(data)), 0, -1):
            if placeholder.startswith(data[-size:]):
                self._buffered = data[-size:]
                return data[:-size]
        self._buffered = b""
        return data
