"""An article in, the client half of its page out: TSX with the HTML as it is, as far as possible.

Only what the runtime looks after is written as elements: links within the site, which the client
router follows and to which the base URL is added, and images, which are made in several sizes, get
a hashed name or get the base URL. All other HTML is text that React sets as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from posixpath import splitext
from typing import Any

import attrs

from fxtrio.content.article import Article, jsonable
from fxtrio.content.elements import VOID, Element, inner_html

ASSET = "fx-asset:"
"""In front of the path of an image that is a file of the project, relative to the page's folder."""

PICTURES = frozenset([".avif", ".gif", ".jpeg", ".jpg", ".png", ".webp"])
"""Suffixes of images that are made in several sizes; others are bundled as they are."""

_NAME = re.compile(r"[a-z][a-z0-9-]*+\Z")
_WITHOUT_TEXT = frozenset(
    ["article", "colgroup", "dl", "ol", "table", "tbody", "tfoot", "thead", "tr", "ul"]
)
"""Elements in which text of spaces alone shows nothing."""

_OF_INPUTS = {"checked": "defaultChecked", "value": "defaultValue"}
"""Attributes that React would reset to what they were rendered with."""

_RENAMED = {
    "class": "className",
    "for": "htmlFor",
    **{
        name.lower(): name
        for name in (
            *("colSpan", "rowSpan", "tabIndex", "dateTime", "srcSet", "readOnly", "maxLength"),
            *("autoPlay", "playsInline", "allowFullScreen", "crossOrigin", "referrerPolicy"),
            *("hrefLang", "useMap", "contentEditable", "spellCheck", "fetchPriority"),
        )
    },
}
"""Attributes that React writes otherwise."""


def client_half(article: Article) -> str:
    """Return the module of a page: its component, ``frontMatter`` and ``headings``."""
    writing = _Writing()
    tree = writing.node(Element("article", {}, article.tree.children))
    used = sorted(writing.components)
    lines = [f"import {{ {', '.join(used)} }} from 'fx/client';"] if used else []
    lines += [
        f"import {name} from {json.dumps(path)};" for path, name in sorted(writing.assets.items())
    ]
    lines += [
        f"export const frontMatter = {_json(article.front_matter.values)};",
        f"export const headings = {_json(jsonable(article.headings))};",
        "export default function MarkdownPage() {",
        f"  return {tree};",
        "}",
    ]
    return "\n".join([*lines, ""])


def _json(value: Any) -> str:
    """Return JSON for a module."""
    return json.dumps(value, ensure_ascii=True)


@attrs.define(eq=False)
class _Writing:
    components: set[str] = attrs.field(factory=set)
    assets: dict[str, str] = attrs.field(factory=dict)
    """Path of a file to the name that it is imported under."""

    def node(self, node: Element | str) -> str:
        if isinstance(node, str):
            return f"{{{_json(node)}}}"
        name, attributes = self._of_runtime(node)
        if not name:
            name, attributes = node.name, _attributes(node.attributes, node.name)
            if not any(self._of_runtime(one)[0] for one in node.walk()):
                return _raw(name, attributes, node)
        if node.name in VOID:
            return f"<{name}{attributes} />"
        children = "".join(map(self.node, filter(_is_rendered(node.name), node.children)))
        return f"<{name}{attributes}>{children}</{name}>"

    def _of_runtime(self, node: Element) -> tuple[str, str]:
        """Return component and attributes of an element for it; two "" for others."""
        name = {"a": "href", "img": "src"}.get(node.name, "")
        url = node.attributes.get(name) or ""
        others = {one: value for one, value in node.attributes.items() if one != name}
        if url.startswith("/") and not url.startswith("//"):
            component = "Link" if node.name == "a" else "Image"
            self.components.add(component)
            return component, f"{_attributes(others)} {name}={_value(url)}"
        if node.name == "img" and url.startswith(ASSET):
            path = url.removeprefix(ASSET)
            is_picture = splitext(path)[1].lower() in PICTURES
            path += "?picture" if is_picture else ""
            asset = self.assets.setdefault(path, f"asset{len(self.assets)}")
            if is_picture:
                self.components.add("Image")
                return "Image", f"{_attributes(others)} src={{{asset}}}"
            defaults = {"loading": "lazy", "decoding": "async", **others}
            return "img", f"{_attributes(defaults)} src={{{asset}}}"
        return "", ""


def _is_rendered(parent: str) -> Callable[[Element | str], bool]:
    """Return whether a child of an element is written: React refuses spaces in tables."""
    return lambda node: (
        parent not in _WITHOUT_TEXT or isinstance(node, Element) or bool(node.strip())
    )


def _raw(name: str, attributes: str, node: Element) -> str:
    if not node.children:
        return f"<{name}{attributes} />"
    html = _json(inner_html(node))
    return f"<{name}{attributes} dangerouslySetInnerHTML={{{{ __html: {html} }}}} />"


def _attributes(attributes: dict[str, str | None], element: str = "") -> str:
    """Return attributes of HTML as those of JSX, each with a space in front."""
    renamed = {**_RENAMED, **_OF_INPUTS} if element == "input" else _RENAMED
    written = []
    for name, value in attributes.items():
        if not _NAME.match(name):
            continue
        if name == "style":
            written.append(f"style={{{_json(_style(value or ''))}}}")
        elif value is None:
            written.append(renamed.get(name, name))
        else:
            written.append(f"{renamed.get(name, name)}={_value(value)}")
    return "".join(f" {one}" for one in written)


def _value(text: str) -> str:
    return f"{{{_json(text)}}}"


def _style(text: str) -> dict[str, str]:
    """Return the declarations of a ``style`` as React has them."""
    style = {}
    for declaration in text.split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip()
        if not colon or not name:
            continue
        if not name.startswith("--"):
            head, *words = name.lower().removeprefix("-ms-").split("-")
            name = head + "".join(word[:1].upper() + word[1:] for word in words)
        style[name] = value.strip()
    return style
