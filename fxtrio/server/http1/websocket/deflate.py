"""permessage-deflate (RFC 7692) as the `websockets` library has it, and what it leaves open.

A sender may end its stream with every message ("BFINAL", 7.2.3.4). The library goes on
with a decoder that has come to its end: it would take all that follows for nothing,
and keep it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from websockets.exceptions import ProtocolError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import (
    PerMessageDeflate,
    ServerPerMessageDeflateFactory,
)
from websockets.frames import Frame
from websockets.typing import ExtensionParameter

_EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
"""What may follow a final block; its last four bytes are added by the receiver."""


class Deflate(PerMessageDeflate):
    """Compression in both directions of one WebSocket. Made by `DeflateFactory`."""

    def decode(self, frame: Frame, *, max_size: int | None = None) -> Frame:
        """Return ``frame`` inflated. Raises ProtocolError and PayloadTooBig."""
        inflated = super().decode(frame, max_size=max_size)
        decoder = getattr(self, "decoder", None)  # None between messages without takeover
        if decoder is not None and decoder.eof:
            if not _EMPTY_BLOCK.endswith(decoder.unused_data) and decoder.unused_data != b"\x00":
                raise ProtocolError("data after the final block")
            if frame.fin:
                self.decoder = zlib.decompressobj(wbits=-self.remote_max_window_bits)
        return inflated


class DeflateFactory(ServerPerMessageDeflateFactory):
    """Agrees to compression when the client offers it."""

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], Deflate]:
        """Return the answer to an offer, and what was agreed on. Raises NegotiationError."""
        answer, agreed = super().process_request_params(params, accepted_extensions)
        return answer, Deflate(
            agreed.remote_no_context_takeover,
            agreed.local_no_context_takeover,
            agreed.remote_max_window_bits,
            agreed.local_max_window_bits,
        )
