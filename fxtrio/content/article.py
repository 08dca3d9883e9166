"""A Markdown file in, an article out: its HTML as a tree, its headings, and its mistakes.

The HTML is of the author's own site, so HTML in the Markdown is let through, except what scripts
and styles of the site do better. No I/O but what ``read`` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import pairwise
from threading import Lock
from typing import Any

import attrs
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from fxtrio.content.elements import Element, TooDeep, html_of, read_html
from fxtrio.content.filling import Filling, Locate, Read
from fxtrio.content.front_matter import FrontMatter, divide, read_front_matter
from fxtrio.content.included import read_fence
from fxtrio.content.mistakes import Mistake

_REJECTED = {
    "script": "Write a page file (.fxl), whose code runs in browsers",
    "style": "Write it into a stylesheet that the layout imports",
}
_TOC_LEVELS = (2, 3)
_FILLING = Lock()


@attrs.frozen
class Heading:
    """A heading of an article."""

    level: int
    """From 1 to 6."""

    id: str
    """What fragments of URLs name."""

    text: str


@attrs.frozen
class Article:
    """What a Markdown file has come to."""

    front_matter: FrontMatter
    tree: Element
    """The root of its HTML; see `read_html`."""

    headings: tuple[Heading, ...]
    markdown: str
    """The Markdown without front matter, with the code that it includes."""

    included: tuple[str, ...]
    """The files that it includes, whether they are there or not, sorted."""

    mistakes: tuple[Mistake, ...]
    """By line."""

    @property
    def html(self) -> str:
        """The HTML as text."""
        return html_of(self.tree)

    @property
    def title(self) -> str:
        """``title`` of the front matter, or else the first heading; "" without any."""
        named = self.front_matter.values.get("title")
        if isinstance(named, str) and named.strip():
            return named.strip()
        return next((one.text for one in self.headings), "")


def read_article(text: str, path: str, *, read: Read, locate: Locate) -> Article:
    """Return the article of a file; ``path`` is its POSIX path in the project.

    ``text`` has plain line ends. Mistakes are part of the article.
    """
    yaml, body = divide(text)
    front_matter, mistakes = read_front_matter(yaml) if yaml else (FrontMatter(), [])
    markdown = _markdown()
    tokens = markdown.parse(body)
    filling = Filling(path, read, locate, mistakes)
    filling.fill(tokens)
    headings = tuple(_headings(tokens))
    html = markdown.renderer.render(tokens, markdown.options, {})
    tree = Element("")
    try:
        tree = read_html(html)
    except TooDeep:
        mistakes.append(Mistake(1, "its HTML is nested too deeply", "Divide it"))
    mistakes += _rejected(tree, body)
    _place_contents(tree, headings)
    _mend_tables(tree)
    return Article(
        front_matter,
        tree,
        headings,
        filling.expanded(body).lstrip("\n"),
        tuple(sorted(filling.included)),
        tuple(sorted(mistakes)),
    )


def included_files(text: str) -> set[str]:
    """Return the files whose code a Markdown file includes, whether they are there or not."""
    tokens = _markdown().parse(divide(text)[1])
    names = {read_fence(token.info).file for token in tokens if token.type == "fence"}
    return names - {""}


def _markdown() -> MarkdownIt:
    # Of the extra `content` alone; all other packages of it come with others, too.
    from mdit_py_plugins.anchors import anchors_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.tasklists import tasklists_plugin

    markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False, "highlight": highlighted})
    markdown.use(footnote_plugin).use(tasklists_plugin)
    markdown.use(anchors_plugin, min_level=2, max_level=4, permalink=True, permalinkSymbol="#")
    with _FILLING:  # mdurl fills its tables at their first use, where other threads may read them
        markdown.normalizeLink("/")
        markdown.normalizeLinkText("/")
    return markdown


def _headings(tokens: list[Token]) -> Iterator[Heading]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            visible = (child for child in inline.children or () if child.type != "html_block")
            text = "".join(child.content for child in visible).strip()
            yield Heading(int(opening.tag[1:]), str(opening.attrGet("id") or ""), text)


def _rejected(tree: Element, body: str) -> Iterator[Mistake]:
    """Yield mistakes for HTML that would not work after a navigation."""
    for element in tree.walk():
        wrong = next((name for name in element.attributes if name.startswith("on")), "")
        remedy = _REJECTED.get(element.name, _REJECTED["script"] if wrong else "")
        if remedy:
            what = f"{wrong}=" if wrong else f"<{element.name}"
            at = body.lower().find(what)
            line = body.count("\n", 0, max(at, 0)) + 1
            yield Mistake(line, f"{what!r} is not for Markdown", remedy)


def _place_contents(tree: Element, headings: tuple[Heading, ...]) -> None:
    """Put the table of contents where the file has ``<Toc />``."""
    for element in [*tree.walk()]:
        if element.name == "toc":
            element.name = "nav"
            element.attributes = {"class": "toc", "aria-label": "On this page"}
            element.children = [*contents(headings)]


def _mend_tables(tree: Element) -> None:
    """Leave only headers that say something: Markdown has no table without a row of them."""
    for table in [one for one in tree.walk() if one.name == "table"]:
        for head in [one for one in table.walk() if one.name == "thead"]:
            cells = [one for one in head.walk() if one.name == "th"]
            empty = [cell for cell in cells if not cell.children]
            for cell in empty:
                cell.name = "td"
            if len(empty) == len(cells):
                table.children = [one for one in table.children if one is not head]


def contents(headings: tuple[Heading, ...]) -> list[Element]:
    """Return a list of links to headings, with those of the third level within the second."""
    outer: list[Element | str] = []
    for heading in headings:
        if heading.level not in _TOC_LEVELS or not heading.id:
            continue
        link = Element("a", {"href": f"#{heading.id}"}, [heading.text])
        item = Element("li", {}, [link])
        last = outer[-1] if outer else None
        if heading.level == _TOC_LEVELS[0] or not isinstance(last, Element):
            outer.append(item)
            continue
        if len(last.children) == 1:
            last.children.append(Element("ul"))
        inner = last.children[1]
        assert isinstance(inner, Element)  # as above
        inner.children.append(item)
    return [Element("ul", {}, outer)] if outer else []


def jsonable(headings: tuple[Heading, ...]) -> list[Mapping[str, Any]]:
    """Return headings as JSON."""
    return [attrs.asdict(heading) for heading in headings]


_LIKE = {"jsx": "javascript", "jsonc": "json", "tsx": "typescript"}
"""Languages that Pygments does not know, and those that they are read as."""

_CLIENT_HALF = re.compile(
    r"""^(?:import[ ][^\n]*\bfrom[ ]["']|import[ ]["'{]|export[ ]|function[ ]|const[ ])""",
    re.MULTILINE,
)
"""Where the client half of a page file begins, as far as colors depend on it."""

_PLAIN = re.compile(r'<span class="(?:n|nx|p|w)">([^<]*+)</span>')
"""Names, punctuation and spaces: themes give them the color of the text around, and they are most
of the elements."""

_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


def highlighted(code: str, language: str, attributes: str) -> str:
    """Return a whole ``<pre>``; code in an unknown language has no spans.

    A page file is one in the language ``fxl``, or one that ``attributes`` names: `pages/a.fxl`.
    """
    file = next(iter(attributes.split()), "")
    inner = _spans(code, language)
    if language == "fxl" or file.endswith(".fxl"):
        found = _CLIENT_HALF.search(code)
        at = found.start() if found else len(code)
        ui = "jsx" if language == "fxl" else language
        inner = _spans(code[:at], "python") + _spans(code[at:], ui)
    named = f' class="language-{escape(language)}"' if language else ""
    return f'<pre class="highlight" tabindex="0"><code{named}>{inner}</code></pre>\n'


def _spans(code: str, language: str) -> str:
    """Return code as HTML, with spans if Pygments knows the language."""
    try:
        lexer = get_lexer_by_name(_LIKE.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    return _PLAIN.sub(r"\1", str(highlight(code, lexer, _FORMATTER)))
