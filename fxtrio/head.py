"""HTML of a ``HEAD`` value in, checked head nodes out. No I/O.

`compile` reads static values with it, `serve` the results of ``HEAD(data)``.
A node is ``[tag, {attribute: value}, text]``. The text of ``title``, ``style``
and ``script`` is plain text; that of ``noscript`` is HTML that has been checked
and written anew. Void elements have "", and so have ``html`` and ``body``: of these only
the start tag stands here, with attributes for the one of the document.
"""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

import msgspec

from fxtrio.errors import PlacedError
from fxtrio.manifest import HeadNode

VOID = frozenset({"base", "body", "html", "link", "meta"})
ELEMENTS = frozenset({"title", "style", "script", "noscript"}) | VOID
IN_NOSCRIPT = frozenset({"link", "meta", "style"})

_NAME = re.compile(r"[a-z_][a-z0-9_.:-]*", re.ASCII)
# Browsers skip these in front of a scheme and, in part, inside it.
_IGNORED_IN_SCHEMES = re.compile("[\0-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060\ufeff]")
_SCRIPT_SCHEMES = ("javascript:", "vbscript:", "livescript:")
# What would end an element early whose text is written as it is, or change how a script is read.
_TEXT_HAZARD = {
    "noscript": re.compile(r"</noscript", re.IGNORECASE),
    "script": re.compile(r"</script|<!--", re.IGNORECASE),
    "style": re.compile(r"</style", re.IGNORECASE),
}


class HeadInvalid(PlacedError):
    """A ``HEAD`` value holds something that does not belong into a document's head."""

    remedy = "Remove it"

    def __init__(self, cause: str, line: int, column: int) -> None:
        """``line`` of the HTML and ``column`` of the line are 1-based."""
        super().__init__(f"HEAD, line {line}, column {column}", cause)
        self.line = line
        self.column = column


def parse_head(html: str) -> list[HeadNode]:
    """Return the head nodes of ``html``, in order.

    ``javascript:`` URLs lose their attribute. Raises HeadInvalid, with the place
    in ``html``, for an element that is not one of `ELEMENTS`, for an ``on*``
    attribute, for text between elements and for an element that is never closed.
    """
    reader = _Reader(html, ELEMENTS)
    reader.feed(html)
    reader.close()
    reader.finish()
    return reader.nodes


class _Open(msgspec.Struct):
    """An element whose end tag has not come yet."""

    tag: str
    values: dict[str, str]
    line: int
    column: int
    start: int
    """Where its content starts (offset)."""


class _Reader(HTMLParser):
    """Turns the parser's events into nodes; nothing nests except inside ``noscript``."""

    def __init__(self, html: str, allowed: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[HeadNode] = []
        self._html = html
        self._allowed = allowed
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", html))]
        self._open: _Open | None = None
        self._text: list[str] = []

    def finish(self) -> None:
        """Check that nothing is left open. Raises HeadInvalid."""
        if self._open is not None:
            place = self._open.line, self._open.column
            raise self._invalid(f"<{self._open.tag}> is never closed", place)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element, or take a void one."""
        source = self.get_starttag_text() or ""
        if self._open is not None:
            self._text.append(source)  # the content of a title or noscript, read as text
        elif tag in VOID:
            self.nodes.append([tag, self._check(tag, attrs), ""])
        else:
            line, column = self.getpos()
            start = self._line_starts[line - 1] + column + len(source)
            self._open = _Open(tag, self._check(tag, attrs), line, column + 1, start)
            self._text = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take ``<tag/>`` as an element without content."""
        if self._open is not None:
            self._text.append(self.get_starttag_text() or "")
        else:
            self.nodes.append([tag, self._check(tag, attrs), ""])

    def handle_endtag(self, tag: str) -> None:
        """Close the open element."""
        if self._open is not None and self._open.tag == tag:
            self._close(self._open)
        elif self._open is not None:
            self._text.append(f"</{tag}>")
        elif tag not in VOID:
            raise self._invalid(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        """Keep the text of the open element."""
        if self._open is not None:
            self._text.append(data)
        elif data.strip():
            raise self._invalid(f"{data.strip()[:40]!r} is outside of an element")

    def handle_comment(self, data: str) -> None:
        """Drop comments, except in a title, where they are text."""
        if self._open is not None and self._open.tag == "title":
            self._text.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        """Refuse declarations."""
        raise self._invalid(f"<!{decl[:40]}> is not a head element")

    def handle_pi(self, data: str) -> None:
        """Refuse processing instructions."""
        raise self._invalid(f"<?{data[:40]}> is not a head element")

    def unknown_decl(self, data: str) -> None:
        """Refuse marked sections."""
        raise self._invalid(f"<![{data[:40]}]> is not a head element")

    def _close(self, element: _Open) -> None:
        self._open = None
        text = "".join(self._text)
        if element.tag == "noscript":
            line, column = self.getpos()
            end = self._line_starts[line - 1] + column
            text = self._noscript(self._html[element.start : end], element)
        hazard = _TEXT_HAZARD.get(element.tag)
        if hazard is not None and (found := hazard.search(text)) is not None:
            cause = f"the text of <{element.tag}> contains {found.group()!r}"
            raise self._invalid(cause, (element.line, element.column))
        template = element.values.get("data-template") if element.tag == "title" else None
        if template and "%s" not in template:
            cause = f"the data-template {template!r} of <title> has no %s for the title"
            raise self._invalid(cause, (element.line, element.column))
        self.nodes.append([element.tag, element.values, text])

    def _noscript(self, html: str, element: _Open) -> str:
        inner = _Reader(html, IN_NOSCRIPT)
        try:
            inner.feed(html)
            inner.close()
            inner.finish()
        except HeadInvalid as error:
            cause = f"in <noscript>: {error.cause}"
            raise self._invalid(cause, (element.line, element.column)) from error
        return "".join(_write(*node) for node in inner.nodes)

    def _check(self, tag: str, pairs: list[tuple[str, str | None]]) -> dict[str, str]:
        """Return the allowed attributes; of repeated ones the first, as browsers do."""
        if tag not in self._allowed:
            allowed = ", ".join(sorted(self._allowed))
            raise self._invalid(f"<{tag}> is not allowed here; these are: {allowed}")
        values: dict[str, str] = {}
        for name, value in pairs:
            if name.startswith("on"):
                raise self._invalid(f"<{tag}> has the event handler {name!r}")
            if not _NAME.fullmatch(name):
                raise self._invalid(f"<{tag}> has the attribute name {name!r}")
            values.setdefault(name, value or "")
        refreshes = "http-equiv" in values
        return {
            name: value
            for name, value in values.items()
            if not _runs_script(name, value, refreshes=refreshes)
        }

    def _invalid(self, cause: str, place: tuple[int, int] | None = None) -> HeadInvalid:
        line, column = self.getpos()
        at_line, at_column = place or (line, column + 1)
        return HeadInvalid(cause, at_line, at_column)


def _runs_script(name: str, value: str, *, refreshes: bool) -> bool:
    """Whether a browser that follows ``value`` would run it as a script."""
    plain = _IGNORED_IN_SCHEMES.sub("", value).lower()
    if name == "content":  # ordinary text, but for <meta http-equiv="refresh">
        return refreshes and any(scheme in plain for scheme in _SCRIPT_SCHEMES)
    if name in {"imagesrcset", "srcset"}:
        return any(part.startswith(_SCRIPT_SCHEMES) for part in plain.split(","))
    return plain.startswith(_SCRIPT_SCHEMES)


def _write(tag: str, values: dict[str, str], text: str) -> str:
    """Return a checked node as HTML, for the inside of ``noscript``."""
    start = "".join(f' {name}="{escape(value)}"' for name, value in values.items())
    return f"<{tag}{start}>" if tag in VOID else f"<{tag}{start}>{text}</{tag}>"
