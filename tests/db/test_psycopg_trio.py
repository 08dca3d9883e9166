"""psycopg's connection on trio: what the rest of `fx.db` does not use of it, too."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
import trio
from psycopg import errors

from fxtrio.db.postgresql.psycopg_trio import StatementCursor, TrioConnection


async def test_each_of_several_hosts_is_tried_and_named(tmp_path: object) -> None:
    hosts = f"host={tmp_path}/a,{tmp_path}/b dbname=x"
    with pytest.raises(psycopg.OperationalError, match="All failures were") as caught:
        await TrioConnection.connect(hosts)
    assert f"{tmp_path}/a" in str(caught.value) and f"{tmp_path}/b" in str(caught.value)


async def test_a_server_that_does_not_answer_runs_into_the_time_limit() -> None:
    async def keep_silent(stream: trio.SocketStream) -> None:
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, keep_silent, 0)
        port = listeners[0].socket.getsockname()[1]
        conninfo = f"host=127.0.0.1 port={port} connect_timeout=2"
        with trio.fail_after(20), pytest.raises(errors.ConnectionTimeout):
            await TrioConnection.connect(conninfo)
        nursery.cancel_scope.cancel()


async def test_pipelines_blocks_and_server_side_cursors_work(postgres_url: str) -> None:
    with trio.fail_after(30):
        async with await TrioConnection.connect(postgres_url, autocommit=True) as connection:
            async with connection.pipeline():
                cursors = [await connection.execute("select %s::int", (n,)) for n in range(5)]
                found = [(await cursor.fetchone() or (None,))[0] for cursor in cursors]
            assert found == [0, 1, 2, 3, 4]
            async with connection.transaction():
                with pytest.raises(ZeroDivisionError):
                    async with connection.transaction():
                        await connection.execute("create table undone (n int)")
                        raise ZeroDivisionError
                async with connection.cursor("named") as named:
                    await named.execute("select generate_series(1, 1000)")
                    assert len([row async for row in named]) == 1000
            table = await connection.execute("select to_regclass('undone')")
            assert await table.fetchone() == (None,)


async def test_notices_of_others_come_until_the_time_is_over(postgres_url: str) -> None:
    with trio.fail_after(30):
        async with (
            await TrioConnection.connect(postgres_url, autocommit=True) as one,
            await TrioConnection.connect(postgres_url, autocommit=True) as two,
        ):
            await one.execute("listen news")
            await two.execute("notify news, 'a'")
            assert [n.payload async for n in one.notifies(timeout=5, stop_after=1)] == ["a"]
            assert [n.payload async for n in one.notifies(timeout=0.05)] == []


async def test_tasks_that_share_a_connection_take_turns(postgres_url: str) -> None:
    found: list[int] = []
    with trio.fail_after(30):
        async with await TrioConnection.connect(postgres_url, autocommit=True) as connection:

            async def ask(number: int) -> None:
                cursor = await connection.execute("select %s::int, pg_sleep(0.001)", (number,))
                row = await cursor.fetchone()
                assert row is not None
                found.append(row[0])

            async with trio.open_nursery() as nursery:
                for number in range(20):
                    nursery.start_soon(ask, number)
    assert sorted(found) == list(range(20))


async def test_a_cancelled_task_that_shares_a_connection_spoils_no_others(
    postgres_url: str,
) -> None:
    with trio.fail_after(30):
        async with await TrioConnection.connect(postgres_url, autocommit=True) as connection:
            async with trio.open_nursery() as nursery:
                with trio.move_on_after(0.1) as scope:
                    nursery.start_soon(connection.execute, "select 1")
                    await connection.execute("select pg_sleep(60)")
                assert scope.cancelled_caught
                await connection.execute("select 1")
            assert connection.info.transaction_status.name == "IDLE"


async def test_a_large_answer_and_a_large_question_pass(postgres_url: str) -> None:
    text = "ä" * 3_000_000  # more than a socket takes at once
    with trio.fail_after(60):
        async with await TrioConnection.connect(postgres_url, autocommit=True) as connection:
            cursor = await connection.execute("select %s::text", (text,))
            assert await cursor.fetchone() == (text,)


async def test_only_names_of_hosts_are_looked_up_in_a_thread(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[object] = []
    run_sync = trio.to_thread.run_sync

    async def counting(*args: Any, **options: Any) -> Any:
        looked_up.append(args)
        return await run_sync(*args, **options)

    monkeypatch.setattr(trio.to_thread, "run_sync", counting)
    with trio.fail_after(30):
        await (await TrioConnection.connect(postgres_url)).close()
        for host in ("127.0.0.1", "::1", "/nowhere", "unused hostaddr=127.0.0.1"):
            with pytest.raises(psycopg.OperationalError):
                await TrioConnection.connect(f"host={host} port=1")
        assert looked_up == []
        with pytest.raises(psycopg.OperationalError):
            await TrioConnection.connect("host=localhost port=1")
    assert len(looked_up) == 1


async def test_a_connection_that_waits_for_news_says_that_it_is_busy(postgres_url: str) -> None:
    with trio.fail_after(30):
        async with await TrioConnection.connect(postgres_url, autocommit=True) as connection:
            await connection.execute("listen news")
            await connection.execute("notify news, 'a'")
            async for _ in connection.notifies(timeout=5, stop_after=1):
                assert connection.lock.locked()
            assert not connection.lock.locked()


async def test_a_cursor_that_is_used_again_keeps_nothing_of_its_last_result(
    postgres_url: str,
) -> None:
    sql = "select $1 as given"
    with trio.fail_after(30):
        async with await TrioConnection.connect(postgres_url, autocommit=True) as connection:
            cursor = StatementCursor(connection)
            found = []
            for value in (1, "one", None, 2.5, 10**12, b"x", 1):
                await cursor.execute(sql, [value])
                found.append(await cursor.fetchall())
                cursor.forget()
                assert cursor.pgresult is None and cursor.rownumber is None
                assert cursor.rowcount == -1
            values = [rows[0][0] for rows in found]
    assert values == [1, "one", None, 2.5, 10**12, b"x", 1]
