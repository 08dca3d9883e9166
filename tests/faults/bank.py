"""A bank, as a project: money moves in transactions, and each transfer has two durable jobs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import trio

from tests.trees import page, write_tree

ACCOUNTS = 20
CENTS = 1_000_000
"""In each account at the beginning."""

JOBS = """
    import sys

    import trio
    from fx.db import db
    from fx.jobs import job


    @job(atomic=True)
    async def book(transfer):
        await db.execute("insert into booked (transfer) values ($1)", transfer)


    @job()
    async def notify(transfer):
        await db.execute("insert into notified (transfer) values ($1)", transfer)


    @job(retries=1, backoff=0.1)
    async def leave(code):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_leave, code)


    async def _leave(code):
        sys.exit(code)  # in a task of its own: an exception group, not a SystemExit
    """
INDEX = """
    import attrs
    import bank
    from fx.db import db


    @attrs.frozen
    class Transfer:
        id: str
        source: int
        target: int
        cents: int


    @action(transaction=True)
    async def transfer(request, transfer: Transfer):
        await db.execute("insert into transfers (id) values ($1)", transfer.id)
        changes = [(transfer.source, -transfer.cents), (transfer.target, transfer.cents)]
        for account, cents in sorted(changes):  # in one order, so that no two wait for each other
            sql = "update accounts set cents = cents + $1 where id = $2"
            await db.execute(sql, cents, account)
        await bank.book.enqueue(transfer.id)
        await bank.notify.enqueue(transfer.id)
        return {}
    """
SLOW = """
    import trio
    from fx.db import db


    async def get(request):
        async with db.transaction():
            await db.value("select count(*) from transfers")
            await trio.sleep(1)
        return {}
    """
POISON = """
    import bank


    async def get(request):
        await bank.leave.enqueue(3)
        return {}
    """
TABLES = f"""
    create table accounts (id integer primary key, cents bigint not null);
    create table transfers (id text primary key);
    create table booked (transfer text not null);
    create table notified (transfer text not null);
    insert into accounts
        with recursive n (n) as (select 1 union all select n + 1 from n where n < {ACCOUNTS})
        select n, {CENTS} from n;
    """
FILES = {
    "pages/index.fxl": page(INDEX),
    "pages/api/slow.py": SLOW,
    "pages/api/poison.py": POISON,
    "bank.py": JOBS,
    "stock.py": "from fxtrio import create_app\n\napp = create_app('.')\n",
    "fx.config.json": '{"database": {"migrate": "run"}}',
    "migrations/0001_bank.sql": TABLES,
}


async def build_bank(root: Path, **more: str) -> Path:
    """Write the project, with ``more`` files, and build it."""
    write_tree(root, {**FILES, **more})
    build = [sys.executable, "-m", "fxtrio", "build"]
    env = {**os.environ, "FX_COMPRESSION": "off"}  # which takes as long as all the rest
    await trio.run_process(build, cwd=root, capture_stdout=True, capture_stderr=True, env=env)
    return root
