"""The tables of accounts: the same on each engine, in the app's database or in a file of their own.

In a file of their own they have no prefix, as in all versions before this one.
"""

from __future__ import annotations

from fxtrio.db import Database
from fxtrio.db.engine import Lock
from fxtrio.plugins.auth.errors import AuthDatabaseUnusable

VERSION = 2
"""Of the tables. A database that says more was written by a newer version of fxtrio."""

MOVED = 3
"""The version of a file whose accounts have gone into the app's database."""

PREFIX = "fx_auth_"

# Times are seconds since 1970.
_SCHEMA = """
create table if not exists fx_auth_users (
  id text not null primary key, email text not null unique,
  password_hash text not null, created_at {real} not null){rest};
create table if not exists fx_auth_sessions (
  key {blob} not null primary key,
  user_id text not null references fx_auth_users (id) on delete cascade,
  created_at {real} not null, expires_at {real} not null, ends_at {real} not null,
  persistent integer not null){rest};
create index if not exists fx_auth_sessions_of_user on fx_auth_sessions (user_id, created_at);
create index if not exists fx_auth_sessions_by_end on fx_auth_sessions (expires_at);
create table if not exists fx_auth_marks (
  key text not null primary key, empty_at {real} not null){rest};
create index if not exists fx_auth_marks_by_end on fx_auth_marks (empty_at);
create table if not exists fx_auth_pending (
  key {blob} not null primary key, email text not null, password_hash text not null,
  expires_at {real} not null){rest};
create index if not exists fx_auth_pending_by_end on fx_auth_pending (expires_at);
create index if not exists fx_auth_pending_by_email on fx_auth_pending (email);
create table if not exists fx_auth (version integer not null, changes bigint not null);
"""


def named(sql: str, prefix: str) -> str:
    """Return a statement, written with `PREFIX`, for tables whose names begin otherwise."""
    return sql if prefix == PREFIX else sql.replace(PREFIX, prefix)


async def make_tables(database: Database, prefix: str, place: str) -> bool:
    """Make the tables where there are none, in the transaction around; tell whether it did.

    One process at a time gets through. Raises AuthDatabaseUnusable, which names ``place``,
    for tables of a newer version.
    """
    sql = database.sql
    if sql.locks is not None:  # two processes that create a table would collide
        await database.execute(sql.locks.wait.format(number=Lock.AUTH_TABLES))
    if not prefix:
        await _check_file(database, place)
    schema = _SCHEMA.format(real=sql.real, blob=sql.blob, rest=sql.keyed_table)
    await database.run_script(named(schema, prefix))
    created = await database.execute(
        "insert into fx_auth (version, changes) select $1, 0"
        " where not exists (select 1 from fx_auth)",
        VERSION,
    )
    if await database.value("select version from fx_auth") > VERSION:
        raise AuthDatabaseUnusable(place, "it was written by a newer version of fxtrio")
    return created == 1


async def _check_file(database: Database, place: str) -> None:
    """See that a file has a version that is known, and give it one if it is new."""
    version = await database.value("pragma user_version")
    if version == MOVED:
        raise AuthDatabaseUnusable(place, "its accounts are in the database of 'database.url' now")
    if version > VERSION:
        raise AuthDatabaseUnusable(place, "it was written by a newer version of fxtrio")
    if version < VERSION:
        await database.run_script(f"pragma user_version = {VERSION}")
