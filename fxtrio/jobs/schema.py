"""The tables of durable jobs, created at the first start and migrated if they are older."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxtrio.db.engine import Lock
from fxtrio.jobs.dialects import JobSql, job_sql

if TYPE_CHECKING:
    from fxtrio.db import Database


_TABLES = """
create table if not exists fx_jobs (
  id {serial}, name text not null, queue text not null, args text not null,
  state text not null default 'waiting', due {real} not null,
  attempts integer not null default 0, crashes integer not null default 0,
  key text, worker text, request_id text, made {real} not null, ended {real}, error text);
create index if not exists fx_jobs_suspects on fx_jobs (due, id)
  where state = 'waiting' and crashes >= 2;
create index if not exists fx_jobs_running on fx_jobs (worker) where state = 'running';
create unique index if not exists fx_jobs_unique on fx_jobs (name, key)
  where state in ('waiting', 'running') and key is not null;
create table if not exists fx_workers (id text primary key, seen {real} not null);
create table if not exists fx_ticks (name text primary key, tick {real} not null);
"""
_COLUMNS = {
    "priority": "integer not null default 0",
    "misfits": "integer not null default 0",
    "traceparent": "text",
    "requester": "text",
}
"""Those that tables of earlier versions lack, with their types; the last one is added last."""

_LATER = """
create table if not exists fx_paused (queue text primary key, since {real} not null);
create index if not exists fx_jobs_ended_at on fx_jobs (state, ended, id)
  where state in ('done', 'failed');
drop index if exists fx_jobs_ended;
drop index if exists fx_jobs_due;
create index fx_jobs_lanes on fx_jobs (queue, name, priority, due, id)
  where state = 'waiting' and crashes < 2;
"""
_NEWEST = "fx_jobs_lanes"
"""The index that is created last."""


async def make_tables(database: Database) -> None:
    """Make the tables where there are none, and bring those of earlier versions up to date.

    Processes of an earlier version go on with them.
    """
    sql = job_sql(database)
    if await _is_complete(database, sql):
        return
    async with database.transaction():
        if (locks := database.sql.locks) is not None:  # two that create a table would collide
            await database.execute(locks.wait.format(number=Lock.JOB_TABLES))
            if await _is_complete(database, sql):
                return
        await database.run_script(_TABLES.format(**sql.types))
        known = await _columns(database, sql)
        for column, described in _COLUMNS.items():
            if column not in known:
                await database.execute(f"alter table fx_jobs add column {column} {described}")
        if not await _has_newest(database, sql):
            await database.run_script(_LATER.format(**sql.types))


async def _is_complete(database: Database, sql: JobSql) -> bool:
    """Whether nothing is missing: only the catalog is read, since others may lock the tables."""
    return await _has_newest(database, sql) and set(_COLUMNS) <= await _columns(database, sql)


async def _has_newest(database: Database, sql: JobSql) -> bool:
    return bool(await database.value(sql.has_index.format(index=_NEWEST)))


async def _columns(database: Database, sql: JobSql) -> set[str]:
    return {row["name"] for row in await database.all(dict, sql.columns)}
