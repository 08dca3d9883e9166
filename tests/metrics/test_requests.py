"""What `/metrics` says of requests, and what it never says."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from fx.testing import Client, open_app
from tests.serve.test_guard_matrix import mounted
from tests.trees import page, write_tree

GUARDS = """
    from starlette.responses import PlainTextResponse

    async def by_token(request):
        if request.headers.get("authorization") != "Bearer letmein":
            return PlainTextResponse("no", 401)
    """
PAGE = """
    @server
    async def load(request):
        return {"id": request.path_params["id"]}

    @action
    async def save(request):
        return {}

    async def websocket(ws):
        await ws.accept()
        await ws.send_text("hello")
    """
READER = {"authorization": "Bearer letmein"}
CANARY = "canary-71ab"

Lines = dict[tuple[str, ...], float]


def write_project(root: Path) -> Path:
    return write_tree(root, {"guards.py": GUARDS, "pages/book/[id].fxl": page(PAGE)})


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    settings = {"metrics": "/metrics", "metrics_guard": "guards:by_token"}
    async with open_app(write_project(tmp_path), observability=settings) as client:
        yield client


async def read(client: Client) -> str:
    answer = await client.get("/metrics", headers=READER)
    assert answer.status == 200
    return answer.text


def counts(text: str, name: str) -> Lines:
    """Return the samples of a name by their labels, in the order of the labels' names."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


async def test_requests_are_counted_by_pattern_method_and_status(client: Client) -> None:
    await client.get("/book/1")
    await client.get("/book/2")
    await client.request("HEAD", "/book/2")
    await client.post("/api/__actions/book/1/save", json={})
    await client.get("/nowhere")
    await client.get("/readyz")

    assert counts(await read(client), "fx_request_seconds_count") == {
        ("page", "GET", "/book/[id]", "200"): 2,
        ("page", "HEAD", "/book/[id]", "200"): 1,
        ("action", "POST", "/book/[id]", "200"): 1,
        ("other", "GET", "(none)", "404"): 1,
        ("other", "GET", "(none)", "200"): 1,
    }


async def test_settings_and_metrics_name_routes_of_plugins_without_the_base_url(
    tmp_path: Path,
) -> None:
    settings = {"metrics": "/metrics", "metrics_guard": "guards:by_token"}
    rates = [{"route": "/", "limit": "1/hour"}, {"route": "/metrics", "limit": "2/hour"}]
    root = write_project(tmp_path)
    async with open_app(
        root, observability=settings, base_url="/app", rate_limits=rates, mode="production"
    ) as client:
        answers = [await client.get("/app/metrics", headers=READER) for _ in range(3)]

    assert [answer.status for answer in answers] == [200, 200, 429]
    found = counts(answers[1].text, "fx_request_seconds_count")
    assert found == {("route", "GET", "/metrics", "200"): 1}


async def test_the_metrics_are_a_route_too(client: Client) -> None:
    await read(client)
    await client.get("/metrics")

    found = counts(await read(client), "fx_request_seconds_count")
    assert found == {
        ("route", "GET", "/metrics", "200"): 1,
        ("route", "GET", "/metrics", "401"): 1,
    }
    assert counts(await read(client), "fx_requests_under_way") == {(): 1}


async def test_metrics_of_the_application_that_fail_take_no_others_along(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Collector):
        def collect(self) -> Iterator[Metric]:
            yield GaugeMetricFamily("shop_first", "The first.", 1)
            raise RuntimeError("no shop")

        def describe(self) -> list[Metric]:
            return []

    settings = {"metrics": "/metrics", "metrics_guard": "guards:by_token"}
    broken = Broken()
    REGISTRY.register(broken)
    try:
        async with open_app(write_project(tmp_path), observability=settings) as client:
            await client.get("/book/1")
            text = await read(client)
    finally:
        REGISTRY.unregister(broken)

    assert counts(text, "fx_request_seconds_count")
    assert [record.getMessage() for record in caplog.records if record.name == "fx.app"] == [
        "the application's own metrics cannot be read"
    ]


async def test_parts_are_counted_by_their_names(client: Client) -> None:
    await client.get(f"/book/{CANARY}")
    await client.post("/api/__actions/book/1/save", json={})

    text = await read(client)
    assert counts(text, "fx_part_seconds_count") == {
        ("no", "pages/book/[id].fxl: load()", "loader"): 1,
        ("no", "pages/book/[id].fxl", "render"): 1,
        ("no", "pages/book/[id].fxl: save()", "action"): 1,
    }


async def test_sockets_are_counted_while_they_are_open_and_when_they_end(client: Client) -> None:
    async with client.websocket("/book/1") as socket:
        assert await socket.receive() == "hello"
    text = await read(client)

    assert counts(text, "fx_websockets_open") == {(): 0}
    assert counts(text, "fx_websockets_total") == {("/book/[id]", "101"): 1}


async def test_invented_paths_and_methods_are_one_label_each_and_take_no_memory(
    client: Client,
) -> None:
    async def ask(number: int) -> None:
        await client.request(f"MADE{number}", f"/{number}/{CANARY}")
        await client.get(f"/made-up-{number}")

    for number in range(50):
        await ask(number)
    lines = len((await read(client)).splitlines())
    tracemalloc.start()
    try:
        for number in range(50, 100):
            await ask(number)
        before, _ = tracemalloc.get_traced_memory()
        for number in range(100, 1100):
            await ask(number)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    text = await read(client)
    assert len(text.splitlines()) == lines + 14  # those of the route /metrics itself
    assert CANARY not in text
    assert "MADE" not in text
    assert after - before < 200_000
    assert counts(text, "fx_request_seconds_count")["other", "(other)", "(none)", "404"] == 1100


async def test_no_value_that_a_visitor_sends_is_in_the_metrics(client: Client) -> None:
    await client.get(f"/book/{CANARY}?token={CANARY}", headers={"cookie": f"session={CANARY}"})
    await client.post(f"/api/__actions/book/{CANARY}/save", json={"secret": CANARY})
    await client.get("/book/1", headers={"x-request-id": CANARY, "host": CANARY})

    assert CANARY not in await read(client)


async def test_the_guard_runs_before_the_metrics(client: Client) -> None:
    for headers in ({}, {"authorization": "Bearer guess"}):
        answer = await client.get("/metrics", headers=headers)
        assert (answer.status, answer.text) == (401, "no")
    assert (await client.request("HEAD", "/metrics")).status == 401
    assert (await client.get("/metrics/", headers=READER)).status == 404


@pytest.mark.parametrize("base_url", ["", "/app"])
async def test_no_form_of_the_path_gets_past_the_guard(tmp_path: Path, base_url: str) -> None:
    settings = {"metrics": "/metrics", "metrics_guard": "guards:by_token"}
    paths = ["/metrics", "/metrics/", "//metrics", "/%6detrics", "/metrics?x", "/metrics.md"]
    paths += ("/x/../metrics", "/metrics%2F", "/METRICS", "/metrics/.", "/./metrics")
    odd = {"x-fx-navigation": "1", "accept": "text/markdown", "authorization": "bearer letmein"}
    root = write_project(tmp_path)
    async with open_app(root, observability=settings, base_url=base_url, llms=True) as client:
        for method in ("GET", "HEAD", "POST", "OPTIONS", "PUT"):
            for path in paths:
                for headers in ({}, odd):
                    answer = await client.request(method, base_url + path, headers=headers)
                    assert "fx_request" not in answer.text, (method, path)
                    assert answer.status != 200 or method == "OPTIONS", (method, path)
        answer = await client.get(f"{base_url}/metrics", headers=READER)
        assert "fx_request_seconds" in answer.text
        inner = mounted(client, "/shops/{shop}", "/shops/a")
        assert (await inner.get(f"{base_url}/metrics")).status == 401
        assert (await inner.get(f"{base_url}/metrics", headers=READER)).status == 200
