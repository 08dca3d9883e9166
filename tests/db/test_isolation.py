"""Transactions in whose way others are: what was read holds at the commit, or they run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from fx.db import IsolationTooLate, TransactionConflict, db
from fx.runtime import action
from fx.testing import open_app
from fxtrio.db import Database
from tests.trees import page, write_tree

PAGE = """
    from pathlib import Path

    from fx.db import db
    from fx.tasks import enqueue
    from pydantic import BaseModel

    RUNS = []

    class Payment(BaseModel):
        id: int
        cents: int
        tags: list[str] = []

    def note(what):
        with Path("DONE").open("a") as file:
            file.write(what + ",")

    async def note_later(what):
        note(what)

    @action(transaction=True)
    async def pay(request, payment: Payment):
        await db.execute(
            "insert into payments (id, cents) values ($1, $2)", payment.id, payment.cents
        )
        if await db.value("select sum(cents) from payments") > 100:
            raise ActionError("That is too much.")
        return {}

    @action(transaction=True, isolation="read committed")
    async def pay_loosely(request, payment: Payment):
        if await db.value("select count(*) from payments") == 0:
            await db.value("select 1 from pg_sleep(0.2)")
            await db.execute("insert into payments values ($1, $2)", payment.id, payment.cents)
        return {}

    @action(transaction=True)
    async def conflict(request):
        body = await request.json()
        RUNS.append(body.pop("name"))
        request.state.response.headers.append("x-run", str(len(RUNS)))
        request.state.response.set_cookie(f"run{len(RUNS)}", "1")
        request.state.background.add_task(note, f"task {len(RUNS)}")
        enqueue(note_later, f"job {len(RUNS)}")
        db.after_commit(note, f"commit {len(RUNS)}")
        await db.execute("insert into payments values ($1, 1)", len(RUNS))
        if len(RUNS) <= body["fail"]:
            await db.execute("do $$ begin raise exception using errcode = '40001'; end $$")
        return {"run": len(RUNS), "background": [note, f"short {len(RUNS)}"]}

    @action(transaction=True)
    async def swallow(request):
        RUNS.append(1)
        if len(RUNS) == 1:
            try:
                await db.execute("do $$ begin raise exception using errcode = '40P01'; end $$")
            except Exception:
                raise ActionError("It did not work.")
        return {}

    @action
    async def deadlock(request):
        await db.execute("do $$ begin raise exception using errcode = '40P01'; end $$")

    @action
    async def full(request):
        await db.execute("do $$ begin raise exception using errcode = '53100'; end $$")
    """


UPLOAD = """
    import attrs
    from fx.db import db
    from fx.jobs import job
    from fx.runtime import UploadFile

    SEEN = []

    @job()
    async def send(number):
        await db.execute("insert into payments values ($1, 0)", 100 + number)

    @attrs.frozen
    class Photo:
        file: UploadFile

    @action(transaction=True)
    async def keep(request, photo: Photo):
        SEEN.append(len(await photo.file.read()))
        await db.execute("insert into payments values ($1, 1)", len(SEEN))
        await send.enqueue(len(SEEN))
        if len(SEEN) < 3:
            await db.execute("do $$ begin raise exception using errcode = '40001'; end $$")
        return {"sizes": SEEN}
    """


@pytest.fixture(params=["file", "postgresql"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    url = "sqlite:///data/app.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    return make_root(tmp_path, url)


def make_root(folder: Path, url: str) -> Path:
    return write_tree(
        folder,
        {
            "pages/index.fxl": page(PAGE.replace("DONE", f"{folder}/done")),
            "fx.config.json": f'{{"database": {{"url": "{url}"}}}}',
            "migrations/0001_payments.sql": "create table payments (id int primary key, cents int)",
        },
    )


@pytest.fixture
def on_postgres(postgres_url: str, tmp_path: Path) -> Path:
    return make_root(tmp_path, postgres_url)


async def test_what_the_guide_pays_is_never_too_much(root: Path) -> None:
    with trio.fail_after(60):
        async with open_app(root) as client:
            statuses: list[int] = []

            async def pay(number: int) -> None:
                body = {"id": number, "cents": 30}
                statuses.append((await client.action("/", "pay", body)).status)

            for round_ in range(3):
                await db.execute("delete from payments")
                statuses.clear()
                async with trio.open_nursery() as nursery:
                    for number in range(20):
                        nursery.start_soon(pay, 100 * round_ + number)
                assert await db.value("select sum(cents) from payments") == 90
                assert sorted(statuses) == [200] * 3 + [400] * 17


async def test_what_an_attempt_did_in_vain_is_forgotten(on_postgres: Path) -> None:
    with trio.fail_after(60):
        async with open_app(on_postgres) as client:
            url, body = "/api/__actions/index/conflict", {"name": "a", "fail": 2}
            response = await client.post(url, json=body)

            assert (response.status, response.json()["run"]) == (200, 3)
            assert response.headers.getlist("x-run") == ["3"]
            cookies = response.headers.getlist("set-cookie")
            assert [one.partition("=")[0] for one in cookies if one.startswith("run")] == ["run3"]
            assert await db.all(dict, "select id from payments") == [{"id": 3}]
    done = (on_postgres / "done").read_text().strip(",").split(",")
    assert sorted(done) == ["commit 3", "job 3", "short 3", "task 3"]


@pytest.mark.parametrize("size", [10, 2_000_000])
async def test_each_attempt_has_the_whole_file_and_one_enqueues_its_job(
    on_postgres: Path, size: int
) -> None:
    write_tree(on_postgres, {"pages/upload.fxl": page(UPLOAD)})
    form = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    kind = {"content-type": "multipart/form-data; boundary=b"}
    with trio.fail_after(60):
        async with open_app(on_postgres) as client:
            response = await client.post(
                "/api/__actions/upload/keep",
                content=form + b"x" * size + b"\r\n--b--\r\n",
                headers=kind,
            )
            assert response.json() == {"ok": True, "sizes": [size] * 3}
            while not await db.value("select count(*) from payments where id > 100"):  # noqa: ASYNC110
                await trio.sleep(0.01)
            rows = await db.all(dict, "select id from payments order by id")
            assert rows == [{"id": 3}, {"id": 103}]
            assert await db.value("select count(*) from fx_jobs") == 1


async def test_attempts_are_bounded_and_the_last_one_is_a_503(on_postgres: Path) -> None:
    with trio.fail_after(60):
        async with open_app(on_postgres) as client:
            url, body = "/api/__actions/index/conflict", {"name": "a", "fail": 100}
            response = await client.post(url, json=body)
            assert (response.status, response.headers["retry-after"]) == (503, "1")
            assert await db.value("select count(*) from payments") == 0


async def test_a_conflict_that_the_code_has_caught_is_one_all_the_same(on_postgres: Path) -> None:
    with trio.fail_after(60):
        async with open_app(on_postgres) as client:
            assert (await client.action("/", "swallow", {})).status == 200


@pytest.mark.parametrize("name", ["deadlock", "full"])
async def test_outside_of_transactions_it_is_a_503(on_postgres: Path, name: str) -> None:
    with trio.fail_after(60):
        async with open_app(on_postgres) as client:
            result = await client.action("/", name, {})
            assert result.status == 503
            assert "errcode" not in str(result.data)


async def test_less_isolation_can_be_chosen(on_postgres: Path) -> None:
    with trio.fail_after(60):
        async with open_app(on_postgres) as client:
            async with trio.open_nursery() as nursery:
                for number in range(3):
                    body: Any = {"id": number, "cents": 30}
                    nursery.start_soon(client.action, "/", "pay_loosely", body)
            assert await db.value("select count(*) from payments") > 1


def test_a_level_that_there_is_not_is_rejected() -> None:
    with pytest.raises(ValueError, match="'read committed', 'repeatable read', 'serializable'"):
        action(transaction=True, isolation="chaos")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="transaction=True"):
        action(isolation="serializable")


async def test_a_loop_of_attempts_counts_what_others_count_too(db: Database) -> None:
    await db.execute("insert into notes values (0, '0')")

    async def count() -> None:
        async for attempt in db.transaction(isolation="serializable", retry=20):
            async with attempt:
                found = int(await db.value("select text from notes where id = 0"))
                await db.execute("update notes set text = $1 where id = 0", str(found + 1))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(count)
    assert await db.value("select text from notes") == "20"


async def test_a_retry_loop_ends_with_an_error_that_is_no_conflict(db: Database) -> None:
    runs = 0
    with pytest.raises(KeyError):
        async for attempt in db.transaction(retry=3):
            async with attempt:
                runs += 1
                await db.execute("insert into notes values (1, 'a')")
                raise KeyError
    assert runs == 1
    assert await db.value("select count(*) from notes") == 0
    with pytest.raises(TypeError, match="async for attempt in"):
        async with db.transaction(retry=3):
            raise AssertionError
    with pytest.raises(ValueError, match="isolation must be one of"):
        db.transaction(isolation="none")  # type: ignore[arg-type]


class TestOnPostgres:
    @pytest.fixture
    def engine(self, postgres_url: str) -> str:
        return postgres_url

    async def test_the_last_attempt_says_how_often(self, db: Database) -> None:
        with pytest.raises(TransactionConflict, match="3 times") as caught:
            async for attempt in db.transaction(retry=2):
                async with attempt:
                    await db.execute("do $$ begin raise exception using errcode = '40001'; end $$")
        assert isinstance(caught.value.__cause__, psycopg.errors.SerializationFailure)

    async def test_inside_of_another_one_nothing_runs_again(self, db: Database) -> None:
        runs = 0
        with pytest.raises(psycopg.errors.SerializationFailure):
            async with db.transaction():
                async for attempt in db.transaction(retry=2):
                    async with attempt:
                        runs += 1
                        await db.execute(
                            "do $$ begin raise exception using errcode = '40001'; end $$"
                        )
        assert runs == 1

    async def test_more_isolation_inside_a_transaction_is_rejected(self, db: Database) -> None:
        with pytest.raises(IsolationTooLate, match="'serializable' was requested inside"):
            async with db.transaction():
                async with db.transaction(isolation="serializable"):
                    raise AssertionError
        async with (
            db.transaction(isolation="serializable"),
            db.transaction(isolation="repeatable read"),
        ):
            assert await db.value("show transaction_isolation") == "serializable"
