"""How often `/openapi.json` and `/llms.txt` ask the route hooks, and for whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fx.testing import Client, open_app
from fxtrio.serve.request.hook_evaluations import (
    AT_ONCE,
    LIFE,
    WAITING,
    Evaluation,
    Evaluations,
    ListingBusy,
    visitor_of,
)
from tests.trees import page, write_tree

HOOK = """
    import trio
    from fx.runtime import LoaderError

    CALLS = []
    RUNNING = set()
    MOST = [0]
    TOGETHER = [1]  # so many are waited for, once
    CAME = trio.Event()


    async def staff_only(connection):
        who = connection.headers.get("cookie", "")
        CALLS.append((who, connection.url.path))
        RUNNING.add(trio.lowlevel.current_task())
        MOST[0] = max(MOST[0], len(RUNNING))
        if MOST[0] >= TOGETHER[0]:
            CAME.set()
        await CAME.wait()
        for _ in range(3):
            await trio.lowlevel.checkpoint()
        RUNNING.discard(trio.lowlevel.current_task())
        if "sets" in who:
            connection.state.response.set_cookie("seen", "x")
        if connection.url.path.startswith("/staff") and "staff" not in who:
            raise LoaderError("forbidden", 403)
"""
LISTINGS = ["/openapi.json", "/llms.txt"]
ACTION = """
    @action
    async def save(request):
        return {}
"""


def opened(root: Path, **settings: Any) -> tuple[Any, Any]:
    """Return an app, and the module of its hook."""
    name = f"evaluated_{abs(hash(root))}"
    pages = {f"pages/{one}.fxl": page(ACTION) for one in ("index", "menu", "staff/rota")}
    write_tree(root, {f"{name}.py": HOOK, **pages})
    hooks = {"pages": [f"{name}:staff_only"]}
    return open_app(root, llms=True, openapi=True, route_middleware=hooks, **settings), name


async def ask(client: Client, url: str, found: list[str], **headers: str) -> None:
    answer = await client.get(url, headers=headers)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    found.append(answer.text)


@pytest.mark.parametrize("url", LISTINGS)
async def test_hooks_run_once_for_many_requests_of_one_visitor(
    tmp_path: Path, mock_clock: MockClock, url: str
) -> None:
    app, name = opened(tmp_path)
    found: list[str] = []
    async with app as client:
        async with trio.open_nursery() as nursery:
            for _ in range(200):
                nursery.start_soon(ask, client, url, found)
        calls = len(__import__(name).CALLS)
        mock_clock.jump(LIFE)
        await ask(client, url, found)
        again = len(__import__(name).CALLS) - calls
    assert (calls, again) == (3, 3), "one call for each of three pages, and once more later"
    assert len(found) == 201 and len(set(found)) == 1


@pytest.mark.parametrize("url", LISTINGS)
async def test_visitors_never_share_evaluations(
    tmp_path: Path, mock_clock: MockClock, url: str
) -> None:
    app, name = opened(tmp_path)
    guests: list[str] = []
    staff: list[str] = []
    async with app as client:
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(partial_ask(client, url, guests, "guest"))
                nursery.start_soon(partial_ask(client, url, staff, "staff"))
        calls = __import__(name).CALLS
    assert len(calls) == 6
    assert not any("rota" in text.lower() for text in guests)
    assert all("rota" in text.lower() for text in staff)
    assert len(guests) == len(staff) == 100


@pytest.mark.parametrize("url", LISTINGS)
async def test_nothing_is_reused_when_a_hook_sets_a_cookie(
    tmp_path: Path, mock_clock: MockClock, url: str
) -> None:
    app, name = opened(tmp_path)
    found: list[str] = []
    async with app as client:
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(partial_ask(client, url, found, "sets"))
        hook = __import__(name)
    assert len(hook.CALLS) == 12
    assert hook.MOST == [1], "one evaluation of a visitor at a time"


async def test_few_evaluations_run_at_a_time_for_all_visitors(
    tmp_path: Path, mock_clock: MockClock
) -> None:
    app, name = opened(tmp_path)
    found: list[str] = []
    async with app as client:
        hook = __import__(name)
        hook.TOGETHER[0] = AT_ONCE
        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(partial_ask(client, "/openapi.json", found, f"v{number}"))
    assert hook.MOST == [AT_ONCE]
    assert len(hook.CALLS) == 150


@pytest.mark.parametrize("url", LISTINGS)
async def test_rate_limits_count_listings_and_no_cache_policy_keeps_them(
    tmp_path: Path, url: str
) -> None:
    rate = {"route": url, "limit": "2/hour"}
    app, name = opened(tmp_path, rate_limits=[rate], cache_control={url: "public, max-age=60"})
    found: list[str] = []
    async with app as client:
        await ask(client, url, found)
        await ask(client, url, found)
        rejected = await client.get(url)
        calls = len(__import__(name).CALLS)
    assert rejected.status == 429 and int(rejected.headers["retry-after"]) > 0
    assert calls == 3


async def test_too_many_who_wait_are_rejected_as_busy(autojump_clock: MockClock) -> None:
    evaluations = Evaluations()

    async def slow() -> Evaluation:
        await trio.sleep(60)
        return Evaluation(frozenset(), reusable=True)

    async with trio.open_nursery() as nursery:
        for _ in range(WAITING):
            nursery.start_soon(evaluations.ask, "/", scope(), slow)
        await wait_all_tasks_blocked()
        with pytest.raises(ListingBusy):
            await evaluations.ask("/", scope(), slow)
    assert await evaluations.ask("/", scope(), slow) == frozenset()


async def test_the_next_one_evaluates_when_the_first_has_disconnected(
    autojump_clock: MockClock,
) -> None:
    evaluations = Evaluations()
    begun = []

    async def evaluate() -> Evaluation:
        begun.append(trio.current_time())
        await trio.sleep(5)
        return Evaluation(frozenset({"page"}), reusable=True)

    disconnecting = trio.CancelScope()

    async def first() -> None:
        with disconnecting:
            await evaluations.ask("/", scope(), evaluate)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)
        await wait_all_tasks_blocked()
        disconnecting.cancel()
        assert await evaluations.ask("/", scope(), evaluate) == {"page"}
    assert len(begun) == 2
    assert evaluations._visitors == {} and evaluations._waiting == 0


def scope(**other: Any) -> dict[str, Any]:
    return {"headers": [(b"cookie", b"a=1")], "client": ("192.0.2.1", 5), "method": "GET", **other}


@pytest.mark.parametrize(
    "other",
    [
        {"headers": [(b"cookie", b"a=2")]},
        {"headers": [(b"cookie", b"a=1"), (b"x-key", b"1")]},
        {"client": ("192.0.2.2", 5)},
        {"state": {"user": {"id": "ada"}}},
        {"query_string": b"token=x"},
        {"root_path": "/mounted"},
        {"extensions": {"tls": {"client_cert_name": "CN=ada"}}},
    ],
)
def test_whatever_a_hook_could_distinguish_is_another_visitor(other: dict[str, Any]) -> None:
    assert visitor_of("/", scope()) == visitor_of("/", scope(client=("192.0.2.1", 9)))
    assert visitor_of("/", scope()) != visitor_of("/", scope(**other))
    assert visitor_of("/", scope()) != visitor_of("/other", scope())


def partial_ask(client: Client, url: str, found: list[str], cookie: str) -> Any:
    async def call() -> None:
        await ask(client, url, found, cookie=f"who={cookie}")

    return call
