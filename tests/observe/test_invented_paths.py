"""Whoever makes up paths, methods, hosts and trace ids takes no memory, with everything on."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fx.testing import Client, open_app
from fxtrio.observe import otel
from tests.trees import page, write_tree

GUARDS = """
    async def everybody(request):
        return None
    """
WARM_UP = 400
"""Twice what Studio keeps."""

COUNT = 2000


async def ask(client: Client, first: int, last: int) -> None:
    for number in range(first, last):
        method = f"MADE{number}" if number % 4 == 0 else "GET"
        headers = {
            "host": f"h{number}.example",
            "x-request-id": f"made-{number}",
            "traceparent": f"00-{number + 1:032x}-{number + 1:016x}-01",
        }
        path = f"/made-up-{number}/{number}?q={number}"
        assert (await client.request(method, path, headers=headers)).status == 404


async def test_invented_requests_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(otel, "tracer_provider", lambda name: provider)
    guards = f"guards_{tmp_path.name}"
    write_tree(tmp_path, {"pages/index.fxl": page(""), f"{guards}.py": GUARDS})
    async with open_app(
        tmp_path,
        plugins=[
            {"name": name, "settings": {"path": f"/_{name}", "guard": f"{guards}:everybody"}}
            for name in ("studio", "observe")
        ],
        observability={
            "metrics": "/metrics",
            "metrics_guard": f"{guards}:everybody",
            "tracing": "otel",
        },
    ) as client:
        await ask(client, 0, WARM_UP)
        lines = len((await client.get("/metrics")).text.splitlines())
        spans.clear()
        gc.collect()
        objects = len(gc.get_objects())
        gc.disable()
        try:
            await ask(client, WARM_UP, WARM_UP + COUNT)
            names = {span.name for span in spans.get_finished_spans()}
            spans.clear()
            added = len(gc.get_objects()) - objects
        finally:
            gc.enable()
        text = (await client.get("/metrics")).text
        html = (await client.get("/_studio/requests")).text

    assert added < COUNT // 4  # not even one object for each, before garbage is collected
    assert names == {"GET", "OTHER"}
    assert len(text.splitlines()) <= lines + 28  # those of the route /metrics itself
    for private in ("made-up", "MADE", ".example"):
        assert private not in text
        assert private not in html
    assert html.count("<details") < 300
