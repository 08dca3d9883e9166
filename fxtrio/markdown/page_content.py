"""HTML of a rendered page → the page's own content, without what its layouts put around it.

Called by `fxtrio.markdown.convert`. The patterns take a millisecond to compile.
"""

from __future__ import annotations

import re

_CONTENT = re.compile(r"<(?:main|article)[\s/>]", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:(?P<comment>!--)|(?P<raw>script|style|template|textarea)\b"
    r"|(?P<name>main|article|h1)(?=[\s/>])|[a-z])",
    re.IGNORECASE,
)
_REST = re.compile(r"""(?>(?:"[^"]*+"|'[^']*+'|[^>"']++)*)>""")
"""A tag after its name: a `>` in the value of an attribute does not end it."""


def start_of_content(html: str) -> int:
    """Return where the content begins: the first ``<main>``, else the first ``<article>``.

    An ``<h1>`` before the article is the title of what follows, and begins it. 0 when
    there is none of them. No tag is seen in a comment, a script or an attribute, and
    none behind one that does not end.
    """
    if _CONTENT.search(html) is None:
        return 0
    first: dict[str, int] = {}
    position = 0
    while "main" not in first and (tag := _TAG.search(html, position)) is not None:
        if tag["name"]:
            first.setdefault(tag["name"].lower(), tag.start())
        end = _end_of(html, tag)
        if end is None:
            break
        position = end
    if "main" in first:
        return first["main"]
    if "article" in first:
        return min(first["article"], first.get("h1", len(html)))
    return 0


def content_of(html: str) -> str:
    """Return the page's own content: from `start_of_content` on, and up to the last ``</main>``.

    Without ``<main>`` it goes on to the end: a footer behind it may be the page's. React writes
    the names of elements in lowercase.
    """
    start = start_of_content(html)
    end = html.rfind("</main>", start) if html[start : start + 5].lower() == "<main" else -1
    return html[start:] if end == -1 else html[start:end]


def _end_of(html: str, tag: re.Match[str]) -> int | None:
    """Return where a tag ends, with what is inside of a comment or a script."""
    if tag["comment"]:
        end = html.find("-->", tag.end())
        return None if end == -1 else end + 3
    if tag["raw"]:
        closing = _CLOSING[tag["raw"].lower()].search(html, tag.end())
        return None if closing is None else closing.end()
    rest = _REST.match(html, tag.end())
    return None if rest is None else rest.end()


_CLOSING = {
    name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE)
    for name in ("script", "style", "template", "textarea")
}
