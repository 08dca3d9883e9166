"""What needs asyncio says so, in the log and on the error page, with the call and the remedy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiosqlite
import pytest
import trio

from fx.tasks import enqueue
from fx.testing import open_app
from fxtrio.tracebacks import trimmed
from tests.trees import page, write_tree


async def use_lock() -> None:
    lock = asyncio.Lock()
    await lock.acquire()
    await lock.acquire()


async def use_timeout() -> None:
    async with asyncio.timeout(1):
        await trio.lowlevel.checkpoint()


async def use_aiosqlite() -> None:
    async with aiosqlite.connect(":memory:"):
        pass


async def wait(function: Callable[..., Awaitable[object]], *args: object) -> None:
    await function(*args)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: wait(asyncio.sleep, 1), "await function(*args)"),
        (lambda: wait(asyncio.sleep, 0), "await function(*args)"),
        (lambda: wait(asyncio.to_thread, print), "await function(*args)"),
        (lambda: wait(asyncio.open_connection, "localhost", 1), "await function(*args)"),
        (lambda: wait(asyncio.Event().wait), "await function(*args)"),
        (use_lock, "await lock.acquire()"),
        (use_timeout, "async with asyncio.timeout(1):"),
        (use_aiosqlite, 'async with aiosqlite.connect(":memory:"):'),
    ],
)
@pytest.mark.filterwarnings("ignore:There is no current event loop:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_the_line_that_needs_asyncio_is_named(
    call: Callable[[], Awaitable[None]], line: str
) -> None:
    with pytest.raises((RuntimeError, TypeError, AttributeError)) as caught:
        await call()
    [note] = trimmed(caught.value).__notes__
    assert f"{line!r} needs asyncio, and the server runs on trio." in note
    assert f"{Path(__file__).name}:" in note
    assert "from fx.asyncio import portal" in note
    assert "\n" not in note
    assert trimmed(caught.value).__notes__ == [note]  # once


@pytest.mark.parametrize(
    "error", [RuntimeError("no money"), TypeError("x"), AttributeError("y"), ValueError()]
)
def test_other_errors_have_no_note(error: Exception) -> None:
    assert not hasattr(trimmed(error), "__notes__")


LIBRARY = "import asyncio\n\nasync def ask():\n    await asyncio.sleep(1)\n"
PAGE = """
    import library

    @server
    async def load(request):
        await library.ask()
        return {}
    """


async def test_the_log_and_the_error_page_of_development_show_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "library.py": LIBRARY})
    monkeypatch.syspath_prepend(tmp_path)
    hint = "library.py:4: 'await asyncio.sleep(1)' needs asyncio, and the server runs on trio."
    async with open_app(tmp_path) as client:
        assert hint in (await client.get("/")).text.replace("&#x27;", "'").replace("&#39;", "'")
        assert hint in caplog.text
        caplog.clear()
        enqueue(asyncio.sleep, 1)
        while "failed" not in caplog.text:  # noqa: ASYNC110  # a log has no event
            await trio.sleep(0.001)
        assert "This needs asyncio, and the server runs on trio." in caplog.text
    async with open_app(tmp_path, mode="production") as client:
        assert "asyncio" not in (await client.get("/")).text
