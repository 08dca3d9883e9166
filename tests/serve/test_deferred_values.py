"""Deferred values: what each kind of request gets, when the functions run, and how they fail."""

from __future__ import annotations

import html
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from fx.testing import open_app
from fxtrio.runtime import defer
from fxtrio.ssr.errors import RenderFailed, SsrDown
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.responses import AnswerUnreadable
from tests.trees import page, write_tree

NAVIGATION = {"x-fx-navigation": "1"}

BOOK = """
    import trio
    from fx.runtime import defer, redirect

    events = []

    async def find(name, seconds):
        events.append(f"{name} begins")
        try:
            await trio.sleep(seconds)
        except trio.Cancelled:
            events.append(f"{name} is cancelled")
            raise
        if name == "missing":
            raise LoaderError("No reviews today.", 410, data={"again": "tomorrow"})
        if name == "broken":
            raise ValueError("secret")
        if name == "away":
            raise redirect("/elsewhere")
        if name == "returned":
            return redirect("/elsewhere")
        if name == "group":
            raise BaseExceptionGroup("all", [SystemExit(3), ValueError("secret")])
        return [name, "</script>\\u2028"]

    @server
    async def load(request):
        name = request.query_params.get("name", "reviews")
        await trio.sleep(1)
        events.append("the loader returns")
        if "deep" in request.query_params:
            book = {"reviews": defer(find, name, 3)}  # `fx check` reports what a return shows
            return {"book": book}
        request.app.state.events = events
        values = {"reviews": defer(find, name, 3), "others": defer(find, "others", 6)}
        return {"title": "Middlemarch", **values}
    """
LAYOUT = """
    from fx.runtime import defer

    async def find():
        return ["menu"]

    @server
    async def load(request):
        return {"name": "Shop", "menu": defer(find)}
    """


@attrs.define
class Parts:
    """A render in parts: the shell, and then one part for each settled value."""

    send: trio.MemorySendChannel[bytes]
    receive: trio.MemoryReceiveChannel[bytes]

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        yield Rendered(b"<title>shell</title>", b"<p>fallback</p></div>")
        for _ in range(2):
            yield Rendered(b"", await self.receive.receive())

    async def resolve(self, name: str, value: bytes) -> None:
        await self.send.send(b"<i>%b</i>" % name.encode())

    async def reject(self, name: str, error: bytes) -> None:
        await self.send.send(b"<i>%b failed</i>" % name.encode())


class BrokenParts(Parts):
    """A render that throws before its shell."""

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        await trio.sleep(1)
        raise RenderFailed("no shell")
        yield


@attrs.define
class Renderer:
    is_down: bool = False
    parts: type[Parts] = Parts

    async def render(self, page: int, payload: bytes) -> Rendered:
        if self.is_down:
            raise SsrDown("Node is missing")
        return Rendered(b"", b"whole")

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[Parts]:
        if self.is_down:
            raise SsrDown("Node is missing")
        yield self.parts(*trio.open_memory_channel[bytes](9))


@asynccontextmanager
async def open_renderer() -> AsyncIterator[Renderer]:
    yield Renderer()


@asynccontextmanager
async def open_no_renderer() -> AsyncIterator[Renderer]:
    yield Renderer(is_down=True)


@asynccontextmanager
async def open_broken_renderer() -> AsyncIterator[Renderer]:
    yield Renderer(parts=BrokenParts)


def project(root: Path, files: dict[str, str] | None = None, *, layout: bool = False) -> Path:
    tree = {"pages/index.fxl": page(BOOK), "pages/error.fxl": page("")}
    if layout:
        tree["pages/layout.fxl"] = page(LAYOUT)
    return write_tree(root, {**tree, **(files or {})})


async def lines_of(root: Path, url: str, **settings: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return the payload of a navigation, and each value with the time at which it came."""
    async with open_app(root, open_renderer=open_renderer, **settings) as client:
        start = trio.current_time()
        async with client.stream("GET", url, headers=NAVIGATION) as response:
            assert response.headers["content-type"] == "application/vnd.fx.page+json-lines"
            assert response.headers["cache-control"] == "no-store"
            assert response.headers["x-accel-buffering"] == "no"
            chunks = [(round(trio.current_time() - start), chunk) async for chunk in response]
    (_, first), *rest = [(time, json.loads(chunk)) for time, chunk in chunks if chunk]
    return first, [(time, *entry) for time, entry in rest]


async def test_a_navigation_gets_each_value_when_it_has_come(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    payload, values = await lines_of(project(tmp_path), "/")
    assert payload["props"]["data"] == {"title": "Middlemarch"}
    assert payload["promises"] == ["page:reviews", "page:others"]
    assert values == [
        (4, "page:reviews", ["reviews", "</script>\u2028"], False),
        (7, "page:others", ["others", "</script>\u2028"], False),
    ]


async def test_a_document_is_interactive_before_its_values(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path), open_renderer=open_renderer) as client:
        async with client.stream("GET", "/") as response:
            assert response.headers["x-accel-buffering"] == "no"
            parts = [part async for part in response]
    shell, first_script, first, second_script, second, end, *_ = parts
    assert b"<p>fallback</p></div><script" in shell
    assert b'"promises":["page:reviews","page:others"]' in shell
    assert shell.endswith(b"></script>")
    assert b'</script><script type="module" async src=' in shell
    assert shell.count(b'type="module"') == 1
    expected = rb'.push(["page:reviews",["reviews","\u003c/script\u003e\u2028"],false])</script>'
    assert first_script.endswith(expected)
    assert (first, second) == (b"<i>page:reviews</i>", b"<i>page:others</i>")
    assert b'["page:others"' in second_script
    assert end.endswith(b"</body></html>")


async def test_the_functions_begin_when_all_loaders_have_returned(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path, layout=True), open_renderer=open_renderer) as client:
        await client.get("/", headers=NAVIGATION)
        events = client.app.state.events
    assert events[0] == "the loader returns"
    assert set(events[1:]) == {"reviews begins", "others begins"}


async def test_a_client_that_leaves_cancels_all(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with open_app(project(tmp_path), open_renderer=open_renderer) as client:
        for headers in ({}, NAVIGATION):
            async with client.stream("GET", "/", headers=headers) as response:
                await anext(aiter(response))
                await trio.sleep(1)
            await trio.sleep(0.2)
            events = client.app.state.events
            assert set(events[-2:]) == {"reviews is cancelled", "others is cancelled"}


async def test_a_render_that_fails_cancels_all(tmp_path: Path, autojump_clock: MockClock) -> None:
    root = write_tree(tmp_path, {"pages/index.fxl": page(BOOK)})
    async with open_app(root, open_renderer=open_broken_renderer) as client:
        response = await client.get("/")
        events = client.app.state.events
    assert response.status == 500
    assert trio.current_time() == pytest.approx(2, abs=0.5)  # the loader and the render
    assert set(events[-2:]) == {"reviews is cancelled", "others is cancelled"}


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("missing", 410, "No reviews today."),
        ("broken", 500, None),
        ("away", 500, None),
        ("returned", 500, "redirects to '/elsewhere'. Let the loader redirect."),
        ("group", 500, None),
    ],
)
async def test_one_that_fails_is_an_error_in_its_place(
    name: str,
    status: int,
    message: str | None,
    tmp_path: Path,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "fx.serve")
    payload, values = await lines_of(project(tmp_path), f"/?name={name}")
    assert payload["statusCode"] == 200
    _, name_, error, failed = values[0]
    assert (name_, failed, error["statusCode"]) == ("page:reviews", True, status)
    if message is not None:
        assert error["message"].endswith(message)
        assert error["data"] == ({"again": "tomorrow"} if status == 410 else {})
    assert values[1][1:] == ("page:others", ["others", "</script>\u2028"], False)
    assert "pages/index.fxl: defer('reviews')" in caplog.text


async def test_each_has_the_time_of_a_loader(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    _, values = await lines_of(project(tmp_path), "/", timeouts={"loader": 5})
    assert [(time, name, failed) for time, name, _, failed in values] == [
        (4, "page:reviews", False),
        (6, "page:others", True),
    ]
    assert values[1][2]["statusCode"] == 504
    assert "defer('others'): took longer than 5 s" in caplog.text


async def test_tests_read_all_values_or_one_after_the_other(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    root = project(tmp_path, layout=True)
    async with open_app(root, open_renderer=open_renderer) as client:
        whole = await client.load_page("/?name=missing")
        start = trio.current_time()
        async with client.stream_page("/") as stream:
            assert stream.page.data == {"title": "Middlemarch"}
            async for key, value, error, layout in stream:
                if key == "reviews":
                    break
                assert (key, value, error, layout) == ("menu", ["menu"], None, 0)
        assert trio.current_time() - start == 4
        with pytest.raises(AnswerUnreadable, match="Use load_page"):
            async with client.stream_page("/?deep"):
                pass
    assert whole.data["others"][0] == "others"
    assert whole.layout_data == {"name": "Shop", "menu": ["menu"]}
    assert whole.failed["reviews"]["message"] == "No reviews today."
    assert stream.page.data["reviews"][0] == "reviews"
    assert "others" not in stream.page.data


async def test_layouts_defer_too(tmp_path: Path, autojump_clock: MockClock) -> None:
    payload, values = await lines_of(project(tmp_path, layout=True), "/")
    assert payload["promises"] == ["0:menu", "page:reviews", "page:others"]
    assert payload["props"]["layoutData"] == {"name": "Shop"}
    assert values[0][1:] == ("0:menu", ["menu"], False)


async def test_a_failed_form_gets_settled_values(tmp_path: Path, autojump_clock: MockClock) -> None:
    code = (
        BOOK
        + """
    @action
    async def save(request):
        raise ActionError("no", 422)
    """
    )
    root = project(tmp_path, {"pages/index.fxl": page(code)})
    async with open_app(root, open_renderer=open_renderer) as client:
        response = await client.post(
            "/api/__actions/index/save", data={}, headers={"accept": "text/html"}
        )
    assert response.status == 422
    assert '"others":["others",' in response.text
    assert '"promises":["page:reviews","page:others"]' in response.text


async def test_for_head_a_deferred_failure_is_that_of_the_page(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path), open_renderer=open_renderer) as client:
        fine = await client.request("HEAD", "/")
        failed = await client.request("HEAD", "/?name=missing")
    assert (fine.status, fine.body) == (200, b"")
    assert failed.status == 410


async def test_markdown_gets_settled_values_and_their_failure(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    hook = """
    async def to_markdown(ctx):
        return " ".join((await ctx.run_loader())["others"])
    """
    root = project(tmp_path, {"pages/index.fxl": page(BOOK + hook)})
    async with open_app(root, llms={"enabled": True}) as client:
        fine = await client.get("/index.md")
        failed = await client.get("/index.md?name=missing")
    assert (fine.status, fine.text) == (200, "others </script>\u2028")
    assert failed.status == 410


async def test_cached_pages_have_settled_values(tmp_path: Path, autojump_clock: MockClock) -> None:
    code = '    CACHE = {"revalidate": 60}\n' + BOOK
    root = project(tmp_path, {"pages/index.fxl": page(code)})
    async with open_app(root, mode="production", open_renderer=open_renderer) as client:
        document = await client.get("/")
        navigation = await client.get("/", headers=NAVIGATION)
    assert '"others":["others",' in document.text
    assert navigation.json()["props"]["data"]["others"][0] == "others"


async def test_with_a_loading_file_a_slow_loader_has_its_values_settled(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    root = project(tmp_path, {"pages/loading.fxl": page("")})
    async with open_app(root, render=False) as client:
        document = await client.get("/")
    assert '"others":["others",' in document.text
    assert '"promises":["page:reviews","page:others"]' in document.text


async def test_a_client_that_names_values_gets_and_awaits_them_alone(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    root = project(tmp_path, layout=True)
    async with open_app(root, open_renderer=open_renderer) as client:
        async with client.stream(
            "GET", "/", headers={**NAVIGATION, "x-fx-only": "page:title,0:men%75,page:nothing"}
        ) as response:
            first, *rest = [json.loads(chunk) async for chunk in response if chunk]
        plain = await client.get("/", headers={**NAVIGATION, "x-fx-only": "page:title,%ff"})
        events = client.app.state.events
        failed = await client.get("/?deep", headers={**NAVIGATION, "x-fx-only": "page:title"})
        rejected = await client.get("/?deep", headers={**NAVIGATION, "x-fx-only": "page:book"})
    assert first["props"] == {"data": {"title": "Middlemarch"}, "layoutData": {}}
    assert first["promises"] == ["0:menu"]
    assert rest == [["0:menu", ["menu"], False]]
    assert plain.headers["content-type"] == "application/vnd.fx.page+json"
    assert plain.json()["props"] == {"data": {"title": "Middlemarch"}, "layoutData": {}}
    assert set(events) == {"the loader returns"}
    assert (failed.status, rejected.status) == (200, 500)
    assert rejected.json()["props"]["layoutData"] == {"name": "Shop", "menu": ["menu"]}


@pytest.mark.parametrize("loading", [False, True])
async def test_without_a_renderer_the_browser_gets_an_empty_shell_and_the_values(
    loading: bool, tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    root = project(tmp_path, {"pages/loading.fxl": page("")} if loading else None)
    async with open_app(root, open_renderer=open_no_renderer) as client:
        response = await client.get("/")
        events = client.app.state.events
    assert response.status == 200
    assert '<div id="fx-root"></div>' in response.text
    assert '"title":"Middlemarch"' in response.text
    assert response.text.index('"others",') > response.text.index('"reviews",')
    assert events.count("reviews begins") == 1
    assert "The browser renders it." in caplog.text


async def test_the_client_router_ends_the_values_of_a_document_that_it_has_replaced(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path), open_renderer=open_renderer) as client:
        async with client.stream("GET", "/") as response:
            parts = aiter(response)
            shell = await anext(parts)
            found = re.search(rb'"document":"([0-9a-f]{32})"', shell)
            assert found is not None
            id = found[1].decode()
            await trio.sleep(1)
            wrong = await client.request("PUT", f"/api/__leave?{id}")
            unknown = await client.post(f"/api/__leave?{id[::-1]}")
            begun = trio.current_time()
            left = await client.post(f"/api/__leave?{id}")
            rest = b"".join([part async for part in parts])
        events = client.app.state.events
    assert (wrong.status, unknown.status, left.status) == (405, 204, 204)
    assert rest.endswith(b"</body></html>")
    assert trio.current_time() - begun < 1
    assert set(events[-2:]) == {"reviews is cancelled", "others is cancelled"}


async def test_a_browser_without_scripts_ends_the_document_and_loads_it_with_all_values(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    root = project(tmp_path, {"pages/[...path].fxl": page(BOOK)})
    async with open_app(root, open_renderer=open_renderer, base_url="/shop") as client:
        async with client.stream("GET", "/shop/?name=a&b=%3Ci%3E") as response:
            parts = aiter(response)
            shell = (await anext(parts)).decode()
            again = re.search(
                r'<noscript><meta http-equiv="refresh" content="0;url=([^"]+)">'
                r'<img src="([^"]+)" alt="" hidden></noscript>$',
                shell,
            )
            assert again is not None
            url, image = (html.unescape(found) for found in again.groups())
            assert url == "/shop/?name=a&b=%3Ci%3E&__fx_settled"
            begun = trio.current_time()
            assert (await client.get(image)).status == 204
            assert b"".join([part async for part in parts]).endswith(b"</body></html>")
            assert trio.current_time() - begun < 1
        assert set(client.app.state.events[-2:]) == {"a is cancelled", "others is cancelled"}
        whole = await client.get(url)
        missing = await client.get("/shop/?name=missing&__fx_settled")
        itself = await client.get("/shop/deep", headers={"referer": "https://x.example/shop/deep"})
        other = await client.get("/shop/deep", headers={"referer": "https://x.example/shop/"})
        host = await client.get("/shop//evil.example")
    assert '"others":["others",' in whole.text
    assert '"requestedPath":"/shop/?name=a\\u0026b=%3Ci%3E"' in whole.text
    assert whole.headers["link"] == '</shop/?name=a&b=%3Ci%3E>; rel="canonical"'
    assert (whole.status, missing.status) == (200, 410)
    refreshed = ["http-equiv" in answer.text for answer in (whole, missing, itself, other)]
    assert refreshed == [False, False, False, True]
    assert "url=//" not in host.text


async def test_the_failure_of_one_lets_the_boundary_have_those_of_the_layout_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    layout = LAYOUT.replace(
        'return ["menu"]',
        "CALLS.append(1)\n        await trio.sleep(5)\n        return CALLS",
    ).replace("from fx", "import trio\n    CALLS = []\n    from fx", 1)
    files = {"pages/layout.fxl": page(layout)}
    async with open_app(project(tmp_path, files), open_renderer=open_renderer) as client:
        response = await client.request("HEAD", "/?name=missing")
        payload = (await client.get("/?deep", headers=NAVIGATION)).json()
    assert response.status == 410
    assert payload["props"]["layoutData"] == {"name": "Shop", "menu": [1, 1]}
    assert payload["promises"] == ["0:menu"]


async def test_a_boundary_does_not_call_what_has_failed_again(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    layout = LAYOUT.replace('return ["menu"]', 'raise LoaderError("no menu", 418)')
    root = project(tmp_path, {"pages/layout.fxl": page(layout)})
    async with open_app(root, open_renderer=open_renderer) as client:
        response = await client.request("HEAD", "/?name=missing")
    assert response.status == 418
    assert caplog.text.count("no menu") <= 1


async def test_headers_that_are_set_when_the_page_is_on_its_way_are_logged(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    code = """
    from fx.runtime import defer

    async def find(request):
        request.state.response.set_cookie("seen", "yes")
        return 1

    @server
    async def load(request):
        return {"found": defer(find, request)}
    """
    root = project(tmp_path, {"pages/index.fxl": page(code)})
    async with open_app(root, open_renderer=open_renderer) as client:
        await client.get("/", headers=NAVIGATION)
    assert "deferred values set set-cookie after the headers were sent" in caplog.text


async def test_a_cached_navigation_with_deferred_values_counts_its_time_down(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    code = '    CACHE = {"revalidate": 60}\n' + BOOK
    root = project(tmp_path, {"pages/index.fxl": page(code)})
    async with open_app(root, mode="production", open_renderer=open_renderer) as client:
        await client.get("/", headers=NAVIGATION)
        await trio.sleep(30)
        navigation = await client.get("/", headers=NAVIGATION)
    assert 20 < navigation.json()["ttl"] < 30


async def test_a_deeper_one_is_rejected_with_its_key(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(project(tmp_path), open_renderer=open_renderer) as client:
        response = await client.get("/?deep")
    assert response.status == 500
    assert "the value at 'book.reviews' is not JSON-serializable: defer(find)" in caplog.text
    assert "Only the values of the dict that a loader returns can be deferred" in caplog.text


async def test_a_function_that_is_not_async_is_named() -> None:
    def find() -> int:
        return 1

    async def generate() -> AsyncIterator[int]:
        yield 1

    with pytest.raises(TypeError, match=r"find\): returned 1 \(int\), which cannot be awaited"):
        await defer(find).call()  # type: ignore[arg-type]  # the mistake itself
    with pytest.raises(TypeError, match=r"generate\): returned .* and does not yield"):
        await defer(generate).call()  # type: ignore[arg-type]  # the mistake itself


async def test_a_coroutine_is_rejected() -> None:
    async def find() -> int:
        return 1

    with pytest.raises(TypeError, match=r"Pass the function: defer\(find, …\)"):
        defer(find())  # type: ignore[arg-type]  # the mistake itself
