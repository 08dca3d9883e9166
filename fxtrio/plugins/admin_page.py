"""What pages of plugins for operators have in common: their style, and their policy."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def policy(style: str) -> str:
    """Return the Content-Security-Policy of a page with ``style``.

    It loads its own script, its own style, and itself again.
    """
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            f"style-src 'sha256-{digest}'",
            "connect-src 'self'",
            "img-src data:",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'self'",
        )
    )
