"""SQL that finds due jobs in a time that is independent of the backlog of other jobs.

A lane is the waiting jobs of one queue, name and priority; the index `fx_jobs_lanes` has its jobs
in the order in which they are due. The first job of each lane is found from that of the previous
lane by index lookups, so a million jobs of a lane cost as much as one. Each lane of the process
yields as many jobs as requested, and the first of all these are claimed. What differs between
databases comes from `dialects`.
"""

from __future__ import annotations

from fxtrio.jobs.dialects import JobSql

SUSPECT = 2
"""A job whose process died so often runs beside no other such one, so that the culprit's
company does not fail with it (count)."""

_WAITS = "state = 'waiting' and later.crashes < 2"
_SAME_QUEUE = " and later.queue = head.queue"
_SAME_NAME = f"{_SAME_QUEUE} and later.name = head.name"


def _first(where: str, order: str) -> str:
    """Return the query for the first waiting job with another value of ``order``."""
    return (
        f"(select later.id from fx_jobs as later where later.{_WAITS}{where}"
        f" order by {order}, due, id limit 1)"
    )


_NEXT = f"""coalesce(
  {_first(f"{_SAME_NAME} and later.priority > head.priority", "priority")},
  {_first(f"{_SAME_QUEUE} and later.name > head.name", "name, priority")},
  {_first(" and later.queue > head.queue", "queue, name, priority")})"""


def _heads(sql: JobSql) -> str:
    """Return the recursive table of the first job of each lane."""
    head = "select one.id, one.queue, one.name, one.priority, one.due from"
    following = f"{head} heads as head {sql.following_head.format(id=_NEXT)}"
    return (
        f"heads (id, queue, name, priority, due) as ({head} fx_jobs as one"
        f" where one.id = {_first('', 'queue, name, priority')} union all {following})"
    )


def _wanted(sql: JobSql, table: str, names: int, queues: int | None) -> str:
    """Return the condition for a process's jobs. The parameters are numbers of arguments."""
    chosen = f" and {table}.queue {sql.in_list.format(number=queues)}" if queues else ""
    return (
        f"{table}.name {sql.in_list.format(number=names)}{chosen}"
        f" and {table}.queue not in (select queue from fx_paused)"
    )


def find_due(sql: JobSql, *, queues: bool) -> str:
    """Return the query for the jobs to claim; see `claim` for its arguments."""
    wanted = _wanted(sql, "head", 3, 5 if queues else None)
    of_lane = (
        f"select {sql.lane_columns} from fx_jobs as one"
        " where one.state = 'waiting' and one.crashes < 2"
        " and one.queue = head.queue and one.name = head.name and one.priority = head.priority"
        " and one.due <= $2 order by one.due, one.id limit $4"
    )
    return (
        f"with recursive {_heads(sql)} select job.id from heads as head"
        f" {sql.of_lane.format(query=of_lane)} where head.due <= $2 and {wanted}"
        " order by job.priority desc, job.due, job.id limit $4"
    )


def find_suspects(sql: JobSql, *, queues: bool) -> str:
    """Return the query for those that may have killed processes, with the same arguments."""
    return (
        f"select id from fx_jobs where state = 'waiting' and crashes >= {SUSPECT} and due <= $2"
        f" and {_wanted(sql, 'fx_jobs', 3, 5 if queues else None)}"
        f" order by due, id limit $4{sql.skip_locked}"
    )


def claim(sql: JobSql, *, queues: bool, suspects: bool) -> str:
    """Return the statement that claims jobs.

    Its arguments are the worker, the time, names, the most and, with ``queues``, those.
    """
    found = (find_suspects if suspects else find_due)(sql, queues=queues)
    return (
        "update fx_jobs set state = 'running', worker = $1, attempts = attempts + 1"
        f" where id {sql.in_query.format(query=found)}"
        " returning id, name, args, attempts, request_id, worker, due, crashes, priority, misfits,"
        " traceparent, requester"
    )


def next_due(sql: JobSql, *, queues: bool) -> str:
    """Return the query for when jobs are due, the arguments names and queues.

    Its columns are ``next`` and ``suspect``.
    """
    second = 2 if queues else None
    return (
        f"with recursive {_heads(sql)} select (select min(head.due) from heads as head"
        f" where {_wanted(sql, 'head', 1, second)}) as next,"
        " (select min(due) from fx_jobs where state = 'waiting'"
        f" and crashes >= {SUSPECT} and {_wanted(sql, 'fx_jobs', 1, second)}) as suspect"
    )
