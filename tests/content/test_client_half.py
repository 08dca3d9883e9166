"""The client half of a page in Markdown: elements where the runtime is needed, HTML elsewhere."""

from __future__ import annotations

from fxtrio.content.article import read_article
from fxtrio.content.client_half import ASSET, client_half


def half(text: str) -> str:
    article = read_article(
        text, "docs/page.md", read=str, locate=lambda path, is_image: f"{ASSET}./{path}"
    )
    return client_half(article)


def test_html_without_links_of_the_site_is_one_text() -> None:
    text = half("# A\n\nText with [a link](https://a.test) and `{code}`.\n")

    assert text.count("dangerouslySetInnerHTML") == 1
    assert "<article dangerouslySetInnerHTML={{ __html: " in text
    assert "fx/client" not in text


def test_links_of_the_site_and_images_are_components() -> None:
    text = half('[x](/docs/y "t") ![a](p.svg) ![b](/b.png) ![c](p.PNG)\n\n- [ ] [z](/z)\n')

    assert "import { Image, Link } from 'fx/client';" in text
    assert 'import asset0 from "./docs/p.svg";' in text
    assert 'import asset1 from "./docs/p.PNG?picture";' in text
    assert '<Link title={"t"} href={"/docs/y"}>{"x"}</Link>' in text
    assert 'alt={"a"} src={asset0} />' in text
    assert '<Image alt={"b"} src={"/b.png"} />' in text
    assert '<Image alt={"c"} src={asset1} />' in text
    assert 'type={"checkbox"}' in text
    assert "checked" not in text


def test_attributes_are_those_of_react() -> None:
    text = half(
        '<p class="a" style="text-align: left; --x: 1" tabindex="0" aria-label="l">'
        '<a href="/x">x</a><input checked value="v"></p>\n'
    )

    assert 'className={"a"} style={{"textAlign": "left", "--x": "1"}}' in text
    assert 'tabIndex={"0"} aria-label={"l"}' in text
    assert '<input defaultChecked defaultValue={"v"} />' in text


def test_spaces_between_the_rows_of_a_table_are_left_out() -> None:
    text = half("| a |\n|---|\n| [x](/x) |\n")

    assert "<tbody><tr><td><Link" in text


def test_text_cannot_end_the_module_or_a_string() -> None:
    text = half('# `</script>` "quoted" \u2028 ${x} {y}\n\n[a](/a) {`}`}\n')

    assert "\u2028" not in text
    assert '{" {"}<code' in text
