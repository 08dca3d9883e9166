"""HTML in, a tree of elements out, and back. Pure.

What Markdown becomes is well formed; HTML that an author writes in it is read as far as that can
be done without the rules of browsers for each element: an end tag ends the nearest element of
its name, and one without a start is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser

import attrs

from fxtrio.errors import Signal

VOID = frozenset(
    [
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    ]
)

_DEEPEST = 100
"""Elements within each other; Markdown itself comes to 20 lists and quotes."""


class TooDeep(Signal):
    """Elements are nested more than `_DEEPEST` deep."""


@attrs.define(eq=False)
class Element:
    """An element; ``name`` and the names of attributes have small letters."""

    name: str
    attributes: dict[str, str | None] = attrs.field(factory=dict)
    children: list[Element | str] = attrs.field(factory=list)
    """Elements, and texts without escapes."""

    def walk(self) -> Iterator[Element]:
        """Yield the elements in it, in the order of their start tags."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    @property
    def text(self) -> str:
        """All text in it."""
        parts = (one if isinstance(one, str) else one.text for one in self.children)
        return "".join(parts)


def read_html(text: str) -> Element:
    """Return a root, whose name is "", with what ``text`` has. Raises TooDeep."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.root


def html_of(node: Element | str) -> str:
    """Return an element, or a text, as HTML."""
    if isinstance(node, str):
        return escape(node, quote=False)
    inner = inner_html(node)
    if not node.name:
        return inner
    attributes = "".join(
        f" {name}" if value is None else f' {name}="{escape(value)}"'
        for name, value in node.attributes.items()
    )
    return f"<{node.name}{attributes}>" + ("" if node.name in VOID else f"{inner}</{node.name}>")


def inner_html(node: Element) -> str:
    """Return the content of an element as HTML."""
    return "".join(map(html_of, node.children))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self._open = [self.root]
        self._names: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self._open[-1].children.append(element)
        if tag in VOID:
            return
        if len(self._open) > _DEEPEST:
            raise TooDeep
        self._open.append(element)
        self._names[tag] += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        # To browsers, `<b />` is a start tag alone, and `<Toc />` is no element of theirs.
        if tag not in VOID and tag == "toc":
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._names[tag]:
            return
        while True:
            element = self._open.pop()
            self._names[element.name] -= 1
            if element.name == tag:
                return

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)
