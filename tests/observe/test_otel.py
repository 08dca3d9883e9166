"""Traces of OpenTelemetry: parents across nurseries, threads and jobs; what collectors get."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from typing import Any

import pytest
import trio
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fx.jobs import job
from fx.testing import open_app
from fxtrio.config import DatabaseConfig
from fxtrio.context import current_app
from fxtrio.db import open_database
from fxtrio.observe.otel import OtelListener
from fxtrio.spans import Spans, span
from tests.jobs.running import running
from tests.observe.test_spans import CANARY, open_renderer, shop

REQUESTS = 1000
PATIENT: dict[str, Any] = {
    "database__waiters": 10 * REQUESTS,
    "timeouts__loader": 100,
    "timeouts__action": 100,
    "timeouts__request": 100,
}


@contextmanager
def exporting() -> Iterator[tuple[OtelListener, InMemorySpanExporter]]:
    """Give a listener, and the spans that it has exported."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield OtelListener(provider), exporter
    provider.shutdown()


@pytest.fixture
def exported() -> Iterator[tuple[OtelListener, InMemorySpanExporter]]:
    """A listener, and the spans that it has exported."""
    with exporting() as both:
        yield both


def attributes(one: ReadableSpan) -> dict[str, Any]:
    return dict(one.attributes or {})


def context_of(one: ReadableSpan) -> trace.SpanContext:
    found: trace.SpanContext | None = one.get_span_context()
    assert found is not None
    return found


async def test_a_thousand_requests_at_a_time_leave_no_orphan(
    tmp_path: Path, exported: tuple[OtelListener, InMemorySpanExporter]
) -> None:
    listener, exporter = exported
    root = shop(tmp_path)
    async with open_app(root, open_renderer=open_renderer, **PATIENT) as client:
        client.app.spans.add(listener)
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                for number in range(REQUESTS):
                    carried = f"00-{number + 1:032x}-{number + 1:016x}-01"
                    headers = {"traceparent": carried}
                    if number % 10:
                        nursery.start_soon(lambda h: client.get("/", headers=h), headers)
                    else:
                        nursery.start_soon(
                            lambda h: client.action("/", "buy", {"word": "x"}, headers=h), headers
                        )
            while client.app.state.fx.jobs.statistics().done < REQUESTS // 10:  # noqa: ASYNC110  # no event tells
                await trio.sleep(0.05)

    spans = exporter.get_finished_spans()
    by_id = {context_of(one).span_id: one for one in spans}
    kinds = Counter(attributes(one)["fx.part"] for one in spans)
    assert kinds["request"] == REQUESTS
    assert kinds["job"] == 2 * REQUESTS // 10
    assert kinds["loader"] == kinds["deferred"] * 2 == 2 * (REQUESTS - REQUESTS // 10)
    for one in spans:
        assert one.parent is not None
        if attributes(one)["fx.part"] == "request":
            assert one.parent.span_id == one.parent.trace_id
            assert attributes(one)["http.route"] == "/"
        else:
            assert context_of(by_id[one.parent.span_id]).trace_id == context_of(one).trace_id
    durable = [one for one in spans if one.name.endswith("remind")]
    assert {by_id[one.parent.span_id].name.partition(" ")[0] for one in durable if one.parent} == {
        "action"
    }


async def test_a_trace_continues_in_the_process_that_runs_the_job(tmp_path: Path) -> None:
    """The two share nothing but the database."""

    @job(queue="mail")
    async def remind(word: str) -> None:
        """Do nothing."""

    config = DatabaseConfig(url="sqlite:///jobs.db", migrate="run")
    with exporting() as (listener, first):
        async with open_database(config, tmp_path) as database:
            async with running(database, remind, queues=("other",), listeners=[listener]):
                spans = current_app().spans
                with spans.open_root("request", "POST /", f"00-{7:032x}-{8:016x}-01"):
                    with span("action", "buy()"):
                        await remind.enqueue("x")
    with exporting() as (listener, second):
        async with open_database(config, tmp_path) as database:
            async with running(database, remind, listeners=[listener]) as runner:
                with trio.fail_after(60):
                    while not runner.statistics().done:  # noqa: ASYNC110  # no event tells
                        await trio.sleep(0.01)

    action = next(one for one in first.get_finished_spans() if one.name == "action buy()")
    [ran] = [one for one in second.get_finished_spans() if attributes(one)["fx.part"] == "job"]
    assert context_of(ran).trace_id == context_of(action).trace_id == 7
    assert ran.parent is not None
    assert ran.parent.span_id == context_of(action).span_id


async def test_a_span_of_the_application_belongs_to_the_part_around(
    exported: tuple[OtelListener, InMemorySpanExporter],
) -> None:
    listener, exporter = exported
    spans = Spans()
    spans.add(listener)

    def in_thread() -> None:
        with trace.use_span(trace.get_current_span()):
            found.append(trace.get_current_span().get_span_context().span_id)

    found: list[int] = []
    with spans.open_root("request", "GET /"), span("loader", "load()"):
        await trio.to_thread.run_sync(in_thread)
        with span("render", "page"):
            in_thread()
    loader = next(one for one in exporter.get_finished_spans() if one.name == "loader load()")
    assert found == [context_of(loader).span_id] * 2
    assert not trace.get_current_span().get_span_context().is_valid


class Collector:
    """What a receiver of OTLP over HTTP has got."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.requests: list[ExportTraceServiceRequest] = []
        self.bodies: list[bytes] = []

    def spans(self) -> list[Any]:
        return [
            one
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for one in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    """A receiver of OTLP, and its URL."""
    got = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class's name
            body = self.rfile.read(int(self.headers["content-length"]))
            got.paths.append(self.path)
            got.bodies.append(body)
            got.requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield got, f"http://127.0.0.1:{server.server_port}/v1/traces"
        server.shutdown()
        thread.join()


async def test_a_collector_gets_the_trace_and_no_values(
    tmp_path: Path, collector: tuple[Collector, str]
) -> None:
    got, url = collector
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    async with open_app(shop(tmp_path), open_renderer=open_renderer) as client:
        client.app.spans.add(OtelListener(provider))
        headers = {"cookie": f"session={CANARY}", "authorization": f"Bearer {CANARY}"}
        await client.get(f"/?word={CANARY}", headers=headers)
        await client.get(f"/{CANARY}", headers=headers)
        await client.action("/", "buy", {"word": CANARY})
        while not client.app.state.fx.jobs.statistics().done:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)
    await trio.to_thread.run_sync(provider.force_flush)
    await trio.to_thread.run_sync(provider.shutdown)

    assert set(got.paths) == {"/v1/traces"}
    kinds = {
        value.value.string_value
        for one in got.spans()
        for value in one.attributes
        if value.key == "fx.part"
    }
    assert kinds == {
        *("request", "hook", "loader", "deferred", "render", "query"),
        *("action", "publish", "job"),
    }
    routes = [
        [value.value.string_value for value in one.attributes if value.key == "http.route"]
        for one in got.spans()
        if not one.parent_span_id
    ]
    assert sorted(routes) == [[], ["/"], ["/"]]
    assert CANARY.encode() not in b"".join(got.bodies)


ENDING = """
import trio
from fxtrio.config import ObservabilityConfig
from fxtrio.observe import open as observability
from fxtrio.spans import Spans

async def main():
    spans = Spans()
    config = ObservabilityConfig(tracing="otel")
    opened = observability.open_observability(
        config, spans, name="shop", development=True, observed=False
    )
    async with opened:
        with spans.open_root("request", "GET"):
            pass
        observability._PATIENCE = 0.1

trio.run(main)
"""


async def test_a_collector_that_never_answers_does_not_hold_up_the_end_of_the_process() -> None:
    with socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        environment = {
            **os.environ,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{listener.getsockname()[1]}",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "60",
        }
        with trio.fail_after(20):  # the SDK by itself would wait for half a minute
            ended = await trio.run_process([sys.executable, "-c", ENDING], env=environment)

    assert ended.returncode == 0
