"""docs/guides/markdown-in-pages.md: no text that a user writes becomes a script."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fx.testing import open_app
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "guides/markdown-in-pages.md"
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick=alert(1)>b</b>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](<java\nscript:alert(1)>)",
    "[x](&#1;javascript:alert(1))",
    "[x]\n\n[x]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
    '[x](https://example.org "t\\" onmouseover=alert(1) x=\\"")',
    '![" onerror=alert(1) x="](https://example.org/x.png)',
    '```"><script>alert(1)</script>\ncode\n```',
    "<!--\n<script>alert(1)</script>",
    "<style>*{}</style><iframe srcdoc='<script>'></iframe>",
]


class Elements(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def scheme_of(url: str) -> str:
    """Return the scheme of a URL, as browsers read it; "" for a relative one."""
    url = re.sub(r"^[\x00- ]+|[\t\n\r]", "", url)
    found = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", url)
    return found[1].lower() if found else ""


def write_all(root: Path) -> None:
    for block in blocks(PAGE):
        if block.file:
            (root / block.file).parent.mkdir(parents=True, exist_ok=True)
            (root / block.file).write_text(block.text, "utf-8")


@pytest.mark.parametrize("text", HOSTILE)
async def test_what_users_write_is_safe_html(text: str, tmp_path: Path) -> None:
    write_all(tmp_path)
    async with open_app(tmp_path, llms=True) as client:
        assert (await client.action("/", "add", {"text": text})).ok
        [html] = (await client.load_page("/")).data["notes"]
        assert (await client.get("/index.md")).text.strip() == text
        too_long = await client.action("/", "add", {"text": "x" * 10_001})

    found = Elements(html)
    assert found.names <= {"p", "a", "img", "pre", "code"}
    for name, value in found.attributes:
        assert name in {"href", "src", "title", "alt", "class"}
        if name in {"href", "src"}:
            assert scheme_of(value) in {"https", ""}
    assert too_long.fields.keys() == {"text"}


async def test_links_and_images_are_as_the_page_says(tmp_path: Path) -> None:
    [code] = [block.text for block in blocks(PAGE) if "link_open" in block.text]
    names: dict[str, object] = {}
    exec("from markdown_it import MarkdownIt\n" + code, names)
    html = names["MARKDOWN"].render("[x](https://a.example) ![y](https://b.example/y.png)")  # type: ignore[attr-defined]

    assert '<a href="https://a.example" rel="nofollow ugc">x</a>' in html
    assert Elements(html).names == {"p", "a"}
