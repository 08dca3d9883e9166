"""Pages in parts: the nonce across borders of parts, deferred data, and its failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from fx.testing import open_app
from fxtrio.application import Application
from fxtrio.serve.pages.html.stream import NonceWriter
from fxtrio.ssr.frames import Rendered
from tests.trees import page, write_tree

PLACEHOLDER = b"abcab"


@given(st.lists(st.text("abc", max_size=12)))
def test_the_nonce_replaces_its_placeholder_wherever_parts_are_cut(parts: list[str]) -> None:
    pieces = [part.encode() for part in parts] + [b">"]
    writer = NonceWriter(PLACEHOLDER, b"N")
    sent = b"".join(writer.feed(piece) for piece in pieces)
    assert sent == b"".join(pieces).replace(PLACEHOLDER, b"N")


@attrs.define
class Parts:
    """A render whose second part waits for the page's data."""

    settled: trio.Event = attrs.field(factory=trio.Event)
    outcome: bytes = b""

    async def __aiter__(self) -> AsyncIterator[Rendered]:
        yield Rendered(b"<title>shell</title>", b"<p>fallback</p></div>")
        await self.settled.wait()
        yield Rendered(b"", b"<i>%b</i>" % self.outcome)

    async def resolve(self, name: str, value: bytes) -> None:
        self.outcome = b"%b=%b" % (name.encode(), value)
        self.settled.set()

    async def reject(self, name: str, error: bytes) -> None:
        self.outcome = b"%b rejected" % name.encode()
        self.settled.set()


class Renderer:
    async def render(self, page: int, payload: bytes) -> Rendered:
        return Rendered(b"", b"whole")

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[Parts]:
        parts = Parts()
        if b'"deferred":true' not in payload:
            parts.settled.set()
        yield parts


@asynccontextmanager
async def open_renderer() -> AsyncIterator[Renderer]:
    yield Renderer()


SLOW = """
    import trio
    from fx.runtime import redirect

    @server
    async def load(request):
        if "early" not in request.query_params:
            await trio.sleep(2)
        if "fail" in request.query_params:
            raise LoaderError("too late", 410)
        if "away" in request.query_params:
            return redirect("/</script>")
        return {"message": "late"}
    """
UI = """
    import { Suspense } from "react";
    export default function Page({ data }) { return <Suspense><p>{data.message}</p></Suspense>; }
    """


def project(root: Path, *, loading: bool) -> Path:
    """Write a page whose loader is slow, with a loading file or not."""
    files = {"pages/index.fxl": page(SLOW, UI), "pages/error.fxl": page("")}
    if loading:
        files["pages/loading.fxl"] = page("")
    return write_tree(root, files)


async def test_without_a_loading_file_the_loader_comes_before_the_first_part(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path, loading=False), open_renderer=open_renderer) as client:
        failed = await client.get("/?fail")
        away = await client.get("/?away")
    assert failed.status == 410
    assert (away.status, away.headers["location"]) == (303, "/</script>")


async def test_with_a_loading_file_the_shell_does_not_wait_for_the_loader(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path, loading=True), open_renderer=open_renderer) as client:
        async with client.stream("GET", "/") as response:
            chunks = aiter(response)
            shell = await anext(chunks)
            assert trio.current_time() < 1
            rest = b"".join([chunk async for chunk in chunks])
    assert response.status == 200
    assert "content-length" not in response.headers
    assert b"<title>shell</title>" in shell
    assert b"fallback" in shell
    assert b'<i>page={"message":"late"}</i>' in rest
    assert b'"props":{"data":{"message":"late"}' in rest
    assert rest.endswith(b"</html>")


async def test_a_failure_after_the_shell_renders_the_boundary_in_the_browser(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path, loading=True), open_renderer=open_renderer) as client:
        response = await client.get("/?fail")
    assert response.status == 200
    assert "page rejected" in response.text
    assert 'document.getElementById("fx-root").replaceChildren()' in response.text
    assert '"statusCode":410,"error":"too late"' in response.text


async def test_the_browser_follows_a_redirect_after_the_shell(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path, loading=True), open_renderer=open_renderer) as client:
        response = await client.get("/?away")
    assert 'location.replace("/\\u003c/script\\u003e")' in response.text


async def test_a_client_that_leaves_ends_the_stream_and_its_loader(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_app(project(tmp_path, loading=True), open_renderer=open_renderer) as client:
        async with client.stream("GET", "/") as response:
            await anext(aiter(response))
        assert trio.current_time() < 1


QUICK = """
    import trio
    from fx.runtime import redirect

    @server
    async def load(request):
        request.state.response.set_cookie("seen", "yes")
        await trio.sleep(float(request.query_params["after"]))
        request.state.response.set_cookie("late", "yes")
        match request.query_params["end"]:
            case "gone":
                raise LoaderError("gone", 410)
            case "away":
                return redirect("/elsewhere")
            case "crash":
                raise ValueError("a crash")
        return {"message": "here"}, 202
    """


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    files = {"pages/index.fxl": page(QUICK), "pages/error.fxl": page("")}
    return write_tree(tmp_path, {**files, "pages/loading.fxl": page("")})


@pytest.mark.parametrize(
    ("end", "status"), [("gone", 410), ("away", 303), ("crash", 500), ("data", 202)]
)
async def test_a_loader_that_ends_within_the_grace_decides_as_without_a_loading_file(
    quick: Path, end: str, status: int, autojump_clock: MockClock
) -> None:
    async with open_app(quick, open_renderer=open_renderer) as client:
        response = await client.get(f"/?after=0.05&end={end}")
    assert response.status == status
    assert "late=yes" in "".join(response.headers.getlist("set-cookie"))
    assert "rejected" not in response.text
    assert ('"data":{"message":"here"}' in response.text) == (end == "data")


async def test_the_grace_is_a_setting(quick: Path, autojump_clock: MockClock) -> None:
    async with open_app(quick, open_renderer=open_renderer, timeouts={"shell": 5}) as client:
        assert (await client.get("/?after=4&end=gone")).status == 410
        assert (await client.get("/?after=6&end=gone")).status == 200


@pytest.mark.parametrize(("end", "status"), [("gone", 410), ("data", 202)])
async def test_head_waits_for_the_loader(
    quick: Path, end: str, status: int, autojump_clock: MockClock
) -> None:
    async with open_app(quick, open_renderer=open_renderer) as client:
        response = await client.request("HEAD", f"/?after=3&end={end}")
    assert (response.status, response.text) == (status, "")


@pytest.mark.parametrize(
    ("end", "what"),
    [
        ("gone", "the status 410, set-cookie"),
        ("away", "a redirect to /elsewhere, set-cookie"),
        ("crash", "the status 500, set-cookie"),
        ("data", "the status 202, set-cookie"),
    ],
)
async def test_a_status_redirect_or_cookie_after_the_shell_is_logged(
    quick: Path,
    end: str,
    what: str,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_app(quick, open_renderer=open_renderer) as client:
        response = await client.get(f"/?after=3&end={end}")
    assert response.status == 200
    messages = [record.message for record in caplog.records if "so it is lost" in record.message]
    assert messages == [
        f"pages/index.fxl: load(): set {what} after the page was sent with status 200 "
        f"(request {response.headers['x-request-id']}), so it is lost. "
        "Let it end within timeouts.shell, or remove the loading.fxl."
    ]


async def test_without_javascript_a_failure_after_the_shell_leads_to_the_error_page(
    quick: Path, autojump_clock: MockClock
) -> None:
    async with open_app(quick, open_renderer=open_renderer) as client:
        failed = await client.get("/?after=3&end=gone")
        away = await client.get("/?after=3&end=away")
        whole = await client.get("/?after=3&end=data")
    hidden = "<noscript><style>#fx-root{display:none}</style>whole</noscript>"
    assert hidden in failed.text
    assert (
        '<noscript><meta http-equiv="refresh" content="0;url=/elsewhere"></noscript>' in away.text
    )
    assert "<noscript><style>div[hidden][id^='S:']" in whole.text


async def test_a_client_that_leaves_in_the_grace_ends_the_loader(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    ended = """
        import trio

        @server
        async def load(request):
            try:
                await trio.sleep(3600)
            finally:
                request.app.state.ended_at = trio.current_time()
        """
    files = {"pages/index.fxl": page(ended), "pages/loading.fxl": page("")}
    write_tree(tmp_path, files)
    async with open_app(tmp_path, open_renderer=open_renderer, timeouts={"shell": 60}) as client:
        begin = trio.current_time()
        with trio.move_on_after(10):
            await client.get("/")
        await trio.testing.wait_all_tasks_blocked()
        assert isinstance(client.app, Application)
        assert client.app.state.ended_at - begin == pytest.approx(10, abs=0.1)
