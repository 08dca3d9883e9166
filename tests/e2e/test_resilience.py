"""Kills, hangs and shutdowns of a real server with real Node processes."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest
import trio

from tests.e2e.support import fx, nodes_of, served
from tests.trees import write_tree

LAYOUT = "export default function Layout({ children }) { return <main>{children}</main>; }\n"
FILES = {
    "fx.config.json": '{"timeouts": {"render": 2}, "ssr": {"memo": false}}',
    "app.py": """
        from pathlib import Path

        from fxtrio.app import create_app

        app = create_app(Path(__file__).parent)
        """,
    "pages/layout.fxl": LAYOUT,
    "pages/[n].fxl": """
        @server
        async def load(request):
            return {"n": request.path_params["n"]}

        function Row({ n }) { return <li>{n}</li>; }

        export default function Page({ data }) {
          const rows = Array.from({ length: 300 }, (_, index) => index);
          return <ul title={data.n}>{rows.map((n) => <Row key={n} n={n} />)}</ul>;
        }
        """,
    "pages/loop.fxl": "export default function Loop() { for (;;) {} }\n",
    "pages/slow.fxl": """
        import trio

        @server
        async def load(request):
            await trio.sleep(1.5)
            return {"message": "slow and whole"}

        export default function Page({ data }) { return <p>{data.message}</p>; }
        """,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("resilience"), FILES)
    fx("build", cwd=root)
    return root


async def get_all(
    urls: list[str], *, at_once: int, halfway: Callable[[], None] | None = None
) -> Counter[int]:
    """Fetch all URLs and count the statuses; ``halfway`` is called after half of them."""
    statuses: Counter[int] = Counter()
    limit = trio.CapacityLimiter(at_once)
    limits = httpx.Limits(max_connections=at_once)
    async with httpx.AsyncClient(timeout=60, limits=limits) as client:

        async def get(url: str) -> None:
            async with limit:
                response = await client.get(url)
                statuses[response.status_code] += 1
                if halfway is not None and statuses.total() == len(urls) // 2:
                    halfway()

        async with trio.open_nursery() as nursery:
            for url in urls:
                nursery.start_soon(get, url)
    return statuses


def connections_of(pid: int) -> int:
    """Return how many clients a server process has."""
    connections = psutil.Process(pid).net_connections("tcp4")
    return sum(connection.status == psutil.CONN_ESTABLISHED for connection in connections)


def assert_no_node_left(before: list[int]) -> None:
    assert before
    assert [pid for pid in before if psutil.pid_exists(pid)] == []


async def test_a_killed_ssr_worker_costs_nobody_an_error(project: Path) -> None:
    with served(project) as server:
        killed: list[int] = []

        def kill() -> None:
            killed.extend(nodes_of(server.process.pid))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

        with trio.fail_after(60):
            urls = [f"{server.url}/{number}" for number in range(500)]
            statuses = await get_all(urls, at_once=100, halfway=kill)
        after = nodes_of(server.process.pid)
    assert killed
    assert statuses == {200: 500}
    assert set(after).isdisjoint(killed)
    assert_no_node_left(after)


async def test_an_endless_component_fails_at_its_deadline_and_the_next_pages_render(
    project: Path,
) -> None:
    with served(project) as server:
        with trio.fail_after(40):
            assert await get_all([f"{server.url}/loop"], at_once=1) == {504: 1}
            urls = [f"{server.url}/{number}" for number in range(20)]
            assert await get_all(urls, at_once=5) == {200: 20}
        nodes = nodes_of(server.process.pid)
    assert_no_node_left(nodes)
    assert "Traceback" not in server.output()


async def test_requests_in_flight_finish_when_the_server_stops(project: Path) -> None:
    with served(project) as server:
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:

                async def stop() -> None:
                    while connections_of(server.process.pid) < 50:
                        await trio.to_thread.run_sync(server.process.poll)
                    server.process.send_signal(signal.SIGTERM)

                nursery.start_soon(stop)
                statuses = await get_all([f"{server.url}/slow"] * 50, at_once=50)
            code = await trio.to_thread.run_sync(server.process.wait, 20)
    assert statuses == {200: 50}
    assert code == 0
    assert "Traceback" not in server.output()


def test_any_asgi_application_is_served_without_a_build(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "plain.py": """
                async def app(scope, receive, send):
                    assert scope["type"] == "http"
                    await send({"type": "http.response.start", "status": 200, "headers": []})
                    await send({"type": "http.response.body", "body": b"plain"})
                """
        },
    )
    with served(tmp_path, "--app", "plain:app", env={"FX_SECRET_KEY": ""}) as server:
        assert httpx.get(server.url).text == "plain"
