"""Which `Accept` headers ask for Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.accept import Element, read_elements
from fxtrio.markdown.negotiation import prefers_markdown

CHROMIUM = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,"
    "*/*;q=0.8,application/signed-exchange;v=b3;q=0.7"
)


@pytest.mark.parametrize(
    "accept",
    [
        "text/markdown",
        "TEXT/Markdown",
        "text/markdown, text/html;q=0.9",
        "text/html;q=0.9, text/markdown",
        "text/markdown, text/html, */*",
        "text/markdown;q=0.5, */*;q=0.1",
        "text/markdown;charset=UTF-8",
        "text/markdown; variant=GFM",
        "text/*, text/html;q=0.5",
        "text/html;q=0, */*",
        "text/plain, text/markdown;q=0.001",
        " , text/markdown ;\tq=1.000 ,",
        'text/html;q=0.1;a="x,y;q=1", text/markdown',
    ],
)
def test_markdown_is_preferred_where_it_weighs_more_or_is_named_among_equals(accept: str) -> None:
    assert prefers_markdown(accept)


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "text/*",
        "text/html",
        CHROMIUM,
        "text/markdown;q=0.5, text/html",
        "text/markdown;q=0.5, */*",
        "text/markdown;q=0",
        "text/markdown;q=0, text/html;q=0",
        "text/markdown;q=2",
        "text/markdown;q=0.1234",
        "text/markdown;q=high",
        "text/markdown;variant=GFM, text/markdown;q=0.2, text/html;q=0.5",
        "text/markdownish",
        "application/markdown, text/plain",
        "text / markdown",
        "text/markdown!, text/html",
        '"text/markdown"',
    ],
)
def test_everything_else_gets_html(accept: str | None) -> None:
    assert not prefers_markdown(accept)


def test_the_example_of_the_rfc_is_read_as_the_rfc_says() -> None:
    header = (
        "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, "
        "text/plain;format=fixed;q=0.4, */*;q=0.5"
    )
    assert list(read_elements(header)) == [
        Element("text/*", 0.3, (), True),
        Element("text/plain", 0.7, (), True),
        Element("text/plain", 1.0, (("format", "flowed"),), True),
        Element("text/plain", 0.4, (("format", "fixed"),), True),
        Element("*/*", 0.5, (), True),
    ]


@given(st.text(alphabet=st.sampled_from(list('text/markdownhtml*;q=0.1, "\\x')), max_size=60))
def test_any_text_is_read_without_an_error(header: str) -> None:
    for found in read_elements(header):
        assert found.weight is None or 0 <= found.weight <= 1
    assert prefers_markdown(header) in (True, False)


weights = st.integers(0, 1000)
names = st.sampled_from(["text/markdown", "text/html", "text/*", "*/*", "image/png"])
headers = st.dictionaries(names, weights, max_size=5)


@given(headers, st.randoms(use_true_random=False))
def test_plain_headers_agree_with_a_table_of_weights(
    weights: dict[str, int], random: object
) -> None:
    ranges = [f"{name};q={weight / 1000:.3f}" for name, weight in weights.items()]
    random.shuffle(ranges)  # type: ignore[attr-defined]

    def weight(name: str) -> int:
        return next((weights[key] for key in (name, "text/*", "*/*") if key in weights), 0)

    markdown, html = weight("text/markdown"), weight("text/html")
    expected = markdown > html or ("text/markdown" in weights and markdown == html > 0)
    assert prefers_markdown(", ".join(ranges)) is expected


@given(headers)
def test_the_order_of_ranges_means_nothing(weights: dict[str, int]) -> None:
    ranges = [f"{name};q={weight / 1000:.3f}" for name, weight in weights.items()]
    forth, back = ",".join(ranges), ",".join(reversed(ranges))
    assert prefers_markdown(forth) is prefers_markdown(back)


def test_a_header_longer_than_any_client_sends_means_html() -> None:
    assert prefers_markdown("text/markdown")
    assert not prefers_markdown('text/markdown,"' + '\\"' * 15_000)
