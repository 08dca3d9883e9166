"""Text of pages in Markdown: literal, without a backslash too many."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fxtrio.markdown.convert import HtmlConverter
from fxtrio.markdown.escapes import drop_needless
from tests.short import amount


def _convert(html: str) -> str:
    markdown = HtmlConverter()._convert(html, "pages/a.fxl")
    assert markdown is not None
    return markdown


GITHUB = MarkdownIt("gfm-like", {"linkify": False})
"""CommonMark with tables and strikethroughs; its links of bare addresses are left out."""


@pytest.mark.parametrize(
    "text",
    [
        "v0.9.4",
        "snake_case_name",
        "2 * 3 * 4",
        "a -> b, and -5 + 3 = -2",
        "a == b",
        "AT&T & R#5, issue #7",
        "an array[3] of [things]",
        "1 < 2",
        "about ~5 minutes",
        "5' is 1.5 m (about)",
        r"C:\temp\new",
        "what? yes!",
    ],
)
def test_what_needs_no_escape_has_none(text: str) -> None:
    assert _convert(f"<p>{html.escape(text)}</p>") == f"{text}\n"
    assert _convert(f"<ul><li>{html.escape(text)}</li></ul>") == f"- {text}\n"


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("# x", r"\# x"),
        ("1. x", r"1\. x"),
        ("12) x", r"12\) x"),
        ("- x", r"\- x"),
        ("---", r"\-\-\-"),
        ("+ x", r"\+ x"),
        ("> x", r"\> x"),
        ("***", r"\*\*\*"),
        ("a*b*c", r"a\*b\*c"),
        ("_x_", r"\_x\_"),
        ("~~x~~", r"\~\~x\~\~"),
        ("[a](b)", r"\[a\](b)"),
        ("[a]: b", r"\[a\]: b"),
        ("[ ] done", r"\[ \] done"),
        ("&lt;", r"\&lt;"),
        ("<b>", r"\<b\>"),
        ("a `b`", r"a \`b\`"),
        (r"a\*b", r"a\\*b"),
        ("ends with \\", "ends with \\\\"),
    ],
)
def test_where_markdown_would_act_the_escape_stays(text: str, markdown: str) -> None:
    assert _convert(f"<p>{html.escape(text)}</p>") == f"{markdown}\n"


@pytest.mark.parametrize(
    "code",
    [r"v\.0", "`\\.` \\#", "```\n\\.\n````\n\\-"],
    ids=["plain", "ticks", "fences"],
)
def test_code_is_left_alone(code: str) -> None:
    escaped = html.escape(code)
    for page in (
        f"<p>v1.0 <code>{escaped}</code></p>",
        f"<pre><code>{escaped}\n</code></pre>",
        f"<ul><li>v1.0<pre>{escaped}</pre></li></ul><blockquote><pre>{escaped}</pre></blockquote>",
    ):
        if "\n" in code and "<pre>" not in page:
            continue
        blocks = re.findall(r"<code[^>]*>(.*?)</code>", GITHUB.render(_convert(page)), re.DOTALL)
        assert {html.unescape(part).rstrip("\n") for part in blocks} == {code}


def test_targets_and_titles_of_links_are_left_alone() -> None:
    page = r"""<p><a href="/a\.b(c)" title="t\.t">v1.0</a> <img src="a b\.png" alt="x.y"></p>"""
    rendered = GITHUB.render(_convert(page))
    assert 'href="/a%5C.b(c)" title="t\\.t">v1.0</a>' in rendered
    assert 'src="a%20b%5C.png" alt="x.y"' in rendered


@pytest.mark.parametrize(
    ("target", "href"),
    [(r"/a\>b", "/a%5C%3Eb"), ("/a <b", "/a%20%3Cb"), ("x y<z>", "x%20y%3Cz%3E")],
)
def test_a_target_with_angle_brackets_ends_where_markdown_ends_it(target: str, href: str) -> None:
    page = f'<p>v1.0 <a href="{html.escape(target)}">v1.0</a></p>'
    assert GITHUB.render(_convert(page)) == f'<p>v1.0 <a href="{href}">v1.0</a></p>\n'


def test_markdown_without_escapes_is_returned_as_it_is() -> None:
    assert drop_needless("# a.b\n\n- c\n") == "# a.b\n\n- c\n"


words = st.text(st.sampled_from(list("ab1 .)(-+=#*_~`[]<>&;!|:\\/x")), min_size=1, max_size=24)


def displayed_as(markdown: str, block: str) -> list[str] | None:
    """Return the lines a reader sees of one block, None when other marks came to be."""
    rendered = GITHUB.render(markdown).strip()
    found = re.fullmatch(block, rendered, re.DOTALL)
    if found is None or re.search(r"<(?!br />)", found[1]):
        return None
    return [html.unescape(line).strip() for line in found[1].split("<br />\n")]


@settings(max_examples=amount(150, short=10, long=600))
@given(st.lists(words, min_size=1, max_size=3))
@example(["a|b", "-|-"])
@example(["a", "---"])
@example(["[ ] a"])
@example(["a**_b*_"])
def test_any_text_reads_as_on_the_page(lines: list[str]) -> None:
    lines = [line for line in (" ".join(line.split()) for line in lines) if line]
    inside = "<br>".join(map(html.escape, lines))
    if not lines:
        return
    assert displayed_as(_convert(f"<p>{inside}</p>"), "<p>(.*)</p>") == lines
    assert (
        displayed_as(_convert(f"<ul><li>{inside}</li></ul>"), "<ul>\n<li>(.*)</li>\n</ul>") == lines
    )
    if len(lines) == 1:
        assert displayed_as(_convert(f"<h2>{inside}</h2>"), "<h2>(.*)</h2>") == lines


@settings(max_examples=amount(75, short=10, long=300))
@given(words, words, st.sampled_from(["b", "em", "code", "del"]))
def test_text_beside_marks_reads_as_on_the_page(before: str, inside: str, tag: str) -> None:
    page = f"<p>{html.escape(before)} <{tag}>{html.escape(inside)}</{tag}> end</p>"
    text = html.unescape(re.sub("<[^>]*>", "", GITHUB.render(_convert(page))))
    assert "".join(text.split()) == "".join(f"{before}{inside}end".split())
