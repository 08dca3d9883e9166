"""Nonces in bytes that come in parts."""

from __future__ import annotations


class NonceWriter:
    """Replaces the placeholder of the nonce in bytes that come in parts."""

    def __init__(self, placeholder: bytes, nonce: bytes) -> None:
        self._placeholder = placeholder
        self._nonce = nonce
        self._kept = b""

    def feed(self, data: bytes) -> bytes:
        """Return what can be sent; the start of a placeholder waits for its end."""
        placeholder = self._placeholder
        if not placeholder:
            return data
        data = (self._kept + data).replace(placeholder, self._nonce)
        for size in range(min(len(placeholder) - 1, len(data)), 0, -1):
            if placeholder.startswith(data[-size:]):
                self._kept = data[-size:]
                return data[:-size]
        self._kept = b""
        return data
