"""The application may hold all threads of trio's default limiter: nothing of ours waits for one."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from starlette.requests import Request

from fx.testing import open_app
from fxtrio.asyncio_portal import open_portal
from fxtrio.processes import wait_for_end
from tests.serve.test_compressed_files import SCRIPT, served
from tests.trees import page, write_tree

LARGE = 3 * 1024**2
ENDPOINT = """
    from starlette.responses import FileResponse

    async def get(request):
        return FileResponse("public/words.txt")

    async def post(request):
        return {"size": len(await request.body())}

    async def patch(request):
        return {"size": (await request.form())["file"].size}
    """


@asynccontextmanager
async def all_threads_held() -> AsyncIterator[None]:
    """Hold every place of the default limiter, as threads that never end do."""
    limiter = trio.to_thread.current_default_thread_limiter()
    borrowers = [object() for _ in range(int(limiter.total_tokens))]
    for borrower in borrowers:
        limiter.acquire_on_behalf_of_nowait(borrower)
    try:
        with trio.fail_after(20):
            yield
    finally:
        for borrower in borrowers:
            limiter.release_on_behalf_of(borrower)


async def test_assets_are_served(tmp_path: Path) -> None:
    async with served(tmp_path) as client, all_threads_held():
        for headers in ({}, {"accept-encoding": "gzip"}):
            assert (await client.get("/_fx/app-1.js", headers=headers)).status == 200
        part = await client.get("/_fx/app-1.js", headers={"range": "bytes=7-11"})
        parts = await client.get("/_fx/app-1.js", headers={"range": "bytes=0-1,7-11"})
        head = await client.request("HEAD", "/_fx/app-1.js")
        missing = await client.get("/_fx/app-2.js")
    assert (part.status, part.text) == (206, "const")
    assert parts.status == 206
    assert b"\r\n\r\nconst\r\n" in parts.body
    assert int(head.headers["content-length"]) == len(SCRIPT)
    assert missing.status == 404


async def test_files_of_the_application_are_served_and_bodies_are_read(
    tmp_path: Path, monkeypatch
) -> None:
    write_tree(
        tmp_path,
        {"pages/index.fxl": page(""), "pages/api/file.py": ENDPOINT, "public/words.txt": "words"},
    )
    monkeypatch.chdir(tmp_path)
    form = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    form += b"x" * LARGE + b"\r\n--b--\r\n"
    async with open_app(tmp_path) as client, all_threads_held():
        assert (await client.get("/words.txt")).text == "words"
        assert (await client.get("/api/file")).text == "words"
        sent = await client.request("POST", "/api/file", content=b"x" * LARGE)
        assert sent.json() == {"size": LARGE}
        kind = {"content-type": "multipart/form-data; boundary=b"}
        sent = await client.request("PATCH", "/api/file", content=form, headers=kind)
        assert sent.json() == {"size": LARGE}


async def test_the_loop_of_asyncio_starts_and_ends_and_so_do_processes() -> None:
    async def add() -> int:
        return 1 + 2

    async with all_threads_held():
        async with open_portal() as portal:
            assert await portal.call(add) == 3
        process = subprocess.Popen(["true"])  # noqa: ASYNC220  # as Node is started ahead
        await wait_for_end(process)
    assert process.returncode == 0


async def test_a_file_of_starlette_is_read_on_another_event_loop_too(tmp_path: Path) -> None:
    from starlette.responses import FileResponse

    from fxtrio.serve.request.response import starlette_files

    starlette_files.install()
    starlette_files.install()  # a second app of the process
    (tmp_path / "words").write_text("words")
    sent = []

    async def send(message) -> None:
        sent.append(message.get("body", b""))

    async def ask() -> None:
        version = {"spec_version": "2.4"}
        scope = {"type": "http", "method": "GET", "headers": [], "asgi": version}
        await FileResponse(tmp_path / "words")(scope, Request(scope).receive, send)

    async with open_portal() as portal:
        await portal.call(ask)
    assert b"".join(sent) == b"words"
