"""``/llms.txt``."""

from __future__ import annotations

import attrs
import pytest
from starlette.requests import Request

from fxtrio.markdown import (
    LlmsPageInfo,
    LlmsTxtContext,
    MarkdownHook,
    first_heading,
    list_pages,
    render_llms_txt,
    title_of,
)
from fxtrio.markdown.hooks import MarkdownHookMistaken

PATTERNS = dict.fromkeys(
    ["/docs/getting-started", "/", "/blog/[id]", "/files/[[...rest]]", "/blog"], ""
)


def request() -> Request:
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": "/llms.txt",
            "scheme": "https",
            "headers": [(b"host", b"example.org:8443")],
            "query_string": b"",
        }
    )


async def render(function: object = None, **options: object) -> str:
    hook = None if function is None else MarkdownHook("pages/llms.py: llms_txt()", function)  # type: ignore[arg-type]
    settings: dict[str, object] = {"name": "Demo", "base_url": "", "has_markdown": lambda _: True}
    return await render_llms_txt(
        request(),
        list_pages(PATTERNS),
        hook=hook,
        **(settings | options),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/", "Home"),
        ("/blog", "Blog"),
        ("/docs/getting-started", "Getting Started"),
        ("/docs/the_last--mile", "The Last Mile"),
        ("/docs/HTTP-api", "HTTP Api"),
        ("/é-tage", "É Tage"),
        ("/a/--", "--"),
    ],
)
def test_titles_are_taken_from_the_last_segment(path: str, title: str) -> None:
    assert title_of(path) == title


def test_pages_that_need_no_parameters_are_listed_by_path() -> None:
    assert list_pages(PATTERNS) == (
        LlmsPageInfo("/", "/index.md", "Home"),
        LlmsPageInfo("/blog", "/blog.md", "Blog"),
        LlmsPageInfo("/docs/getting-started", "/docs/getting-started.md", "Getting Started"),
        LlmsPageInfo("/files", "/files.md", "Files"),
    )


@pytest.mark.parametrize(
    ("patterns", "paths"),
    [
        (["/[[...slug]]"], ["/"]),
        (["/[[...slug]]", "/"], ["/"]),
        (["/docs/[[...slug]]", "/docs"], ["/docs"]),
        (["/[team]/[[...slug]]"], []),
        (["/docs/[...slug]"], []),
    ],
)
def test_the_base_of_an_optional_parameter_is_a_page(patterns: list[str], paths: list[str]) -> None:
    assert [page.path for page in list_pages(dict.fromkeys(patterns, ""))] == paths


def test_a_title_that_is_known_takes_the_place_of_that_of_the_path() -> None:
    titles = {
        "/docs/[[...slug]]": "Any",
        "/docs": "The  docs",
        "/a/[[...b]]": "All of it",
        "/c": "",
    }
    found = [(page.path, page.title) for page in list_pages(titles)]
    assert found == [("/a", "All of it"), ("/c", "C"), ("/docs", "The docs")]
    assert list_pages(dict(reversed(titles.items()))) == list_pages(titles)


@pytest.mark.parametrize(
    ("markdown", "heading"),
    [
        ("# The shop\nText", "The shop"),
        ("\n\n# Prices #\n", "Prices"),
        ("Text\n\n# Later", ""),
        ("## Second", ""),
        ("# *Strong*", ""),
        ("", ""),
    ],
)
def test_a_heading_is_read_where_it_is_first_and_plain(markdown: str, heading: str) -> None:
    assert first_heading(markdown) == heading


async def test_the_default_names_the_app_and_links_absolutely_to_markdown() -> None:
    assert await render() == (
        "# Demo\n\n## Pages\n\n"
        "- [Home](https://example.org:8443/index.md)\n"
        "- [Blog](https://example.org:8443/blog.md)\n"
        "- [Getting Started](https://example.org:8443/docs/getting-started.md)\n"
        "- [Files](https://example.org:8443/files.md)\n"
    )


async def test_pages_without_a_source_are_linked_as_they_are_below_the_base_url() -> None:
    text = await render(base_url="/app", has_markdown=lambda path: path == "/")
    assert "- [Home](https://example.org:8443/app/index.md)\n" in text
    assert "- [Blog](https://example.org:8443/app/blog)\n" in text


async def test_names_and_paths_cannot_break_out_of_their_place() -> None:
    text = await render_llms_txt(
        request(),
        list_pages({"/a](b)": ""}),
        name="*Demo*",
        base_url="",
        has_markdown=lambda _: True,
    )
    assert text.startswith(r"# \*Demo\*")
    assert r"- [A\](b)](https://example.org:8443/a%5D%28b%29.md)" in text


async def test_the_hook_may_write_its_own_and_use_the_default() -> None:
    async def llms_txt(ctx: LlmsTxtContext) -> str:
        return f"{len(ctx.pages)} pages on {ctx.request.url.hostname}\n" + ctx.render_default()

    text = await render(llms_txt)
    assert text.startswith("4 pages on example.org\n# Demo\n")


async def test_a_hook_that_returns_none_leaves_the_default() -> None:
    assert await render(lambda ctx: None) == await render()


async def test_a_hook_of_a_wrong_type_is_named() -> None:
    with pytest.raises(MarkdownHookMistaken, match=r"pages/llms.py: llms_txt\(\): returned 7"):
        await render(lambda ctx: 7)


async def test_what_the_hook_raises_passes() -> None:
    def failing(ctx: LlmsTxtContext) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await render(failing)


def test_the_entries_have_exactly_the_fields_of_the_contract() -> None:
    assert [field.name for field in attrs.fields(LlmsPageInfo)] == ["path", "md_url", "title"]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        list_pages({"/": ""})[0].title = "x"  # type: ignore[misc]
