"""HTML of pages as Markdown."""

from __future__ import annotations

import html
import logging
import threading

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from fxtrio.errors import ExtraMissing
from fxtrio.markdown.convert import DEEPEST, LARGE, HtmlConverter


async def convert_html(html: str) -> str:
    markdown = await HtmlConverter().convert(html, "pages/a.fxl")
    assert markdown is not None
    return markdown


async def test_headings_links_lists_and_code_keep_their_form() -> None:
    markdown = await convert_html(
        '<nav><a href="/">Home</a></nav><h2>Use</h2><ul><li>a</li><li>b</li></ul>'
        '<pre><code class="language-py">a_b = 1 * 2\n</code></pre>'
    )
    assert markdown == "[Home](/)\n\n## Use\n\n- a\n- b\n\n```py\na_b = 1 * 2\n```\n"


async def test_a_table_stays_a_table() -> None:
    markdown = await convert_html(
        "<table><thead><tr><th>Id</th><th>A|B</th></tr></thead>"
        "<tbody><tr><td>1</td><td>x</td></tr></tbody></table>"
    )
    rows = [line.replace(" ", "") for line in markdown.splitlines()]
    assert rows[0] == r"|Id|A\|B|"
    assert set(rows[1]) == {"|", "-"}
    assert rows[2] == "|1|x|"


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("2 *3* 4", r"2 \*3\* 4"),
        ("_private name_", r"\_private name\_"),
        ("# not a heading", r"\# not a heading"),
        ("1. not a list", r"1\. not a list"),
        ("[not](a link)", r"\[not\](a link)"),
        ("a `tick`", r"a \`tick\`"),
        ("<b>", r"\<b\>"),
    ],
)
async def test_text_that_looks_like_markdown_stays_text(text: str, markdown: str) -> None:
    assert await convert_html(f"<p>{html.escape(text)}</p>") == markdown + "\n"


async def test_scripts_styles_templates_drawings_and_comments_are_left_out() -> None:
    markdown = await convert_html(
        "<!--$--><p>a</p><!--/$--><script>alert(1)</script><style>p{}</style>"
        "<template><p>t</p></template><svg><title>icon</title></svg>"
    )
    assert markdown == "a\n"


async def test_nothing_gives_nothing() -> None:
    assert await convert_html("") == ""


async def test_large_pages_are_converted_in_a_thread_and_small_ones_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = []
    plain = HtmlConverter._convert

    def noticing(converter: HtmlConverter, html: str, place: str) -> str | None:
        threads.append(threading.current_thread())
        return plain(converter, html, place)

    monkeypatch.setattr(HtmlConverter, "_convert", noticing)
    await convert_html("<p>a</p>")
    long = await convert_html(f"<p>{'word ' * LARGE}</p>")
    assert len(long) > LARGE
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threading.current_thread()


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("<p>" + "a " * 500 + "</p>", "has more than 1000 characters"),
        ("<b>" * (DEEPEST + 2) + "deep", f"has more than {DEEPEST} nested elements"),
        ("<ul><li>" * 50 + "<br>a" * 50, "which would have "),
        ("<table>" + "<tr><td colspan=900>a</td></tr>" * 10, "which would have "),
    ],
    ids=["large", "deep", "indented", "wide"],
)
async def test_a_page_with_too_much_html_or_markdown_is_not_converted_and_the_log_names_it(
    page: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "fx.markdown"):
        assert await HtmlConverter(1000).convert(page, "pages/a.fxl") is None
    assert "pages/a.fxl: not converted to Markdown" in caplog.text
    assert why in caplog.text


async def test_one_large_page_is_converted_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, most = 0, 0
    plain = HtmlConverter._convert

    def counting(converter: HtmlConverter, html: str, place: str) -> str | None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            return plain(converter, html, place)
        finally:
            at_once -= 1

    monkeypatch.setattr(HtmlConverter, "_convert", counting)
    converter = HtmlConverter()
    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(converter.convert, f"<p>{'word ' * LARGE}</p>", "pages/a.fxl")
    assert most == 1


@settings(max_examples=50)
@given(st.text(st.sampled_from(list("ab<>&*_#[]()|`~-+1. \n")), max_size=40))
def test_any_text_can_be_converted(text: str) -> None:
    assert isinstance(HtmlConverter()._convert(f"<p>{html.escape(text)}</p><p>end</p>", ""), str)


NAVIGATION = '<header><nav><a href="/">Home</a></nav></header>'


@pytest.mark.parametrize(
    ("page", "markdown"),
    [
        (f"{NAVIGATION}<main id=m><h1>Title</h1></main><footer>End</footer>", "# Title\n"),
        ("<main>a<footer>b</footer></main><main>c</main><nav>d</nav>", "a\n\nb\n\nc\n"),
        ("<p>a</p><footer>End</footer>", "a\n\nEnd\n"),
        (f"<div>{NAVIGATION}<MAIN\n>text</MAIN></div>", "text\n"),
        (f"{NAVIGATION}<article><h1>Title</h1></article>", "# Title\n"),
        (
            f"{NAVIGATION}<h1>List</h1><article>a</article><article>b</article>",
            "# List\n\na\n\nb\n",
        ),
        (f"{NAVIGATION}<article>a</article><main>b</main>", "b\n"),
        (f"{NAVIGATION}<p>no such element</p>", "[Home](/)\n\nno such element\n"),
        ("<!-- <main> --><p title='<main>'>a</p><script>'<main>'</script>", "a\n"),
        ("<p>a</p><mainly>b</mainly>", "a\n\nb\n"),
        ("<STYLE><main></Style ><article>a</article>", "a\n"),
        ("<p>a</p><!-- <main>b</main>", "a\n"),
    ],
)
async def test_a_page_starts_where_its_content_does(page: str, markdown: str) -> None:
    assert await convert_html(page) == markdown


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxtrio.markdown.convert.find_spec", lambda name: None)

    with pytest.raises(ExtraMissing) as caught:
        HtmlConverter()

    assert str(caught.value) == (
        "llms.autoConvert: html-to-markdown is not installed. Run \"pip install 'fxtrio[llms]'\"."
    )
