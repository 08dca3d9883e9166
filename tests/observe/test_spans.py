"""What requests and jobs consist of: each part under what it belongs to, and no values."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from fx.testing import open_app
from fxtrio.spans import Span, Spans, current_span, shape_of, span
from fxtrio.ssr.frames import Rendered
from tests.trees import page, write_tree

CANARY = "s3cret-canary"

SHOP = """
    import trio
    from fx.db import db
    from fx.jobs import job
    from fx.realtime import publish
    from fx.runtime import defer
    from fx.tasks import enqueue

    async def find_reviews(word):
        await db.value("select 'reviews' || $1", word)
        return []

    def in_thread():
        trio.from_thread.run(db.value, "select 3")

    async def welcome(word):
        await db.value("select 4")

    @job
    async def remind(word):
        await db.value("select 5")

    @server
    async def load(request):
        word = request.query_params.get("word", "")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(db.value, f"select '{word}' || 1")
            nursery.start_soon(trio.to_thread.run_sync, in_thread)
        return {"reviews": defer(find_reviews, word)}

    @action
    async def buy(request):
        word = (await request.json())["word"]
        enqueue(welcome, word)
        await remind.enqueue(word)
        await publish("news", {"word": word})
        return {}
    """
LAYOUT = """
    @server
    async def load(request):
        return {}
    """
CONFIG = """
    {"database": {"url": "sqlite:///data/app.db"}, "routeMiddleware": {"pages": ["hooks:admit"]}}
    """


@attrs.define
class Renderer:
    async def render(self, page: int, payload: bytes) -> Rendered:
        return Rendered(b"", b"whole")

    @asynccontextmanager
    async def stream(self, page: int, payload: bytes) -> AsyncIterator[Any]:
        class Parts:
            async def __aiter__(self) -> AsyncIterator[Rendered]:
                yield Rendered(b"", b"shell")

            async def resolve(self, name: str, value: bytes) -> None:
                """Leave it out."""

            reject = resolve

        yield Parts()


@asynccontextmanager
async def open_renderer() -> AsyncIterator[Renderer]:
    yield Renderer()


@attrs.define(eq=False)
class Record:
    """A listener that keeps all spans."""

    begun: list[Span] = attrs.field(factory=list)
    ended: list[Span] = attrs.field(factory=list)

    def begin(self, span: Span) -> None:
        self.begun.append(span)

    def end(self, span: Span) -> None:
        self.ended.append(span)

    def carry(self, span: Span) -> str | None:
        return f"carried from {span.kind}"

    def lines(self) -> list[str]:
        """Return kind and name of all that have ended, with those of their parents."""
        return sorted(
            f"{one.kind} {one.name}" + (f" < {one.parent.kind}" if one.parent else "")
            for one in self.ended
        )


def shop(root: Path) -> Path:
    files = {
        "pages/index.fxl": page(SHOP),
        "pages/layout.fxl": page(LAYOUT, "export default ({ children }) => children;\n"),
        "hooks.py": "async def admit(request):\n    return None\n",
        "fx.config.json": CONFIG,
    }
    return write_tree(root, files)


async def test_every_part_of_a_request_belongs_to_what_began_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    record = Record()
    async with open_app(shop(tmp_path), open_renderer=open_renderer) as client:
        client.app.spans.add(record)
        await client.get(f"/?word={CANARY}")
        await trio.testing.wait_all_tasks_blocked()
        client.app.spans.remove(record)
        await client.get("/")

    assert record.lines() == [
        "deferred pages/index.fxl: defer('reviews') < request",
        "hook hooks:admit < request",
        "loader pages/index.fxl: load() < request",
        "loader pages/layout.fxl: load() < request",
        "query select ? < loader",
        "query select ? || $1 < deferred",
        "query select ? || ? < loader",
        "render pages/index.fxl < request",
        "request GET /",
    ]
    root = record.ended[-1]
    assert (root.values["status"], root.values["route"]) == (200, "/")
    assert len(str(root.values["request"])) == 32
    assert len(record.begun) == len(record.ended)


async def test_jobs_belong_to_what_enqueued_them(tmp_path: Path, autojump_clock: MockClock) -> None:
    record = Record()
    async with open_app(shop(tmp_path), open_renderer=open_renderer) as client:
        client.app.spans.add(record)
        assert (await client.action("/", "buy", {"word": CANARY})).ok
        await trio.sleep(1)

    kinds = Counter(line.partition(" ")[0] for line in record.lines())
    assert kinds == {"request": 1, "hook": 1, "action": 1, "publish": 1, "job": 2, "query": 3}
    jobs = [one for one in record.ended if one.kind == "job"]
    (task,) = [one for one in jobs if one.parent is not None]
    (durable,) = [one for one in jobs if one.parent is None]
    assert task.name.endswith(".welcome")
    assert task.parent is not None
    assert task.parent.kind == "action"
    assert durable.name.endswith("remind")
    assert durable.carried == "carried from action"


async def test_spans_hold_no_values_of_the_application(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    record = Record()
    async with open_app(shop(tmp_path), open_renderer=open_renderer) as client:
        client.app.spans.add(record)
        cookie = {"cookie": f"session={CANARY}", "authorization": f"Bearer {CANARY}"}
        await client.get(f"/?word={CANARY}", headers=cookie)
        await client.get(f"/{CANARY}")
        await client.action("/", "buy", {"word": CANARY})
        await trio.sleep(1)

    spans = [(one.name, one.place, one.values, one.error, one.carried) for one in record.ended]
    assert len(spans) > 15
    assert CANARY.encode() not in pickle.dumps(spans)


async def test_queries_name_the_line_of_the_page_and_their_rows(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = Record()
    async with open_app(shop(tmp_path), open_renderer=open_renderer) as client:
        client.app.spans.add(record)
        await client.get("/")
        await trio.testing.wait_all_tasks_blocked()

    (query,) = [one for one in record.ended if one.parent and one.parent.kind == "deferred"]
    assert query.place == "pages/index.fxl:9"
    assert query.values == {"rows": 1}


async def test_a_cancelled_block_ends_its_span(autojump_clock: MockClock) -> None:
    record, spans = Record(), Spans()
    spans.add(record)
    with trio.move_on_after(1), spans.open_root("request", "GET /"), span("loader", "load()"):
        await trio.sleep_forever()

    assert [(one.kind, one.error) for one in record.ended] == [
        ("loader", "Cancelled"),
        ("request", "Cancelled"),
    ]
    assert current_span.get() is None


def test_without_a_listener_there_is_no_span() -> None:
    with Spans().open_root("request", "GET /") as root, span("loader", "load()") as part:
        assert root is None
        assert part is None
        assert current_span.get() is None


@pytest.mark.parametrize(
    ("sql", "shape"),
    [
        ("select *\n from users -- it's a secret\n limit $1", "select * from users limit $1"),
        ("select 'it''s', 1.5e3, x2, \"order\" /* 'a */ , -7", 'select ?, ?, x2, "order" , -?'),
        (r"select e'it\'s secret', 'a\' and 'secret'", "select ?, ? and ?"),
        ("select $$secret$$, $tag$ '$$ secret $tag$, $2", "select ?, ?, $2"),
        ('select "two words"', "select ?"),
        ("select 'never closed secret", "select ?"),
    ],
)
def test_the_shape_of_a_statement_has_none_of_its_values(sql: str, shape: str) -> None:
    assert shape_of(sql) == shape


@given(st.text())
def test_a_text_in_a_statement_is_replaced(text: str) -> None:
    quoted = text.replace("'", "''")
    assert shape_of(f"select * from notes where text = '{quoted}'") == (
        "select * from notes where text = ?"
    )
