"""Documents of the framework itself: error pages, and pages for operators and developers."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path


def own_document(
    title: str, body: str, *, style: str, head: str = "", attributes: str = "", lang: str = "en"
) -> str:
    """Return an HTML document that search engines do not list.

    ``title`` is text, everything else is HTML or CSS; ``attributes`` are those of the body.
    ``lang`` is "" where the language is not known.
    """
    spoken = f' lang="{lang}"' if lang else ""
    return f"""<!doctype html>
<html{spoken}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{escape(title)}</title>
{head}<style>{style}</style>
</head>
<body{attributes}>
{body}</body>
</html>
"""


def message_document(
    sign: str, title: str, content: str, *, name: str = "", style: str = "", lang: str = "en"
) -> str:
    """Return a document with one message: a ``sign`` above its ``title``, and HTML below.

    ``name`` is the title of the document, where that is another one; ``style`` is added.
    """
    body = f"<main>\n<b>{escape(sign)}</b>\n<h1>{escape(title)}</h1>\n{content}</main>\n"
    return own_document(name or title, body, style=f"\n{_message_style()}{style}", lang=lang)


@cache
def _message_style() -> str:
    return Path(__file__).with_name("message.css").read_text("utf-8")
