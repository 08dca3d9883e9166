"""HTML documents: the frame around rendered pages, and the built-in error page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import msgspec

from fxtrio.manifest import Assets, View
from fxtrio.serve.pages.html.own_document import message_document
from fxtrio.serve.request.response.translated import translated
from fxtrio.ssr.frames import Rendered
from fxtrio.status import phrase_of

_VIEWPORT = b'<meta name="viewport" content="width=device-width, initial-scale=1">'

STATE = b'<script type="application/json" id="__fx_data">'
"""Begins the payload of a document, which only its scripts read."""

_TO_STATE = b"</div>" + STATE
_END = b"</script></body></html>"
_HEAD = b'<head><meta charset="utf-8">'
_BODY = b"<body>"
_ROOT = b'<div id="fx-root">'
_TO_ROOT = b"</head>" + _BODY + _ROOT

_PREFETCHED = b" data-fx-prefetch="
"""On links that browsers load beforehand (`fxtrio/js/client/navigation/link.js`)."""

_RULES = (
    b'<script type="speculationrules"%b>{"prefetch":[{"where":'
    b'{"selector_matches":"[data-fx-prefetch]"},"eagerness":"moderate"}]}</script>'
)

_ENTRY = b'<script type="module"'

_TAGS = (b"<html ", b"<body ")
"""Prefix of a head that has attributes for the document."""

_NEEDS_SCRIPTS = b"<!--fx:scripts-->"
"""In front of HTML that needs its scripts after all (`fxtrio/js/render/set-html.js`)."""


class DocumentFrame(msgspec.Struct, frozen=True):
    """The bytes of a view's document that are the same for every request."""

    lang: bytes
    """The language of a document whose head says nothing about it, escaped."""

    opening: bytes
    """Up to where the head elements of the render go."""

    links: bytes
    """Stylesheets, module preloads and the entry script."""

    styles: bytes
    """Stylesheets alone."""

    nonce: bytes
    """Placeholder that a render writes for each nonce; empty without nonces."""

    scripts: bool = True
    """Whether the document of a render has scripts, and the payload that they read."""

    loader: bytes = b""
    """The script that loads islands, for a document without others; empty without islands."""

    def shell(self, first: Rendered) -> bytes:
        """Return the document of a streamed page up to the end of its first part."""
        head = first.head
        viewport = b"" if b'name="viewport"' in head else _VIEWPORT
        opening, head, to_root = self._around(head)
        return b"".join((opening, viewport, head, self.links, to_root, first.html))

    def early_shell(self, first: Rendered, state: bytes) -> bytes:
        """Return the same with the payload and the entry script behind it.

        A module script runs when the document is complete, unless it is ``async``.
        """
        head = first.head
        viewport = b"" if b'name="viewport"' in head else _VIEWPORT
        opening, head, to_root = self._around(head)
        links, mark, entry = self.links.partition(_ENTRY)
        parts = (opening, viewport, head, links, to_root, first.html)
        return b"".join((*parts, STATE, state, b"</script>", mark, b" async", entry))

    def settled_value(self, entry: bytes) -> bytes:
        """Return the script that gives the page a deferred value; ``entry`` is safe in HTML.

        With ``var``, no element of that id is taken for the list.
        """
        push = b"var __fx_values;(__fx_values??=[]).push(%b)" % entry
        return b'<script nonce="%b">%b</script>' % (self.nonce, push)

    def early_rest(self, plain: bytes) -> bytes:
        """Return the end of a document that began with `early_shell`."""
        return b"<noscript>%b</noscript></body></html>" % plain

    def rest(self, state: bytes, script: bytes = b"", plain: bytes = b"") -> bytes:
        """Return the end of a document, after the last part of a stream closed the root element.

        ``script`` runs before the payload is read; ``plain`` is HTML for browsers without
        scripts.
        """
        noscript = b"<noscript>%b</noscript>" % plain if plain else b""
        inline = b'<script nonce="%b">%b</script>' % (self.nonce, script) if script else b""
        return noscript + inline + STATE + state + _END

    def whole(self, rendered: Rendered, state: bytes, nonce: bytes) -> bytes:
        """Return the document of a render.

        One without HTML, which the browser renders, has scripts in any case, and so has one whose
        render has found that it needs them.
        """
        head, html = rendered.head, rendered.html
        viewport = b"" if b'name="viewport"' in head else _VIEWPORT
        if self.nonce:
            # Looking is cheap, copying is not; the state has it once, near its end.
            head = head.replace(self.nonce, nonce)
            html = html.replace(self.nonce, nonce) if self.nonce in html else html
            cut = state.rfind(self.nonce)
            state = state[:cut] + state[cut:].replace(self.nonce, nonce) if cut >= 0 else state
        opening, head, to_root = self._around(head)
        needs_scripts = self.scripts or not html
        if not self.scripts and html.startswith(_NEEDS_SCRIPTS):
            html, needs_scripts = html.removeprefix(_NEEDS_SCRIPTS), True
        if not needs_scripts:
            parts = (opening, viewport, head, self.styles, to_root, html, b"</div>")
            allowed = b' nonce="%b"' % nonce if nonce else b""
            rules = _RULES % allowed if _PREFETCHED in html else b""
            loader = b""
            if self.loader and ISLAND in html:
                loader = b'<script type="module"%b>%b</script>' % (allowed, self.loader)
            return b"".join((*parts, rules, loader, b"</body></html>"))
        return b"".join(
            (
                opening,
                viewport,
                head,
                self.links,
                to_root,
                html,
                _TO_STATE,
                state,
                _END,
            )
        )

    def _around(self, head: bytes) -> tuple[bytes, bytes, bytes]:
        """Return the text before a head, the head without document tags, and the text after it.

        The content of these tags is escaped, so the first ``>`` ends each.
        """
        if not head.startswith(_TAGS):
            return self.opening, head, _TO_ROOT
        html, body = b"<html>", _BODY
        while head.startswith(_TAGS):
            tag, end, head = head.partition(b">")
            if tag.startswith(b"<html"):
                html = tag + end
            else:
                body = tag + end
        if b' lang="' not in html:
            html = b'<html lang="%b"%b' % (self.lang, html.removeprefix(b"<html"))
        return b"<!DOCTYPE html>" + html + _HEAD, head, b"</head>" + body + _ROOT


def document_frame(view: View, assets: Assets, *, lang: str, nonce: bytes) -> DocumentFrame:
    """Prepare the document of a view from the asset URLs of the manifest."""
    css = dict.fromkeys((*assets.css, *view.client.get("css", ())))
    preload = dict.fromkeys(
        (assets.entry, *assets.preload, *_modules(view), *view.client.get("preload", ()))
    )
    styles = "".join(f'<link rel="stylesheet" href="{escape(url)}">' for url in css)
    links = styles + "".join(
        f'<link rel="modulepreload" href="{escape(url)}">' for url in preload if url
    )
    links += f'<script type="module" src="{escape(assets.entry)}"></script>'
    spoken = escape(lang).encode()
    opening = b'<!DOCTYPE html><html lang="%b">%b' % (spoken, _HEAD)
    loader = b""
    if not view.scripts and "islands" in view.client:
        loader = loader_of(assets.islands)
    texts = (spoken, opening, links.encode(), styles.encode(), nonce)
    return DocumentFrame(*texts, scripts=view.scripts, loader=loader)


def _modules(view: View) -> Sequence[str]:
    layouts = [layout["module"] for layout in view.client.get("layouts", ())]
    return [*layouts, *filter(None, [view.client.get("module")])]


def error_document(
    status: int, message: str, *, home: str = "", details: str = "", reference: str = ""
) -> bytes:
    """Return the built-in error page, in the language of the visitor whose request is worked for.

    ``home`` is the URL of the home page; ``details`` is rendered as preformatted text;
    ``reference`` is the id of the request, which one click selects.
    """
    home_html = ""
    if home:
        label = translated("Go to the home page")
        home_html = f'<p><a href="{escape(home)}">{escape(label)}</a></p>'
    details_html = f'<pre tabindex="0">{escape(details)}</pre>' if details else ""
    reference_html = ""
    if reference:
        quoted = translated("Quote this id if you report the error.") if status >= 500 else ""
        named = f"{escape(translated('Request'))} <code>{escape(reference)}</code>"
        reference_html = f"<small>{' '.join(filter(None, (named, escape(quoted))))}</small>"
    content = f"<p>{escape(translated(message))}</p>\n{home_html}{details_html}{reference_html}"
    phrase = phrase_of(status)
    title, sign = translated(phrase), translated(f"ERROR {status}")
    lang = "en" if title == phrase else ""
    return message_document(sign, title, content, name=f"{status} · {title}", lang=lang).encode()


ISLAND = b" data-fx-island="
"""On the elements of islands (`fxtrio/js/render/islands.js`)."""


def loader_of(shared: Sequence[str]) -> bytes:
    """Return the script that loads each island when its time comes, and nothing before.

    It is for pages whose only scripts are islands; ``shared`` are the URLs of what all of them
    load. An island is nearly visible when one of its elements with a box is. One that shows
    nothing, or only text, is where the element around it is.
    """
    return _text().replace(b"SHARED", json.dumps(list(shared)).encode().replace(b"<", b"\\u003c"))


@cache
def _text() -> bytes:
    lines = Path(__file__).with_name("islands.js").read_bytes().splitlines()
    return b"\n".join(line.strip() for line in lines)
