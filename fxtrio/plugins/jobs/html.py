"""HTML of an overview. Pure; everything that comes from the database is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from fxtrio.jobs.admin import STATES
from fxtrio.plugins.admin_page import admin_document
from fxtrio.plugins.jobs.overview import Overview

_LONGEST = 200  # characters of arguments and of the line of an error

_ACTIONS = '<span class="hidden">Actions</span>'
"""The head of the column of buttons, for screen readers."""


def render(overview: Overview, path: str, proof: str, home: str) -> str:
    """Return the page, whose forms and script are below ``path``.

    ``proof`` is the HTML of a field for each form, ``home`` the URL of the app's start page.
    """
    sections = (
        _tiles(overview),
        _queues(overview),
        _section(
            "Failed",
            _failures(overview, path, proof),
            "No job has failed.",
            _retry_all(overview, path, proof),
        ),
        _section("Running and waiting", _jobs(overview, path, proof), "No job is waiting."),
        _schedules(overview),
        _workers(overview),
    )
    taken = datetime.fromtimestamp(overview.now, UTC)
    return admin_document(
        "Jobs",
        "".join(sections),
        path=path,
        home=home,
        note=f'<p id="taken">as of {taken:%H:%M:%S} UTC</p>',
        head='<noscript><meta http-equiv="refresh" content="5"></noscript>\n',
    )


def summary(overview: Overview) -> str:
    """Return the sections that hold no values of the application, for Studio."""
    parts = (_tiles(overview), _queues(overview), _schedules(overview), _workers(overview))
    return "".join(parts)


def _tiles(overview: Overview) -> str:
    """Return what one looks for first: how much there is, and for how long the next one waits."""
    totals = {state: overview.total(state) for state in STATES}
    due = min((group.due for group in overview.groups if group.due is not None), default=None)
    tiles = {state.capitalize(): _count(totals[state], state) for state in STATES}
    tiles["Next"] = _moment(due, overview.now)
    content = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles.items()
    )
    return f'<dl class="tiles">{content}</dl>\n'


def _queues(overview: Overview) -> str:
    rows = (
        (
            escape(group.queue) + (" (paused)" if group.queue in overview.paused else ""),
            f"<code>{escape(group.name)}</code>",
            *(_count(group.counts.get(state, 0), state) for state in STATES),
            _moment(group.due, overview.now),
        )
        for group in overview.groups
    )
    table = _table(("Queue", "Job", *(state.capitalize() for state in STATES), "Next"), rows)
    return _section("Queues", table, "No job has been enqueued yet.")


def _failures(overview: Overview, path: str, proof: str) -> str:
    rows = (
        (
            str(row["id"]),
            _called(row),
            _error(row),
            f"{row['attempts']} / {row['crashes']}",
            _moment(row["ended"], overview.now),
            "".join(_button(path, act, row["id"], proof) for act in ("retry", "discard")),
        )
        for row in overview.failures
    )
    return _table(("Job", "Call", "Error", "Attempts / crashes", "Ended", _ACTIONS), rows)


def _retry_all(overview: Overview, path: str, proof: str) -> str:
    """Return the button for all failed jobs, also those that are not listed."""
    failed = overview.total("failed")
    if failed < 2:
        return ""
    return (
        f'<form method="post" action="{escape(path)}/retry">{proof}'
        f'<button name="all" value="failed">Retry all {failed}</button></form>'
    )


def _jobs(overview: Overview, path: str, proof: str) -> str:
    rows = (
        (
            str(row["id"]),
            _called(row),
            escape(row["queue"]),
            f'<span class="{row["state"]}">{row["state"]}</span>',
            str(row["priority"]),
            f"{row['attempts']} / {row['crashes']}",
            _moment(row["due"], overview.now),
            _button(path, "discard", row["id"], proof) if row["state"] == "waiting" else "",
        )
        for row in overview.jobs
    )
    heads = ("Job", "Call", "Queue", "State", "Priority", "Attempts / crashes", "Due", _ACTIONS)
    return _table(heads, rows)


def _schedules(overview: Overview) -> str:
    rows = (
        (
            f"<code>{escape(line.name)}</code>",
            f"<code>{escape(line.times)}</code>",
            escape(line.zone),
            _moment(line.last, overview.now),
            _moment(line.next, overview.now),
        )
        for line in overview.schedules
    )
    table = _table(("Job", "Schedule", "Time zone", "Last", "Next"), rows)
    return _section("Schedules", table, "No job has a schedule.")


def _workers(overview: Overview) -> str:
    rows = []
    for row in overview.workers:
        machine, pid, *_ = row["id"].split("/")
        seen = _moment(row["seen"], overview.now)
        rows.append((escape(machine[:8] or "?"), escape(pid), str(row["running"]), seen))
    table = _table(("Machine", "Process", "Running jobs", "Last seen"), rows)
    return _section("Workers", table, "No process runs jobs.")


def _section(title: str, table: str, otherwise: str, buttons: str = "") -> str:
    content = f'<p class="empty">{otherwise}</p>'
    if table:
        content = (
            f'<div class="table" role="region" aria-label="{title}" tabindex="0">{table}</div>'
        )
    return f"<section><h2>{title}</h2>{buttons}{content}</section>\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or nothing without rows."""
    opening = [
        '<td class="actions">' if head == _ACTIONS else f'<td data-head="{head}">' for head in heads
    ]
    lines = (
        "".join(f"{td}{cell}</td>" for td, cell in zip(opening, row, strict=True)) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    head = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""


def _count(number: int, state: str) -> str:
    return f'<span class="{state}">{number}</span>' if number else "0"


def _called(row: dict[str, Any]) -> str:
    text = _arguments(row["args"])
    shortened = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return f"<code>{escape(row['name'])}</code><small>({escape(shortened)})</small>"


def _arguments(encoded: str) -> str:
    """Return the arguments of a call as Python writes them, from `[[2], {"to": "ada"}]`."""
    values, named = json.loads(encoded)
    content = [repr(value) for value in values]
    return ", ".join([*content, *(f"{name}={value!r}" for name, value in named.items())])


def _error(row: dict[str, Any]) -> str:
    """Return the last line of an error, which opens to all of it."""
    text = (row["error"] or "").strip()
    last = text.rpartition("\n")[2][:_LONGEST]
    return (
        f'<details id="error-{row["id"]}"><summary>{escape(last)}</summary>'
        f"<pre>{escape(text)}</pre></details>"
    )


def _button(path: str, act: str, number: int, proof: str) -> str:
    return (
        f'<form method="post" action="{escape(path)}/{act}">{proof}'
        f'<button name="job" value="{number}" aria-label="{act.capitalize()} job {number}">'
        f"{act.capitalize()}</button></form>"
    )


def _moment(moment: float | None, now: float) -> str:
    """Return how far away a moment is, with the moment itself as the title."""
    if moment is None:
        return "-"
    distance = moment - now
    size, unit = abs(distance), "s"
    for seconds, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if size >= seconds:
            size, unit = size / seconds, name
            break
    text = f"in {size:.0f} {unit}" if distance > 0.5 else f"{size:.0f} {unit} ago"
    at = datetime.fromtimestamp(moment, UTC)
    title = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return f'<time datetime="{at:%Y-%m-%dT%H:%M:%SZ}" title="{title}">{text}</time>'
