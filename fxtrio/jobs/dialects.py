"""The parts of the SQL of durable jobs that differ between SQLite and PostgreSQL.

Statements are composed in `store`, `lanes` and `schema`, which know no dialect: a new database
needs a `JobSql` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from fxtrio.db import Database


@attrs.frozen(kw_only=True, eq=False)
class JobSql:
    """Parts of statements. Those with names in braces are templates of `str.format`."""

    types: Mapping[str, str]
    """The column types of the tables: ``serial`` and ``real``."""

    now: str | None
    """The query for the time; None: the clock of the machine, which a file's database has."""

    skip_locked: str
    """Behind a query: rows that others have locked are passed over."""

    in_list: str
    """Whether a value is in the list that is the argument ``{number}``."""

    in_query: str
    """Whether a value is a result of ``{query}``."""

    pairs: str
    """The rows of two lists of the same length, texts and times, the arguments 1 and 2."""

    following_head: str
    """Joins ``one``, the job with the id ``{id}``, to each row of ``heads``."""

    lane_columns: str
    """The columns that ``of_lane`` selects."""

    of_lane: str
    """Joins ``job``, the results of ``{query}``, to each row of ``heads``."""

    has_index: str
    """Whether the index ``{index}`` exists."""

    columns: str
    """The query for the names of the columns of `fx_jobs`."""


_SQLITE = JobSql(
    types={"serial": "integer primary key autoincrement", "real": "real"},
    now=None,
    skip_locked="",
    in_list="in (select value from json_each(${number}))",
    in_query="in ({query})",
    pairs=(
        "select names.value, ticks.value from json_each($1) as names"
        " join json_each($2) as ticks on ticks.key = names.key where true"
    ),
    following_head="join fx_jobs as one on one.id = {id}",
    lane_columns="one.id",
    of_lane="join fx_jobs as job on job.id in ({query})",
    has_index="select count(*) from sqlite_master where name = '{index}'",
    columns="select name from pragma_table_info('fx_jobs')",
)

_POSTGRESQL = JobSql(
    types={
        "serial": "bigint generated always as identity primary key",
        "real": "double precision",
    },
    now="select extract(epoch from clock_timestamp())::float8",
    skip_locked=" for update skip locked",
    in_list="= any(${number})",
    # An array, whose rows PostgreSQL finds by the index, however many there may be.
    in_query="= any(array({query}))",
    pairs="select * from unnest($1::text[], $2::float8[]) as pairs(name, tick)",
    # For a plain join with few rows it would read the whole table.
    following_head=(
        "cross join lateral (select * from fx_jobs where fx_jobs.id = {id} limit 1) as one"
    ),
    lane_columns="one.id, one.priority, one.due",
    of_lane="cross join lateral ({query} for update skip locked) as job",
    has_index="select to_regclass('{index}') is not null",
    columns="select attname as name from pg_attribute where attrelid = 'fx_jobs'::regclass",
)

_BY_DIALECT = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}


def job_sql(database: Database) -> JobSql:
    """Return the parts for the engine of a database."""
    return _BY_DIALECT[database.dialect]
