"""Two servers with one PostgreSQL and one Redis behind nginx are one app."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
import trio

from tests.db.cluster import Cluster
from tests.e2e.support import Server, serving
from tests.http1.frames import CLOSE, WebSocket, upgrade
from tests.machines.nginx import running_nginx
from tests.ports import free_port
from tests.realtime.redis_server import running_redis
from tests.trees import page, write_tree

pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'httpx.:ResourceWarning")
"""httpx leaves the body of a request that is cancelled to the garbage collection."""

EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
CHEAP = {"timeCost": 1, "memoryKib": 8, "parallelism": 1}
SAME_SITE = {"sec-fetch-site": "same-origin"}
LIMIT = 120.0
FILES = {
    "migrations/0001_notes.sql": (
        "create table notes (text text not null);\n"
        "create table ran (number integer not null, process integer not null);\n"
    ),
    "work.py": """
        import os

        from fx.db import db
        from fx.jobs import job


        @job(atomic=True)
        async def run(number):
            await db.execute("insert into ran values ($1, $2)", number, os.getpid())
        """,
    "pages/index.fxl": page(
        """
        from fx.db import db
        from work import run

        @server
        async def load(request):
            user = request.state.user
            return {"user": user and user.email}

        @action(transaction=True)
        async def note(request):
            if request.state.user is None:
                raise ActionError("Who are you?", 401)
            await db.execute("insert into notes values ('x')")
            for number in range(20):
                await run.enqueue(number)
            return invalidate_routes({}, "/board")
        """
    ),
    "pages/board.fxl": page(
        """
        from fx.db import db

        CACHE = {"revalidate": 3600}

        @server
        async def load(request):
            return {"notes": await db.value("select count(*) from notes")}
        """
    ),
    "pages/room.fxl": page(
        """
        import trio
        from fx.realtime import authenticate_websocket, channel

        async def websocket(ws):
            user = await authenticate_websocket(ws)
            await ws.accept()
            async with channel(ws, "room", member=user.email) as room:
                events = room.presence()
                await ws.send_json(len(room.subscribers))
                async for _ in events:
                    await ws.send_json(len(room.subscribers))
        """
    ),
    "pages/api/ran.py": """
        from fx.db import db

        async def get(request):
            return {"ran": [row["number"] for row in await db.all(dict, "select * from ran")]}
        """,
}


@attrs.frozen
class Machines:
    servers: tuple[Server, Server]
    port: int
    client: httpx.AsyncClient
    """A browser that is signed in."""

    async def get(self, path: str, *, form: str = "json") -> tuple[str, Any]:
        """Return which machine has answered, and what."""
        headers = {"x-fx-navigation": "1"} if form == "data" else {}
        answer = await self.client.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        value = answer.json()
        return answer.headers["x-machine"], value["props"]["data"] if form == "data" else value

    async def on_both(self, path: str, key: str, expected: Any, *, within: float = LIMIT) -> None:
        """Wait until each machine answers the same."""
        with trio.fail_after(within):
            while True:
                answers = [await self.get(path, form="data") for _ in range(2)]
                assert answers[0][0] != answers[1][0]  # each in turn
                if [answer[key] for _, answer in answers] == [expected] * 2:
                    return
                await trio.sleep(0.05)

    async def post(self, path: str, body: Any = None) -> httpx.Response:
        return await self.client.post(path, json=body or {}, headers=SAME_SITE)

    @asynccontextmanager
    async def in_room(self) -> AsyncIterator[WebSocket]:
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        async with WebSocket(stream) as socket:
            await socket.send(upgrade(b"/room", b"Cookie: " + cookie.encode()))
            assert (await socket.reply()).status == 101
            yield socket


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster) -> Iterator[Path]:
    """A project that is built, with its database and a user, and its Redis."""
    root = tmp_path_factory.mktemp("machines")
    with running_redis(tmp_path_factory.mktemp("redis")) as redis:
        url = cluster.new_database()
        config = {
            "database": {"url": url, "migrate": "run"},
            "realtime": {"broker": redis.url},
            "ssr": {"workers": 1},
            "plugins": [{"name": "auth", "settings": {"argon2": CHEAP}}],
        }
        write_tree(root, {**FILES, "fx.config.json": json.dumps(config)})
        user = ("auth", "create-user", EMAIL, "--password", PASSWORD)
        for words in (("build",), user):
            command = [sys.executable, "-m", "fxtrio", *words]
            subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=LIMIT)
        yield root
        cluster.drop(url)


@pytest.fixture(scope="module")
def servers(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server, int]]:
    """Two servers, and the port of the nginx before them."""
    with ExitStack() as stack:
        ports = free_port(), free_port()
        command = [sys.executable, "-m", "fxtrio", "serve", "--proxy-headers", "127.0.0.1"]
        started = [
            stack.enter_context(serving([*command, "--port", str(port)], project, port))
            for port in ports
        ]
        nginx = stack.enter_context(running_nginx(tmp_path_factory.mktemp("nginx"), ports))
        yield started[0], started[1], nginx


@pytest.fixture
async def machines(servers: tuple[Server, Server, int]) -> AsyncIterator[Machines]:
    *both, port = servers
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LIMIT) as client:
        body = {"email": EMAIL, "password": PASSWORD}
        answer = await client.post("/api/__auth/login", json=body, headers=SAME_SITE)
        assert answer.status_code == 200, answer.text
        yield Machines((both[0], both[1]), port, client)


async def closed_with(socket: WebSocket) -> int | None:
    while (frame := await socket.frame()).opcode != CLOSE:
        pass
    return frame.code


async def test_a_session_of_one_machine_acts_on_the_other_and_ends_on_both(
    machines: Machines,
) -> None:
    with trio.fail_after(LIMIT):
        await machines.on_both("/", "user", EMAIL)
        async with machines.in_room() as one, machines.in_room() as other:
            for socket in (one, other):  # presence is of both
                while (await socket.frame()).payload != b"2":
                    pass
            assert (await machines.post("/api/__actions/index/note")).status_code == 200
            cookies = dict(machines.client.cookies)
            assert (await machines.post("/api/__auth/logout")).status_code == 200
            machines.client.cookies.update(cookies)  # a thief has kept it
            await machines.on_both("/", "user", None)
            assert [await closed_with(one), await closed_with(other)] == [4401, 4401]
        assert (await machines.post("/api/__actions/index/note")).status_code == 401


async def test_what_one_machine_changes_is_forgotten_and_worked_off_by_both(
    machines: Machines,
) -> None:
    with trio.fail_after(LIMIT):
        _, before = await machines.get("/board", form="data")
        _, ran = await machines.get("/api/ran")
        await machines.on_both("/board", "notes", before["notes"])
        assert (await machines.post("/api/__actions/index/note")).status_code == 200
        await machines.on_both("/board", "notes", before["notes"] + 1)
        new: list[int] = []
        while len(new) < len(ran["ran"]) + 20:
            await trio.sleep(0.05)
            new = (await machines.get("/api/ran"))[1]["ran"]
    assert {number: new.count(number) for number in range(20)} == dict.fromkeys(
        range(20), len(new) // 20
    )


async def test_failed_logins_on_both_count_together(machines: Machines) -> None:
    body = {"email": "eve@example.org", "password": "a wrong password"}
    with trio.fail_after(LIMIT):
        answers = [await machines.post("/api/__auth/login", body) for _ in range(9)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 4
    assert len({answer.headers["x-machine"] for answer in answers[5:]}) == 2


async def test_a_crash_of_the_database_costs_requests_and_nothing_that_was_reported(
    machines: Machines, cluster: Cluster
) -> None:
    answers: list[httpx.Response] = []

    async def act() -> None:
        while True:
            answers.append(await machines.post("/api/__actions/index/note"))

    with trio.fail_after(LIMIT):
        _, before = await machines.get("/board", form="data")
        async with machines.in_room() as socket:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(act)
                await seen(answers, 200)
                await trio.to_thread.run_sync(cluster.crash)
                await seen(answers, 503)
                await trio.to_thread.run_sync(cluster.start)
                await seen(answers, 200)
                nursery.cancel_scope.cancel()
            await machines.on_both("/", "user", EMAIL)
            async with machines.in_room():
                while (await socket.frame()).payload != b"2":
                    pass
        stored = sum(answer.status_code == 200 for answer in answers)
        while True:  # the request that was left may still be committed
            _, after = await machines.get("/board", form="data")
            _, ran = await machines.get("/api/ran")
            if len(ran["ran"]) == 20 * after["notes"]:
                break
            await trio.sleep(0.05)
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {200, 500, 503}
    # Whose query was under way: one on each machine, since processes are killed in turn.
    assert statuses.count(500) <= 2
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 503)
    # The ends of these are unknown, and that of the one that was left.
    assert stored <= after["notes"] - before["notes"] <= stored + 3
    assert {number: ran["ran"].count(number) for number in range(20)} == dict.fromkeys(
        range(20), after["notes"]
    )


async def seen(answers: list[httpx.Response], status: int) -> None:
    """Wait for one more answer with a status."""
    known = len(answers)
    while True:
        if any(answer.status_code == status for answer in answers[known:]):
            return
        await trio.sleep(0.02)


async def test_the_other_machine_keeps_running_when_one_is_killed(machines: Machines) -> None:
    with trio.fail_after(LIMIT):
        await machines.on_both("/", "user", EMAIL)
        killed, other = machines.servers  # of this module, whose last test this is
        os.killpg(killed.process.pid, signal.SIGKILL)
        killed.process.wait()
        answers = [await machines.get("/", form="data") for _ in range(4)]
        assert [answer["user"] for _, answer in answers] == [EMAIL] * 4
        # nginx names those that it has tried.
        last = {machine.rpartition(", ")[2] for machine, _ in answers}
        assert last == {other.url.removeprefix("http://")}
        assert (await machines.post("/api/__actions/index/note")).status_code == 200
