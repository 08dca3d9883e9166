"""The last requests as HTML: each with its parts as bars beside each other. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

_WIDTH = 100.0  # of the bars, in the units of their SVG
_NO_PARTS = "<p><small>No hook, loader, action or query ran for it.</small></p>"


def requests_html(timings: Sequence[dict[str, Any]]) -> str:
    """Return requests with the keys of `Timing.as_dict`, the newest first."""
    content = "".join(map(_request, timings))
    return content or '<p class="empty">No request yet. Open a page of the app.</p>'


def _request(timing: dict[str, Any]) -> str:
    ends = [part["start"] + (part["ms"] or 0) for part in timing["parts"]]
    whole = max([timing["ms"] or 0.0, *ends, 0.01])
    rows = "".join(_part(part, whole) for part in timing["parts"])
    head = f'<span class="took">{_time(timing["ms"])}</span>{_name(timing)} {_status(timing)}'
    notes = "".join(_repeated(query) for query in timing["repeated"])
    if timing["omitted"]:
        notes += f"<p>{timing['omitted']} more parts are not shown.</p>"
    table = f'<table class="parts">{rows}</table>' if rows else _NO_PARTS
    # Within the details, since browsers open them around the target of a link.
    inner = f'<div id="r{escape(timing["request"])}">{notes}{table}</div>'
    name = escape(f"{timing['kind']}-{timing['request']}")
    return f'<details id="{name}" class="request"><summary>{head}</summary>{inner}</details>'


def _name(timing: dict[str, Any]) -> str:
    name = escape(timing["name"])
    if timing["kind"] != "request":
        return f"{timing['kind']} {name}"
    return name if " " in name else f"{name} <small>no route</small>"


def _status(timing: dict[str, Any]) -> str:
    status = timing["status"] or ""
    return f"<b{' class=failed' if str(status).startswith('5') else ''}>{status}</b>"


def _part(part: dict[str, Any], whole: float) -> str:
    start = _WIDTH * part["start"] / whole
    width = max(_WIDTH * (part["ms"] or 0) / whole, 0.5)
    said = escape(part["name"])
    if part["rows"] is not None:
        said += f" <i>{part['rows']} {'row' if part['rows'] == 1 else 'rows'}</i>"
    if part["error"]:
        said += f" <b>{escape(part['error'])}</b>"
    bar = (
        f'<svg viewBox="0 0 {_WIDTH:g} 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{part["kind"]}" x="{start:.2f}" width="{width:.2f}" height="1"/></svg>'
    )
    return (
        f"<tr><th scope=row>{part['kind']}</th><td>{said}<br><small>{escape(part['place'])}</small>"
        f"</td><td>{bar}</td><td>{_time(part['ms'])}</td></tr>"
    )


def _repeated(query: dict[str, Any]) -> str:
    return (
        f"<p role=note>{query['count']} times the same query: "
        f"<code>{escape(query['sql'])}</code> at {escape(query['place'])}. Ask once for all rows."
        "</p>"
    )


def _time(ms: float | None) -> str:
    return "under way" if ms is None else f"{ms:.1f} ms"
