"""The budget for all bodies that a process holds, and where their bytes are."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextvars import ContextVar
from pathlib import Path

import pytest
import trio
from starlette.requests import ClientDisconnect
from starlette.types import Message

from fx.testing import Client, open_app
from fxtrio.application import Application
from fxtrio.errors import BodiesFull, BodyTooLarge
from fxtrio.serve.request.bodies.forms import MULTIPART, parse_form
from fxtrio.serve.request.bodies.spool import IN_MEMORY, LARGE, UNCOUNTED, Bodies, Body
from tests.trees import page, write_tree

PAGE = """
    import attrs, threading

    @attrs.frozen
    class Entry:
        text: str

        def __attrs_post_init__(self):
            threads.append(threading.current_thread() is threading.main_thread())

    threads = []

    @action
    async def enter(request, entry: Entry):
        return {"main": threads.pop(), "size": len(entry.text)}

    @action
    async def fail(request):
        raise RuntimeError("no")
    """
ENDPOINT = """
    from starlette.responses import StreamingResponse

    async def post(request):
        return {"size": len(await request.body())}

    async def put(request):
        return {"size": sum([len(chunk) async for chunk in request.stream()])}

    async def patch(request):
        return {"size": (await request.form())["cv"].size}
    """
MB = 1024**2


def receiving(
    chunks: Sequence[bytes], *, disconnected: bool = False
) -> trio.abc.ReceiveChannel[Message]:
    send, receive = trio.open_memory_channel[Message](len(chunks) + 1)
    for chunk in chunks:
        send.send_nowait({"type": "http.request", "body": chunk, "more_body": True})
    send.send_nowait({"type": "http.disconnect" if disconnected else "http.request"})
    return receive


def body_of(
    chunks: Sequence[bytes],
    bodies: Bodies | None,
    *,
    limit: int = 10 * MB,
    disconnected: bool = False,
) -> Body:
    return Body(
        receiving(chunks, disconnected=disconnected).receive, {}, limit=limit, bodies=bodies
    )


async def test_a_large_body_is_spooled_to_disk_and_read_from_there() -> None:
    bodies = Bodies(100 * MB)
    chunks = [bytes([number]) * 60_000 for number in range(100)]
    body = body_of(chunks, bodies)
    await body.read()
    assert body._in_memory == 0
    assert bodies.used == 6_000_000 - UNCOUNTED
    assert await body.data() == b"".join(chunks)
    assert b"".join([chunk async for chunk in body.stream()]) == b"".join(chunks)
    assert await body.value(len) == 6_000_000
    body.close()
    body.close()
    assert bodies.used == 0


async def test_a_small_body_stays_in_memory_and_the_smallest_are_not_counted() -> None:
    bodies = Bodies(IN_MEMORY)
    small, smallest = body_of([b"x" * IN_MEMORY], bodies), body_of([b"x" * UNCOUNTED], bodies)
    await small.read()
    await smallest.read()
    assert bodies.used == IN_MEMORY - UNCOUNTED
    assert small._file is None


async def test_no_more_is_in_memory_than_is_meant_to_be_while_a_body_comes() -> None:
    bodies = Bodies(100 * MB)
    body = body_of([b"x" * 60_000] * 100, bodies)
    most = 0
    receive = body._receive

    async def watched() -> Message:
        nonlocal most
        most = max(most, body._in_memory)
        return await receive()

    body._receive = watched
    await body.read()
    body.close()
    assert most <= IN_MEMORY + 60_000


async def test_a_body_that_does_not_fit_is_rejected_before_it_is_spooled() -> None:
    bodies = Bodies(5 * MB)
    first = body_of([b"x" * MB] * 4, bodies)
    await first.read()
    second = body_of([b"x" * MB] * 4, bodies)
    with pytest.raises(BodiesFull):
        await second.read()
    declared = Body(
        receiving([]).receive, {b"content-length": b"4000000"}, limit=10 * MB, bodies=bodies
    )
    second.close()
    with pytest.raises(BodiesFull):
        await declared.read()
    declared.close()
    first.close()
    assert bodies.used == 0


async def test_who_only_says_how_much_will_come_keeps_nobody_out() -> None:
    bodies = Bodies(5 * MB)
    waiting = [
        Body(
            receiving([b"x"]).receive, {b"content-length": b"4000000"}, limit=5 * MB, bodies=bodies
        )
        for _ in range(10)
    ]
    for body in waiting:
        await body.receive()
    assert bodies.used == 0
    whole = body_of([b"x" * MB] * 4, bodies)
    await whole.read()
    whole.close()


@pytest.mark.parametrize(
    ("address", "fits"), [("8.8.8.8", 2), ("2a00:1450::1", 2), ("10.0.0.1", 8), ("", 8)]
)
async def test_one_public_address_has_a_quarter_of_the_budget(address: str, fits: int) -> None:
    bodies = Bodies(8 * MB)

    async def read(client: str, size: int) -> Body:
        body = Body(
            receiving([b"x" * size]).receive, {}, limit=8 * MB, bodies=bodies, address=client
        )
        await body.read()
        return body

    held = [await read(address, MB + UNCOUNTED) for _ in range(fits)]
    with pytest.raises(BodiesFull):
        await read(address, MB + UNCOUNTED)
    assert bodies.used == fits * MB
    if fits < 8:
        held.append(await read("1.1.1.1", 5 * MB))  # its only one, however large
    for body in held:
        body.close()
    assert bodies.used == 0
    assert not bodies.shares


async def test_a_client_that_leaves_gives_back_what_it_took() -> None:
    bodies = Bodies(100 * MB)
    body = body_of([b"x" * MB] * 4, bodies, disconnected=True)
    with pytest.raises(ClientDisconnect):
        await body.read()
    assert bodies.used > 0
    body.close()
    assert bodies.used == 0


@pytest.mark.parametrize("length", [b"9" * 5000, b"11", b"999999999999999999999"])
async def test_a_declared_length_above_the_limit_is_rejected_at_once(length: bytes) -> None:
    body = Body(receiving([]).receive, {b"content-length": length}, limit=10)
    with pytest.raises(BodyTooLarge):
        await body.read()


async def test_a_full_disk_rejects_the_body_with_a_message(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(**_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    body = body_of([b"x" * MB] * 2, Bodies(100 * MB))
    with pytest.raises(BodiesFull):
        await body.read()
    assert "No space left on device" in caplog.text


async def test_large_bodies_are_worked_on_in_a_thread_with_the_caller_s_context() -> None:
    name: ContextVar[str] = ContextVar("name")
    name.set("mine")

    def work() -> tuple[bool, str]:
        return threading.current_thread() is threading.main_thread(), name.get()

    bodies = Bodies(100 * MB)
    small, large = body_of([b"x" * LARGE], bodies), body_of([b"x" * (LARGE + 1)], bodies)
    await small.read()
    await large.read()
    assert await small.work(work) == (True, "mine")
    assert await large.work(work) == (False, "mine")


async def test_a_request_that_waits_for_a_thread_can_be_cancelled() -> None:
    bodies = Bodies(100 * MB)
    body = body_of([b"x" * (LARGE + 1)], bodies)
    await body.read()
    for holder in range(int(bodies.threads.total_tokens)):
        bodies.threads.acquire_on_behalf_of_nowait(holder)
    with trio.CancelScope() as scope:
        scope.cancel()
        await body.work(len, b"")
    assert scope.cancelled_caught


def test_files_of_a_form_that_is_rejected_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tempfile import SpooledTemporaryFile

    opened: list[SpooledTemporaryFile[bytes]] = []

    def watched(max_size: int) -> SpooledTemporaryFile[bytes]:
        opened.append(SpooledTemporaryFile(max_size))  # noqa: SIM115  # the test is about its end
        return opened[-1]

    monkeypatch.setattr("fxtrio.serve.request.bodies.forms.SpooledTemporaryFile", watched)
    head = b'--b\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n'
    with pytest.raises(ValueError, match="last boundary"):
        parse_form([head + b"x\r\n" + head + b"x"], f"{MULTIPART}; boundary=b")
    assert [file.closed for file in opened] == [True, True]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/api/read.py": ENDPOINT})
    limits = {"body": 2 * MB, "bodies": 3 * MB}
    async with open_app(tmp_path, limits=limits) as opened:
        yield opened


def bodies_of(client: Client) -> Bodies:
    app = client.app
    assert isinstance(app, Application)
    assert app.lifetime.running is not None
    return app.lifetime.running.bodies


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("POST", "/api/__actions/index/enter"),
        ("POST", "/api/__actions/index/fail"),
        ("POST", "/api/read"),
        ("PUT", "/api/read"),
        ("PATCH", "/api/read"),
    ],
)
async def test_every_request_is_within_the_budget_and_gives_back_what_it_took(
    client: Client, method: str, url: str
) -> None:
    bodies = bodies_of(client)
    headers = {"content-type": f"{MULTIPART}; boundary=b"}
    content = b'--b\r\nContent-Disposition: form-data; name="cv"; filename="a"\r\n\r\n'
    content += b"x" * MB + b"\r\n--b--"
    bodies.claim(2 * MB + MB // 2)
    rejected = await client.request(method, url, content=content, headers=headers)
    taken = await client.request(method, url, content=content[: MB // 2], headers=headers)
    bodies.release(2 * MB + MB // 2)
    await client.request(method, url, content=content, headers=headers)
    large = await client.request(method, url, content=content + b" " * MB, headers=headers)
    await trio.testing.wait_all_tasks_blocked()
    assert bodies.used == 0
    assert (rejected.status, rejected.headers["retry-after"]) == (503, "5")
    assert taken.status != 503
    assert large.status == 413


async def test_the_model_of_a_large_body_is_built_in_a_thread(client: Client) -> None:
    small = await client.action("/", "enter", {"text": "x"})
    large = await client.action("/", "enter", {"text": "x" * LARGE})
    assert small.data == {"main": True, "size": 1}
    assert large.data == {"main": False, "size": LARGE}
