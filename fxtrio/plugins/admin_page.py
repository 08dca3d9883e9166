"""What pages of plugins for operators have in common: their style, and their policy."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path

from fxtrio.serve.pages.html.own_document import own_document

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def admin_document(
    name: str,
    content: str,
    *,
    path: str,
    home: str,
    note: str = "",
    navigation: str = "",
    title: str = "",
    style: str = STYLE,
    head: str = "",
    attributes: str = "",
) -> str:
    """Return a page whose script is below ``path``; ``home`` is the URL of the app's start page.

    ``name`` is its heading, and its title unless that is another one. ``content``, ``note`` (beside
    the heading), ``navigation``, ``head`` and the ``attributes`` of the body are HTML.
    """
    icon = '<link rel="icon" href="data:,">'
    script = f'{icon}\n<script src="{escape(path)}/page.js" defer></script>\n'
    back = f'<a href="{escape(home)}">Back to the app</a>'
    body = f"<header><h1>{escape(name)}</h1>{note}{back}</header>\n{navigation}"
    body += f"<main>\n{content}</main>\n"
    return own_document(title or name, body, style=style, head=script + head, attributes=attributes)


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
