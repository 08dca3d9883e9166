"""What an HTML document refers to, and its Content-Security-Policy. Pure.

Documents are found by their tags alone: React and the head write well-formed ones, and what an
application has written itself is read as browsers read it, as far as links go.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import unescape

import attrs

from fxtrio.serve.request.response.response import policy_of_document

_TAG = re.compile(r"<!--|<([a-zA-Z][^\s/>]*+)")
_REST = re.compile(r"((?>(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*))>")
_ATTRIBUTE = re.compile(
    r"([^\s\"'<>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'=<>`]++)))?"
)
_RAW = frozenset({"script", "style", "textarea", "title", "template", "xmp"})
"""Elements whose content holds no links of the document."""

_SRC = frozenset({"img", "script", "iframe", "source", "video", "audio", "track", "embed", "input"})
_HREF = frozenset({"a", "area", "link"})
_UNCHECKED = frozenset({"preconnect", "dns-prefetch", "external"})
"""What links are that lead to no file: hints, and links to another site, also of the same host."""

_DATA = re.compile(r"\s*+(?:application|text)/(?!javascript|ecmascript|x-javascript)", re.I)
"""Types of scripts that browsers do not run."""

_CHARSET = b'<meta charset="utf-8">'


@attrs.frozen
class Document:
    """What an HTML document refers to, in the order of its text, without repetitions."""

    links: tuple[str, ...]
    """URLs as they are written."""

    posts: tuple[str, ...]
    """URLs that forms are sent to with POST."""

    ids: frozenset[str]
    """What fragments of links may name."""

    indexed: bool
    """Whether search engines may list it."""


def read_document(text: str) -> Document:
    """Return what ``text`` refers to."""
    links: dict[str, None] = {}
    posts: dict[str, None] = {}
    ids = set()
    indexed = True
    for tag, unread, _ in _tags(text):
        if "=" not in unread:
            continue
        attributes = _attributes(unread)
        if "id" in attributes:
            ids.add(attributes["id"])
        if tag == "a" and "name" in attributes:
            ids.add(attributes["name"])
        if (
            tag in _HREF
            and "href" in attributes
            and _UNCHECKED.isdisjoint(attributes.get("rel", "").lower().split())
        ):
            links[attributes["href"]] = None
        if tag in _SRC and "src" in attributes:
            links[attributes["src"]] = None
        if tag == "video" and "poster" in attributes:
            links[attributes["poster"]] = None
        if "srcset" in attributes and "data:" not in attributes["srcset"]:
            candidates = filter(None, map(str.split, attributes["srcset"].split(",")))
            links.update((candidate[0], None) for candidate in candidates)
        if tag == "form" and attributes.get("method", "").lower() == "post":
            posts[attributes.get("action", "")] = None
        if tag == "meta" and attributes.get("name", "").lower() == "robots":
            indexed = "noindex" not in attributes.get("content", "").lower()
    return Document(tuple(links), tuple(posts), frozenset(ids), indexed)


def _tags(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each start tag: its name, its attributes as text, and the text of a raw element."""
    at = 0
    while (found := _TAG.search(text, at)) is not None:
        at = found.end()
        if found[1] is None:
            end = text.find("-->", at)
            at = len(text) if end < 0 else end + 3
            continue
        rest = _REST.match(text, at)
        if rest is None:  # to browsers, too, a tag without an end is the end
            return
        at = rest.end()
        tag, content = found[1].lower(), ""
        if tag in _RAW:
            end = text.find(f"</{tag}", at)
            end = len(text) if end < 0 else end
            content, at = text[at:end], end
        yield tag, rest[1], content


def _attributes(text: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        value = double or single or bare
        named.setdefault(name.lower(), unescape(value) if "&" in value else value)
    return named


def with_policy(document: bytes) -> bytes:
    """Return a document with a policy that allows the scripts it holds, by their hashes.

    `report-uri` and `frame-ancestors` have no effect in a document.
    """
    hashes = sorted({_hash(script) for script in _inline_scripts(document.decode())})
    policy = policy_of_document(" ".join(hashes))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'.encode()
    return document.replace(_CHARSET, _CHARSET + meta, 1)


def _inline_scripts(text: str) -> Iterator[str]:
    """Yield the text of each script that a browser runs and that is in the document itself."""
    for tag, attributes, content in _tags(text):
        if tag == "script":
            named = _attributes(attributes)
            if "src" not in named and not _DATA.match(named.get("type", "")):
                yield content


def _hash(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
