"""The tables of durable jobs, and every statement about them; the same on each engine.

A job waits, runs, and is done or has failed. A row that runs belongs to one worker: whoever
ends it says which, and is told when it belongs to another one by now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from fxtrio.db import Database

CRASHES = 5
"""A job whose process died so often is given up: it is the likely culprit (count)."""

SUSPECT = 2
"""A job whose process died so often runs beside no other such one, so that the culprit's
company does not fail with it (count)."""

_TYPES = {
    "sqlite": {"serial": "integer primary key autoincrement", "real": "real"},
    "postgresql": {
        "serial": "bigint generated always as identity primary key",
        "real": "double precision",
    },
}
_SCHEMA = """
create table if not exists fx_jobs (
  id {serial}, name text not null, queue text not null, args text not null,
  state text not null default 'waiting', due {real} not null,
  attempts integer not null default 0, crashes integer not null default 0,
  key text, worker text, request_id text, made {real} not null, ended {real}, error text);
create index if not exists fx_jobs_due on fx_jobs (due, id) where state = 'waiting';
create index if not exists fx_jobs_suspects on fx_jobs (due, id)
  where state = 'waiting' and crashes >= 2;
create index if not exists fx_jobs_running on fx_jobs (worker) where state = 'running';
create index if not exists fx_jobs_ended on fx_jobs (ended) where state = 'done';
create unique index if not exists fx_jobs_unique on fx_jobs (name, key)
  where state in ('waiting', 'running') and key is not null;
create table if not exists fx_workers (id text primary key, seen {real} not null);
create table if not exists fx_ticks (name text primary key, tick {real} not null);
"""
_LOCK = "select pg_advisory_xact_lock(7225103)"


@attrs.frozen(eq=False)
class Claimed:
    """A job that this process is to run, once.

    It may be claimed again before the one who ran it has looked: each claim is its own.
    """

    id: int
    name: str
    args: str
    attempts: int
    """This one included."""

    request_id: str | None
    worker: str
    """As whom it was claimed."""

    due: float
    crashes: int


@attrs.frozen
class Due:
    """When jobs are due (seconds since 1970); None without one."""

    next: float | None
    suspect: float | None
    """One that may have killed processes (`SUSPECT`)."""


@attrs.frozen
class JobStore:
    """The statements. Times are seconds since 1970."""

    database: Database

    async def prepare(self) -> None:
        """Make the tables where there are none."""
        schema = _SCHEMA.format(**_TYPES[self.database.dialect])
        async with self.database.transaction():
            if self.database.dialect == "postgresql":  # two who make a table collide there
                await self.database.execute(_LOCK)
            await self.database.run_script(schema)

    async def add(
        self,
        *,
        name: str,
        queue: str,
        args: str,
        key: str | None,
        due: float,
        request_id: str | None,
        after: Callable[[], None],
    ) -> int | None:
        """Keep a job; None when there is one with its key. ``after`` is called once it is kept."""
        number: int | None = await self.database.value(
            "insert into fx_jobs (name, queue, args, key, due, made, request_id)"
            " values ($1, $2, $3, $4, $5, $5, $6) on conflict do nothing returning id",
            name,
            queue,
            args,
            key,
            due,
            request_id,
        )
        if number is not None:
            self.database.after_commit(after)
        return number

    async def claim(
        self,
        worker: str,
        now: float,
        names: Sequence[str],
        queues: Sequence[str],
        most: int,
        *,
        suspects: bool = False,
    ) -> list[Claimed]:
        """Take up to ``most`` jobs that are due, of ``names``, in ``queues`` (empty: in all).

        They come in the order in which they were due. ``suspects`` asks for those that may
        have killed processes, and else none of them comes.
        """
        within = f" and queue {self._in(5)}" if queues else ""
        found = (
            f"select id from fx_jobs where state = 'waiting' and due <= $2 and {_kind(suspects)}"
            f" and name {self._in(3)}{within} order by due, id limit $4"
        )
        # An array, whose rows PostgreSQL finds by the index, however many there may be.
        chosen = (
            f"= any(array({found} for update skip locked))"
            if self.database.dialect == "postgresql"
            else f"in ({found})"
        )
        claimed = await self.database.all(
            Claimed,
            "update fx_jobs set state = 'running', worker = $1, attempts = attempts + 1"
            f" where id {chosen}"
            " returning id, name, args, attempts, request_id, worker, due, crashes",
            *(worker, now, list(names), most, *([list(queues)] if queues else [])),
        )
        return sorted(claimed, key=lambda job: (job.due, job.id))

    def _in(self, number: int) -> str:
        """Return the test for being in a list, which is the argument ``number``."""
        if self.database.dialect == "postgresql":
            return f"= any(${number})"
        return f"in (select value from json_each(${number}))"

    async def next_due(self, names: Sequence[str], queues: Sequence[str]) -> Due:
        """Return when the next jobs are due that `claim` would take."""
        within = f" and queue {self._in(2)}" if queues else ""

        def first(suspects: bool) -> str:
            return (
                f"(select min(due) from fx_jobs where state = 'waiting' and {_kind(suspects)}"
                f" and name {self._in(1)}{within})"
            )

        due = await self.database.one(
            Due,
            f"select {first(False)} as next, {first(True)} as suspect",
            *(list(names), *([list(queues)] if queues else [])),
        )
        assert due is not None
        return due

    async def finish(self, worker: str, ended: Sequence[int], now: float) -> int:
        """Call jobs done; return how many belonged to ``worker`` still."""
        return await self.database.execute(
            f"update fx_jobs set state = 'done', ended = $1, error = null where id {self._in(2)}"
            " and worker = $3 and state = 'running'",
            now,
            list(ended),
            worker,
        )

    async def fail(self, job: Claimed, error: str, now: float, again: float | None) -> None:
        """Let a job wait until ``again``, or give it up."""
        # PostgreSQL keeps no NUL, and no database half a surrogate pair: errors repeat what
        # visitors have typed, and what cannot be written would be tried for ever.
        error = error.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
        await self.database.execute(
            "update fx_jobs set state = $1, due = $2, ended = $3, error = $4, worker = null"
            " where id = $5 and worker = $6 and state = 'running'",
            "failed" if again is None else "waiting",
            now if again is None else again,
            now if again is None else None,
            error,
            job.id,
            job.worker,
        )

    async def give_back(
        self, worker: str, these: Sequence[int] | None = None, *, but: Sequence[int] = ()
    ) -> int:
        """Let jobs wait again that ``worker`` has claimed and will not end; no try is counted.

        ``these`` are all it has when they are None, ``but`` others excepted.
        """
        return await self.database.execute(
            "update fx_jobs set state = 'waiting', worker = null, attempts = attempts - 1"
            f" where worker = $1 and state = 'running' and (id {self._in(2)} or $3 = 1)"
            f" and not id {self._in(4)}",
            worker,
            list(these or ()),
            int(these is None),
            list(but),
        )

    async def beat(self, worker: str, now: float, *, first: bool = False) -> bool:
        """Say that a worker lives; False when others have given it up meanwhile."""
        if first:
            sql = "insert into fx_workers (id, seen) values ($1, $2) on conflict do nothing"
        else:
            sql = "update fx_workers set seen = $2 where id = $1"
        return bool(await self.database.execute(sql, worker, now))

    async def leave(self, worker: str) -> None:
        """Take a worker out of the list."""
        await self.database.execute("delete from fx_workers where id = $1", worker)

    async def workers(self) -> dict[str, float]:
        """Return when each worker was seen last."""
        rows = await self.database.all(dict, "select id, seen from fx_workers")
        return {row["id"]: row["seen"] for row in rows}

    async def bury(self, dead: Iterable[str], now: float) -> int:
        """Give the jobs of dead workers back, and give up those that keep killing them."""
        async with self.database.transaction():
            for worker in dead:
                await self.leave(worker)
            return await self.database.execute(
                "update fx_jobs set crashes = crashes + 1, attempts = attempts - 1, worker = null,"
                " state = case when crashes + 1 >= $1 then 'failed' else 'waiting' end,"
                " ended = case when crashes + 1 >= $1 then $2 else ended end,"
                " error = 'the process that ran it died'"
                " where state = 'running' and worker not in (select id from fx_workers)",
                CRASHES,
                now,
            )

    async def tick(self, name: str, tick: float) -> bool:
        """Record a time of a schedule; False when somebody has recorded it, or a later one."""
        return bool(
            await self.database.execute(
                "insert into fx_ticks (name, tick) values ($1, $2) on conflict (name) do update"
                " set tick = excluded.tick where fx_ticks.tick < excluded.tick",
                name,
                tick,
            )
        )

    async def ticks(self) -> dict[str, float]:
        """Return the last recorded time of each schedule."""
        rows = await self.database.all(dict, "select name, tick from fx_ticks")
        return {row["name"]: row["tick"] for row in rows}

    async def purge(self, before: float) -> int:
        """Forget what was done before a time."""
        return await self.database.execute(
            "delete from fx_jobs where state = 'done' and ended < $1", before
        )


def _kind(suspects: bool) -> str:
    """Return the test for the jobs that may have killed processes, or for all others."""
    return f"crashes {'>=' if suspects else '<'} {SUSPECT}"


def decoded(args: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a job."""
    positional, named = json.loads(args)
    return positional, named
