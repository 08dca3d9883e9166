"""The order of sources, and what hooks may do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import trio
from starlette.requests import Request

from fxtrio.errors import LoaderError
from fxtrio.markdown import (
    HtmlConverter,
    MarkdownContext,
    MarkdownHook,
    MarkdownSources,
    nearest_llms,
    resolve_markdown,
)
from fxtrio.markdown.hooks import MarkdownHookMistaken


def make_request(path: str = "/blog/5", **params: str) -> Request:
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": path,
            "headers": [],
            "query_string": b"",
            "path_params": params,
        }
    )


class Page:
    """A page whose loader and render are counted."""

    def __init__(self, html: str = "<h1>Title</h1>") -> None:
        self.html = html
        self.loads = 0
        self.renders = 0

    async def load(self) -> dict[str, int]:
        self.loads += 1
        await trio.lowlevel.checkpoint()
        return {"n": self.loads}

    async def render(self) -> str:
        self.renders += 1
        await trio.lowlevel.checkpoint()
        return self.html

    def context(self) -> MarkdownContext:
        return MarkdownContext(make_request(id="5"), "/blog/5", load=self.load, render=self.render)


def hook(function: Callable[..., Any], place: str = "pages/llms.py: to_markdown()") -> MarkdownHook:
    return MarkdownHook(place, function)


def says(text: str | None) -> MarkdownHook:
    return hook(lambda ctx: text)


async def resolve(page: Page | None = None, **sources: Any) -> str | None:
    return await resolve_markdown(
        (page or Page()).context(), MarkdownSources(**{"converter": HtmlConverter(), **sources})
    )


async def test_the_file_beside_the_page_comes_first() -> None:
    assert await resolve(text="# File", hooks=(says("hook"),)) == "# File"


async def test_an_empty_file_is_a_source() -> None:
    assert await resolve(text="", hooks=(says("hook"),)) == ""


async def test_the_pages_hook_comes_before_those_of_folders_and_before_conversion() -> None:
    page = Page()
    assert await resolve(page, hooks=(says("page"), says("folder"))) == "page"
    assert page.renders == 0


async def test_none_passes_the_question_on_to_the_next_hook() -> None:
    hooks = (says(None), says(None), says("outer"))
    assert await resolve(hooks=hooks) == "outer"


async def test_an_empty_text_is_an_answer() -> None:
    assert await resolve(hooks=(says(""), says("outer"))) == ""


async def test_html_is_converted_when_all_hooks_decline() -> None:
    assert await resolve(hooks=(says(None),)) == "# Title\n"


async def test_without_conversion_nothing_may_be_left() -> None:
    page = Page()
    assert await resolve(page, hooks=(says(None),), converter=None) is None
    assert page.renders == 0


async def test_whoever_declines_is_not_wrapped() -> None:
    calls = []
    wrap = hook(lambda ctx, text: calls.append(text))
    assert await resolve(converter=None, wrap=wrap) is None
    assert calls == []


@pytest.mark.parametrize("source", [{"text": "x"}, {"hooks": (says("x"),)}, {}])
async def test_every_source_is_wrapped(source: dict[str, Any]) -> None:
    wrap = hook(lambda ctx, text: f"[{ctx.path}] {text.strip()}")
    page = Page(html="<p>x</p>")
    assert await resolve(page, **source, wrap=wrap) == "[/blog/5] x"


async def test_a_wrapper_that_returns_none_leaves_the_text_alone() -> None:
    assert await resolve(text="x", wrap=hook(lambda ctx, text: None)) == "x"


async def test_hooks_may_be_async_partial_or_callable_objects() -> None:
    async def later(ctx: MarkdownContext) -> str:
        return f"async {(await ctx.run_loader())['n']}"

    def prefixed(prefix: str, ctx: MarkdownContext) -> str:
        return prefix + ctx.path

    class Callable_:
        async def __call__(self, ctx: MarkdownContext) -> str:
            return str(ctx.request.path_params["id"])

    assert await resolve(hooks=(hook(later),)) == "async 1"
    assert await resolve(hooks=(hook(functools.partial(prefixed, ">")),)) == ">/blog/5"
    assert await resolve(hooks=(hook(Callable_()),)) == "5"


async def test_loader_and_render_run_once_however_often_hooks_ask() -> None:
    page = Page()

    async def greedy(ctx: MarkdownContext) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ctx.run_loader)
                nursery.start_soon(ctx.render_html)

    async def wrap(ctx: MarkdownContext, text: str) -> str:
        return f"{(await ctx.run_loader())['n']} {await ctx.render_html()}"

    assert await resolve(page, hooks=(hook(greedy),), wrap=hook(wrap)) == "1 <h1>Title</h1>"
    assert (page.loads, page.renders) == (1, 1)


async def test_a_failed_run_is_not_cached() -> None:
    page = Page()
    outcomes: list[Any] = [LoaderError("busy", 503), {"n": 7}]

    async def load() -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    context = MarkdownContext(make_request(), "/blog/5", load=load, render=page.render)
    with pytest.raises(LoaderError):
        await context.run_loader()
    assert await context.run_loader() == {"n": 7}


@pytest.mark.parametrize("error", [LoaderError("gone", 410), ZeroDivisionError(), KeyError("x")])
async def test_what_a_hook_raises_reaches_the_caller_unchanged(error: Exception) -> None:
    def failing(ctx: MarkdownContext) -> str:
        raise error

    with pytest.raises(type(error)) as caught:
        await resolve(hooks=(hook(failing), says("next")))
    assert caught.value is error


async def test_a_wrapper_that_raises_is_no_silent_success() -> None:
    def failing(ctx: MarkdownContext, text: str) -> str:
        raise RuntimeError("footer")

    with pytest.raises(RuntimeError, match="footer"):
        await resolve(text="x", wrap=hook(failing))


@pytest.mark.parametrize("value", [b"bytes", 7, {"a": 1}, ["x"], False])
async def test_an_answer_of_a_wrong_type_names_the_hook_the_value_and_the_remedy(
    value: object,
) -> None:
    place = "pages/blog/llms.py: to_markdown()"
    with pytest.raises(MarkdownHookMistaken) as caught:
        await resolve(hooks=(hook(lambda ctx: value, place),))
    message = str(caught.value)
    assert message.startswith(f"{place}: returned {value!r} ({type(value).__name__}).")
    assert "None to decline" in message


async def test_a_wrapper_of_a_wrong_type_is_an_error_too() -> None:
    with pytest.raises(MarkdownHookMistaken):
        await resolve(text="x", wrap=hook(lambda ctx, text: b"x"))


async def test_contexts_are_frozen_and_list_what_they_promise() -> None:
    context = Page().context()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        context.path = "/other"  # type: ignore[misc]
    assert [field.name for field in attrs.fields(MarkdownContext) if field.repr] == [
        "request",
        "path",
    ]


def test_promising_says_whether_any_source_exists() -> None:
    assert MarkdownSources(converter=HtmlConverter()).promising
    assert MarkdownSources(text="", converter=None).promising
    assert MarkdownSources(hooks=(says(None),), converter=None).promising
    assert not MarkdownSources(converter=None).promising


def test_llms_files_are_found_by_source_folder_nearest_first() -> None:
    files = {
        "pages": "pages/llms.py",
        "pages/blog/(public)": "pages/blog/(public)/llms.py",
        "pages/bl": "pages/bl/llms.py",
    }
    assert nearest_llms("pages/blog/(public)/[id].fxl", files) == (
        "pages/blog/(public)/llms.py",
        "pages/llms.py",
    )
    assert nearest_llms("pages/index.fxl", files) == ("pages/llms.py",)
    assert nearest_llms("pages/blog/index.fxl", {}) == ()
