"""The holds of examples/workshop, simulated: they end beside confirmations, leaving and crashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio

from fx.testing import Client, Faults, World, simulate
from fxtrio.plugins.auth import get_auth

WORKSHOP = Path(__file__).parents[2] / "examples" / "workshop"
AUTH: Any = [
    {"name": "auth", "settings": {"argon2": {"timeCost": 1, "memoryKib": 8, "parallelism": 1}}}
]
PASSWORD = "correct horse battery"
DAY = "2030-01-03"  # a run begins two days before
SLOT = {"bench": "lathe", "hour": f"{DAY}T10"}
PAGE = f"/slots/lathe/{DAY}T10"
HOLD = 600


async def sign_in(world: World, name: str) -> Client:
    """Return a client whose user is new."""
    email = f"{name}@example.org"
    async with world.app():
        await get_auth().add_user(email, PASSWORD)
    client = world.client()
    body = {"email": email, "password": PASSWORD}
    assert (await client.post("/api/__auth/login", json=body)).status == 200
    return client


@simulate(WORKSHOP, seeds=3, plugins=AUTH, faults=Faults(kill=0.3, shutdown=0.3, longest=5))
async def test_a_slot_is_booked_by_one_or_free_when_the_hold_is_over(world: World) -> None:
    clients = {name: await sign_in(world, name) for name in ("ada", "bob", "cleo")}
    booked: list[str] = []

    async def book(name: str) -> None:
        if (await clients[name].action("/", "hold", SLOT)).ok:
            await trio.sleep(world.random.choice((0, HOLD - 1, HOLD)))
            if (await clients[name].action(PAGE, "confirm", {"note": ""})).ok:
                booked.append(name)

    async with world.visitors() as visitors:
        for name in clients:
            visitors.start_soon(book, name)
    await trio.sleep(HOLD + 60)  # a job of a killed process is late
    taken = (await clients["ada"].load_page(f"/?day={DAY}")).data["taken"]
    assert len(booked) <= 1
    # Who has left, or lost the connection, may have booked without knowing it.
    assert not any(slot["held"] for slot in taken.values())
    if booked:
        assert [slot["who"] for slot in taken.values()] == booked
