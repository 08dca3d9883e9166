"""All statements on the rows of durable jobs; the same on each engine.

A job is waiting, running, done or failed. The row of a running job belongs to one worker, whose
name is needed to complete it: a worker that lost the job to another one learns of it.
`fxtrio.jobs.schema` has the tables.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from fxtrio.db.database import limited
from fxtrio.db.engine import Lock
from fxtrio.jobs import lanes
from fxtrio.jobs.dialects import JobSql, job_sql
from fxtrio.jobs.schema import make_tables

if TYPE_CHECKING:
    from fxtrio.db import Database

log = logging.getLogger("fx.jobs")

CRASHES = 5
"""A job fails after so many crashes of its process: it is the likely cause (count)."""

PURGED = 1000
"""Jobs that one statement deletes at most: SQLite blocks other writers meanwhile (count)."""

_SET_BACK = 600.0  # for a statement that changes all jobs that wait, in seconds


@attrs.frozen(eq=False)
class Claimed:
    """A claim of a job by this process, for one run.

    The job may be claimed again before its previous worker notices: each claim is distinct.
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
    priority: int = 0
    misfits: int = 0
    """How often its arguments did not match the function of the claiming process (count)."""

    traceparent: str | None = None
    """The trace that it continues (`fxtrio.spans.carried`)."""

    requester: str | None = None
    """The request that enqueued it (`fxtrio.requester.encode_requester`)."""


@attrs.frozen
class Due:
    """When jobs are due (seconds since 1970); None without one."""

    next: float | None
    suspect: float | None
    """One that may have killed processes (`lanes.SUSPECT`)."""


@attrs.frozen
class JobStore:
    """The statements. Times are seconds since 1970."""

    database: Database
    _sql: JobSql = attrs.field(init=False)

    @_sql.default
    def _sql_of_engine(self) -> JobSql:
        return job_sql(self.database)

    async def prepare(self) -> None:
        """Make the tables where there are none, or older ones."""
        await make_tables(self.database)

    async def now(self) -> float:
        """Return the time of the database, in seconds since 1970."""
        if self._sql.now is None:
            return time.time()
        return float(await self.database.value(self._sql.now))

    async def add(
        self,
        *,
        name: str,
        queue: str,
        args: str,
        key: str | None,
        due: float,
        made: float,
        request_id: str | None,
        priority: int = 0,
        traceparent: str | None = None,
        requester: str | None = None,
        after: Callable[[], None],
    ) -> int | None:
        """Store a job; None if its key exists. ``after`` is called after the commit."""
        number: int | None = await self.database.value(
            "insert into fx_jobs (name, queue, args, key, due, made, request_id, priority,"
            " traceparent, requester) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            " on conflict do nothing returning id",
            name,
            queue,
            args,
            key,
            due,
            made,
            request_id,
            priority,
            traceparent,
            requester,
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
        """Claim up to ``most`` due jobs of ``names``, in ``queues`` (empty: in all).

        They are ordered by priority, then by due time; paused queues are skipped. With
        ``suspects`` only jobs that may have crashed processes are claimed, else only others.
        """
        claimed = await self.database.all(
            Claimed,
            lanes.claim(self._sql, queues=bool(queues), suspects=suspects),
            *(worker, now, list(names), most, *([list(queues)] if queues else [])),
        )
        # `returning` gives rows in any order.
        return sorted(claimed, key=lambda job: (-job.priority, job.due, job.id))

    async def next_due(self, names: Sequence[str], queues: Sequence[str]) -> Due:
        """Return when the next jobs are due that `claim` would take."""
        due = await self.database.one(
            Due,
            lanes.next_due(self._sql, queues=bool(queues)),
            *(list(names), *([list(queues)] if queues else [])),
        )
        assert due is not None
        return due

    def _in(self, number: int) -> str:
        return self._sql.in_list.format(number=number)

    async def finish(self, worker: str, ended: Sequence[int], now: float) -> int:
        """Call jobs done; return how many belonged to ``worker`` still."""
        return await self.database.execute(
            f"update fx_jobs set state = 'done', ended = $1, error = null where id {self._in(2)}"
            " and worker = $3 and state = 'running'",
            now,
            list(ended),
            worker,
        )

    async def count_done(self, worker: str, ended: Sequence[int]) -> int:
        """Return how many of the jobs are done, and were ended by ``worker``."""
        sql = f"select count(*) from fx_jobs where id {self._in(1)} and worker = $2"
        counted: int = await self.database.value(f"{sql} and state = 'done'", list(ended), worker)
        return counted

    async def fail(self, job: Claimed, error: str, now: float, again: float | None) -> None:
        """Let a job wait until ``again``, or give it up."""
        await self.database.execute(
            "update fx_jobs set state = $1, due = $2, ended = $3, error = $4, worker = null"
            " where id = $5 and worker = $6 and state = 'running'",
            "failed" if again is None else "waiting",
            now if again is None else again,
            now if again is None else None,
            storable(error),
            job.id,
            job.worker,
        )

    async def give_back(
        self,
        worker: str,
        these: Sequence[int] | None = None,
        *,
        but: Sequence[int] = (),
        until: float = 0.0,
    ) -> int:
        """Let jobs wait again that ``worker`` has claimed and will not end; no try is counted.

        ``these`` are all it has when they are None, ``but`` others excepted. They are due as
        before, and not before ``until``.
        """
        return await self.database.execute(
            "update fx_jobs set state = 'waiting', worker = null, attempts = attempts - 1,"
            " due = case when due < $5 then $5 else due end"
            f" where worker = $1 and state = 'running' and (id {self._in(2)} or $3 = 1)"
            f" and not id {self._in(4)}",
            worker,
            list(these or ()),
            int(these is None),
            list(but),
            until,
        )

    async def put_off(self, job: Claimed, until: float, error: str, *, misfit: bool = False) -> int:
        """Let a job wait until a time, no try counted; ``misfit`` counts that it did not fit."""
        return await self.database.execute(
            "update fx_jobs set state = 'waiting', worker = null, attempts = attempts - 1,"
            " due = $1, error = $2, misfits = misfits + $3"
            " where id = $4 and worker = $5 and state = 'running'",
            until,
            storable(error),
            int(misfit),
            job.id,
            job.worker,
        )

    async def beat(self, worker: str, now: float, *, first: bool = False) -> bool:
        """Record a heartbeat of a worker; False if others have declared it dead meanwhile."""
        if first:
            sql = "insert into fx_workers (id, seen) values ($1, $2) on conflict do nothing"
        else:
            sql = "update fx_workers set seen = $2 where id = $1"
        return bool(await self.database.execute(sql, worker, now))

    async def leave(self, worker: str) -> None:
        """Take a worker out of the list."""
        await self.database.execute("delete from fx_workers where id = $1", worker)

    async def look(self, worker: str) -> tuple[dict[str, float], list[int]]:
        """Return when each worker was seen last, and the jobs that run as those of ``worker``.

        Both by one statement: each process asks again and again.
        """
        rows = await self.database.all(
            dict,
            "select id, seen, null as job from fx_workers union all"
            " select null, null, id from fx_jobs where worker = $1 and state = 'running'",
            worker,
        )
        seen = {row["id"]: row["seen"] for row in rows if row["job"] is None}
        return seen, [row["job"] for row in rows if row["job"] is not None]

    async def release_dead(self, dead: Iterable[str], now: float) -> int:
        """Give the jobs of dead workers back, and give up those that keep killing them.

        Return how many there were.
        """
        async with self.database.transaction():
            for worker in dead:
                await self.leave(worker)
            found = await self.database.all(
                dict,
                "update fx_jobs set crashes = crashes + 1, attempts = attempts - 1, worker = null,"
                " state = case when crashes + 1 >= $1 then 'failed' else 'waiting' end,"
                " ended = case when crashes + 1 >= $1 then $2 else ended end,"
                " error = 'the process that ran it died'"
                " where state = 'running' and worker not in (select id from fx_workers)"
                " returning id, name, state",
                CRASHES,
                now,
            )
        for job in found:
            if job["state"] == "failed":
                text = "Job %s (%d) failed: %d processes that ran it died"
                log.error(text, job["name"], job["id"], CRASHES)
        return len(found)

    async def set_back(self, now: float, seconds: float) -> bool:
        """Shift the times of waiting jobs after the clock was set back by ``seconds``.

        Only the first process to notice does so; False for the others.
        """
        patient = limited(self.database, _SET_BACK)
        async with patient.transaction():
            if (locks := self.database.sql.locks) is not None:
                await patient.execute(locks.wait.format(number=Lock.JOB_CLOCK))
            latest = await patient.value("select max(seen) from fx_workers")
            # No worker was seen in the future any more: another process has shifted the times.
            if latest is None or latest < now + seconds / 2:
                return False
            await patient.execute("update fx_workers set seen = $1 where seen > $1", now)
            await patient.execute(
                "update fx_jobs set due = due - $1,"
                " made = case when made > $2 then $2 else made end"
                " where state = 'waiting' and due > $2",
                seconds,
                now,
            )
            return True

    async def redate(self, now: float, tolerance: float) -> int:
        """Let jobs wait as long as they should that were enqueued by a clock that is ahead.

        So does a process that has not noticed yet that the clock was set back, and one whose
        transaction ends later. Returns how many there were.
        """
        return await self.database.execute(
            "update fx_jobs set due = due - (made - $1), made = $1"
            " where state = 'waiting' and made > $1 + $2",
            now,
            tolerance,
        )

    async def tick(self, ticks: Mapping[str, float]) -> set[str]:
        """Record times of schedules; return whose were not recorded yet, nor later ones."""
        rows = await self.database.all(
            dict,
            f"insert into fx_ticks (name, tick) {self._sql.pairs} on conflict (name) do update"
            " set tick = excluded.tick where fx_ticks.tick < excluded.tick returning name",
            list(ticks),
            list(ticks.values()),
        )
        return {row["name"] for row in rows}

    async def rewind(self, name: str, tick: float, beyond: float) -> None:
        """Record an earlier time of a schedule where it is ``beyond``: the clock was set back."""
        sql = "update fx_ticks set tick = $1 where name = $2 and tick > $3"
        await self.database.execute(sql, tick, name, beyond)

    async def ticks(self) -> dict[str, float]:
        """Return the last recorded time of each schedule."""
        rows = await self.database.all(dict, "select name, tick from fx_ticks")
        return {row["name"]: row["tick"] for row in rows}

    async def purge(self, state: str, before: float) -> int:
        """Delete the oldest jobs that ended in ``state`` before a time, `PURGED` at most."""
        return await self.database.execute(
            f"delete from fx_jobs where id in (select id from fx_jobs where state = '{state}'"
            f" and ended < $1 order by ended limit {PURGED})",
            before,
        )


def storable(text: str) -> str:
    """Return a text that every engine can store.

    PostgreSQL cannot store NUL, and no database a lone surrogate. Errors may quote such input
    of visitors, and a row that cannot be written would be retried forever.
    """
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def decoded(args: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a job."""
    positional, named = json.loads(args)
    return positional, named
