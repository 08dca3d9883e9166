"""The booking board of examples/workshop, on a clock that jumps."""

from __future__ import annotations

import datetime
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from fx.db import db
from fx.testing import Client, open_app
from fxtrio.app_handle import get_app
from fxtrio.plugins.auth import get_auth

WORKSHOP = Path(__file__).parents[2] / "examples" / "workshop"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
AUTH = [{"name": "auth", "settings": {"argon2": CHEAP}}]
PASSWORD = "correct horse battery"
DAY = (datetime.date.today() + datetime.timedelta(2)).isoformat()
SLOT = {"bench": "lathe", "hour": f"{DAY}T10"}
PAGE = f"/slots/lathe/{DAY}T10"
PNG = b"\x89PNG\r\n\x1a\n and a drawing"


@pytest.fixture(params=["sqlite", "postgresql"])
async def clients(
    request: pytest.FixtureRequest,
) -> AsyncIterator[tuple[Client, Client]]:
    """Ada and Bob, who are signed in."""
    options: dict[str, Any] = {"plugins": AUTH}
    if request.param == "postgresql":  # the one setting
        options["database__url"] = request.getfixturevalue("postgres_url")
    async with open_app(WORKSHOP, **options) as client, AsyncExitStack():
        both = client, Client(client.app)
        for name, one in zip(("ada", "bob"), both, strict=True):
            email = f"{name}@example.org"
            await get_auth().add_user(email, PASSWORD)
            body = {"email": email, "password": PASSWORD}
            assert (await one.post("/api/__auth/login", json=body)).status == 200
        yield both


async def board(client: Client) -> dict[str, Any]:
    """Return what is taken on the day."""
    taken: dict[str, Any] = (await client.load_page(f"/?day={DAY}")).data["taken"]
    return taken


async def come(seconds: float) -> None:
    """Let the time of jobs come, and they run: a request is sent each second that passes."""
    await db.execute("update fx_jobs set due = due - $1 where state = 'waiting'", seconds)
    app = get_app()
    assert app is not None and app.jobs is not None
    app.jobs.wake()
    await trio.sleep(10)


async def hold(client: Client, **slot: str) -> Any:
    return await client.action("/", "hold", {**SLOT, **slot})


async def test_a_hold_that_is_confirmed_is_a_booking(
    clients: tuple[Client, Client], autojump_clock: MockClock
) -> None:
    ada, bob = clients
    assert (await hold(ada)).ok
    assert await board(bob) == {f"lathe {DAY}T10": {"who": "ada", "mine": False, "held": True}}
    assert (await ada.action(PAGE, "confirm", {"note": "a bowl"})).ok
    await come(3600)
    assert await board(ada) == {f"lathe {DAY}T10": {"who": "ada", "mine": True, "held": False}}
    (mine,) = (await ada.load_page("/mine")).data["bookings"]
    assert (mine["note"], mine["confirmed"], mine["reminded"]) == ("a bowl", True, False)
    assert (await bob.load_page("/mine")).data["bookings"] == []


async def test_a_hold_is_over_after_ten_minutes(
    clients: tuple[Client, Client], autojump_clock: MockClock
) -> None:
    ada, bob = clients
    await hold(ada)
    await trio.sleep(599)
    assert (await hold(bob)).status == 409
    await trio.sleep(2)
    assert await board(ada) == {}
    assert (await ada.action(PAGE, "confirm", {})).status == 409
    assert (await ada.get(PAGE)).status == 404
    assert (await hold(bob)).ok
    await trio.sleep(590)  # the first hold's end does not touch the second one
    assert list(await board(bob)) == [f"lathe {DAY}T10"]


async def test_of_many_who_ask_at_once_one_gets_it(clients: tuple[Client, Client]) -> None:
    answers: list[int] = []

    async def ask(client: Client) -> None:
        answers.append((await hold(client)).status)

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(ask, clients[number % 2])
    assert sorted(answers) == [200] + 19 * [409]
    assert len(await board(clients[0])) == 1


async def test_who_has_booked_is_reminded_once_an_hour_before(
    clients: tuple[Client, Client],
    autojump_clock: MockClock,
) -> None:
    ada, _ = clients
    await hold(ada)
    await ada.action(PAGE, "confirm", {"note": "a bowl"})
    due = await db.value("select max(due) from fx_jobs where name = 'board.remind'")
    begins = sys.modules["board"].starts(f"{DAY}T10").timestamp()
    assert due == pytest.approx(begins - 3600, abs=60)
    await come(3 * 86400)
    assert await db.value("select count(*) from reminders") == 1
    (mine,) = (await ada.load_page("/mine")).data["bookings"]
    assert mine["reminded"]


async def test_a_returned_slot_is_free_and_sends_no_reminder(
    clients: tuple[Client, Client],
    autojump_clock: MockClock,
) -> None:
    ada, bob = clients
    await hold(ada)
    await ada.action(PAGE, "confirm", {})
    assert (await bob.action(PAGE, "release", {})).ok  # which is nothing of his
    assert len(await board(ada)) == 1
    await ada.action(PAGE, "release", {})
    assert await board(bob) == {}
    await come(3 * 86400)
    assert await db.value("select count(*) from reminders") == 0
    assert await db.value("select count(*) from fx_jobs where state = 'failed'") == 0


@pytest.mark.parametrize(
    "slot",
    [{"bench": "anvil"}, {"hour": "2020-01-01T10"}, {"hour": f"{DAY}T23"}, {"hour": "soon"}],
)
async def test_only_hours_to_come_of_its_benches_are_bookable(
    clients: tuple[Client, Client], slot: dict[str, str]
) -> None:
    assert (await hold(clients[0], **slot)).status == 422
    assert await db.value("select count(*) from bookings") == 0


def multipart(*parts: tuple[str, bytes]) -> bytes:
    lines = (b'--x\r\ncontent-disposition: form-data; name="%b' % name.encode() + body
             for name, body in parts)  # fmt: skip
    return b"\r\n".join(lines) + b"\r\n--x--\r\n"


async def send_sketch(client: Client, kind: bytes, content: bytes) -> Any:
    file = b'"; filename="../app.py"\r\ncontent-type: %b\r\n\r\n%b' % (kind, content)
    return await client.post(
        f"/api/__actions{PAGE}/confirm",
        content=multipart(("note", b'"\r\n\r\na bowl'), ("sketch", file)),
        headers={"content-type": "multipart/form-data; boundary=x"},
    )


async def test_a_sketch_is_stored_and_served_as_an_image(
    clients: tuple[Client, Client],
) -> None:
    ada, _ = clients
    await hold(ada)
    assert (await send_sketch(ada, b"text/html", b"<script>")).status == 422
    assert (await send_sketch(ada, b"image/png", PNG)).status == 200
    booking = await db.value("select id from bookings")
    image = await ada.get(f"/api/sketches/{booking}")
    assert (image.body, image.headers["content-type"]) == (PNG, "image/png")
    assert image.headers["cache-control"] == "private, max-age=3600"
    assert (await ada.get("/api/sketches/none")).status == 404
    assert (await Client(ada.app).get(f"/api/sketches/{booking}")).status == 401


async def test_boards_hear_of_every_change(
    clients: tuple[Client, Client], autojump_clock: MockClock
) -> None:
    ada, bob = clients
    async with bob.websocket("/") as socket:
        for change in (
            hold(ada),
            ada.action(PAGE, "release", {}),
            hold(ada),
        ):
            assert (await change).ok
            assert await socket.receive_json() == {"day": DAY}
        assert (await hold(bob)).status == 409  # which changes nothing
        await trio.sleep(601)
        assert await socket.receive_json() == {"day": DAY}
    assert await board(bob) == {}


async def test_strangers_see_nothing(clients: tuple[Client, Client]) -> None:
    stranger = Client(clients[0].app)
    for path in ("/", "/mine", PAGE):
        answer = await stranger.get(path)
        assert (answer.status, answer.headers["location"].partition("?")[0]) == (303, "/login")
    assert (await hold(stranger)).status == 401
