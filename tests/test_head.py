"""HTML of ``HEAD`` values: what is preserved, what is dropped and what is rejected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.head import ELEMENTS, HeadInvalid, parse_head


def test_each_allowed_element_becomes_a_node() -> None:
    html = (
        '<title>A &amp; B</title><meta name="description" content="x">'
        '<link rel="icon" href="/i.svg"/><base href="/app/">'
        "<style>p > a { color: red }</style>"
        '<script type="application/ld+json">{"a": "<b>"}</script>'
    )
    assert parse_head(html) == [
        ["title", {}, "A & B"],
        ["meta", {"name": "description", "content": "x"}, ""],
        ["link", {"rel": "icon", "href": "/i.svg"}, ""],
        ["base", {"href": "/app/"}, ""],
        ["style", {}, "p > a { color: red }"],
        ["script", {"type": "application/ld+json"}, '{"a": "<b>"}'],
    ]


def test_attributes_without_a_value_are_empty_strings() -> None:
    assert parse_head("<script async src=/a.js></script>") == [
        ["script", {"async": "", "src": "/a.js"}, ""]
    ]


def test_an_unquoted_value_may_end_in_a_slash() -> None:
    assert parse_head("<script src=/a/></script>") == [["script", {"src": "/a/"}, ""]]


def test_a_script_may_close_itself() -> None:
    assert parse_head('<script src="/a.js" /><title>T</title>') == [
        ["script", {"src": "/a.js"}, ""],
        ["title", {}, "T"],
    ]


def test_of_repeated_attributes_the_first_counts() -> None:
    assert parse_head("<meta name=a NAME=b>") == [["meta", {"name": "a"}, ""]]


def test_tags_in_a_title_are_text() -> None:
    assert parse_head("<title>Use <b>bold</b> <br/><!--x--></title>") == [
        ["title", {}, "Use <b>bold</b> <br/><!--x-->"]
    ]


def test_comments_and_white_space_between_elements_are_dropped() -> None:
    assert parse_head("\n <!-- hi --> <title>T</title>\n") == [["title", {}, "T"]]


def test_noscript_keeps_checked_html() -> None:
    html = '<noscript><link rel=stylesheet href="/n.css?a&b"><style>p{}</style></noscript>'
    assert parse_head(html) == [
        [
            "noscript",
            {},
            '<link rel="stylesheet" href="/n.css?a&amp;b"><style>p{}</style>',
        ]
    ]


@pytest.mark.parametrize(
    ("html", "cause", "place"),
    [
        ("<div>x</div>", "<div> is not allowed here", (1, 1)),
        ("<title>T</title>\n  <img src=x>", "<img> is not allowed here", (2, 3)),
        ('<link rel="x" onload="go()">', "event handler 'onload'", (1, 1)),
        ("<meta OnFocus=x>", "event handler 'onfocus'", (1, 1)),
        ("<script/onerror=x src=y></script>", "event handler 'onerror'", (1, 1)),
        ("<meta a'b=c>", "attribute name", (1, 1)),
        ("<title>T</title>words", "'words' is outside", (1, 17)),
        ("<title>T", "<title> is never closed", (1, 1)),
        ("\n<script>let a = 1", "<script> is never closed", (2, 1)),
        ("</title>", "</title> closes nothing", (1, 1)),
        ("<!doctype html>", "is not a head element", (1, 1)),
        ("<?php x ?>", "is not a head element", (1, 1)),
        ("<noscript><img src=x></noscript>", "in <noscript>: <img>", (1, 1)),
        ("<noscript><link onload=x></noscript>", "in <noscript>: <link>", (1, 1)),
        ("<noscript>hello</noscript>", "in <noscript>: 'hello'", (1, 1)),
        ("<noscript><style></noscript></style></noscript>", "'</noscript'", (1, 1)),
        ("<script>let a = '<!--<script>'</script>", "contains '<!--'", (1, 1)),
    ],
)
def test_what_does_not_belong_in_a_head_is_rejected(
    html: str, cause: str, place: tuple[int, int]
) -> None:
    with pytest.raises(HeadInvalid) as caught:
        parse_head(html)
    assert cause in caught.value.cause
    assert (caught.value.line, caught.value.column) == place
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "  \t\njavascript:alert(1)",
        "java\nscript:alert(1)",
        "java&#10;script:alert(1)",
        "java&Tab;script&colon;alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;&#x61vascript:alert(1)",
        "&#1;javascript:alert(1)",
        "\x01\x1fjavascript:alert(1)",
        "\u200bjavascript:alert(1)",
        "vbscript:msgbox(1)",
    ],
)
@pytest.mark.parametrize("attribute", ["href", "src", "xlink:href"])
def test_urls_that_run_scripts_are_dropped(url: str, attribute: str) -> None:
    assert parse_head(f'<link rel="x" {attribute}="{url}">') == [["link", {"rel": "x"}, ""]]


def test_a_refresh_that_runs_a_script_is_dropped() -> None:
    html = '<meta http-equiv="refresh" content="0; url=java\tscript:alert(1)">'
    assert parse_head(html) == [["meta", {"http-equiv": "refresh"}, ""]]


def test_a_source_set_that_runs_a_script_is_dropped() -> None:
    html = '<link rel="preload" imagesrcset="/a.png 1x, javascript:alert(1) 2x">'
    assert parse_head(html) == [["link", {"rel": "preload"}, ""]]


def test_a_description_may_speak_of_javascript() -> None:
    html = '<meta name="description" content="javascript: the good parts">'
    assert parse_head(html)[0][1]["content"] == "javascript: the good parts"


@given(st.text(alphabet="<>/!-=\"'& \nabtilesconrpvjxd:;#", max_size=60) | st.text(max_size=40))
def test_any_text_is_either_checked_nodes_or_rejected(html: str) -> None:
    try:
        nodes = parse_head(html)
    except HeadInvalid as rejected:
        assert rejected.line >= 1
        assert rejected.column >= 1
        return
    for tag, values, text in nodes:
        assert tag in ELEMENTS
        assert isinstance(text, str)
        assert not any(name.startswith("on") for name in values)


def test_a_template_of_titles_has_a_place_for_the_title() -> None:
    assert parse_head(
        '<title data-template="%s | A">A</title><title data-template="">B</title>'
    ) == [
        ["title", {"data-template": "%s | A"}, "A"],
        ["title", {"data-template": ""}, "B"],
    ]
    with pytest.raises(HeadInvalid, match="'Acme' of <title> has no %s"):
        parse_head('<title data-template="Acme">A</title>')
