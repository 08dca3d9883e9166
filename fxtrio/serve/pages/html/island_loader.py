"""The script of pages whose only scripts are islands: it loads each of these when its time comes.

An island is nearly visible when one of its elements with a box is. One that shows nothing, or only
text, is where the element around it is. Nothing else is loaded before, React included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ISLAND = b" data-fx-island="
"""On the elements of islands (`fxtrio/js/render/islands.js`)."""


def loader_of(shared: Sequence[str]) -> bytes:
    """Return the script; ``shared`` are the URLs of what all islands load."""
    return _text().replace(b"SHARED", json.dumps(list(shared)).encode().replace(b"<", b"\\u003c"))


@cache
def _text() -> bytes:
    lines = Path(__file__).with_name("islands.js").read_bytes().splitlines()
    return b"\n".join(line.strip() for line in lines)
