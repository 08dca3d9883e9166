"""HTML of Studio's pages. Pure; every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from fxtrio.plugins.admin_page import STYLE as COMMON
from fxtrio.plugins.admin_page import admin_document

_FOLDER = Path(__file__).parent
STYLE = COMMON + (_FOLDER / "studio.css").read_text(encoding="utf-8")
SCRIPT = (_FOLDER / "page.js").read_bytes()
_LONGEST = 300  # characters of a cell


def page(
    name: str, content: str, *, titles: Mapping[str, str], path: str, home: str, app: str
) -> str:
    """Return the page ``name``, one of ``titles``, whose links are below ``path``."""
    links = " ".join(
        f'<a href="{escape(path)}/{one}"{_current(one == name)}>{title}</a>'
        for one, title in titles.items()
    )
    return admin_document(
        titles[name],
        content,
        path=path,
        home=home,
        note=f"<p>{escape(app)}</p>",
        navigation=f'<nav aria-label="Studio">{links}</nav>\n',
        title=f"{titles[name]} - Studio",
        style=STYLE,
        attributes=f' data-events="{escape(path)}/events"',
    )


def _current(is_current: bool) -> str:
    return ' aria-current="page"' if is_current else ""


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a section with a table of texts; it says so if there are no rows."""
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-head="{escape(head)}">{_cell(value)}</td>'
            for head, value in zip(heads, row, strict=True)
        )
        + "</tr>\n"
        for row in rows
    )
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    content = '<p class="empty">None.</p>'
    if body:
        whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        label = f'role="region" aria-label="{escape(title)}" tabindex="0"'
        content = f'<div class="table" {label}>{whole}</div>'
    return f"<section><h2>{escape(title)}</h2>{content}</section>\n"


def counts(title: str, values: Iterable[tuple[str, object]]) -> str:
    """Return a section with names and their values, such as numbers, as tiles."""
    tiles = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{_cell(value)}</dd></div>" for name, value in values
    )
    content = f'<dl class="tiles">{tiles}</dl>' if tiles else '<p class="empty">None.</p>'
    return f"<section><h2>{escape(title)}</h2>{content}</section>\n"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return escape(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def text(content: str) -> str:
    """Return a text with its spaces, which may be wider than the page."""
    return f"<pre tabindex=0>{escape(content)}</pre>"


def note(content: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(content)}</p>\n"


def link(url: str, content: str) -> str:
    """Return a paragraph that is a link."""
    return f'<p><a href="{escape(url)}">{escape(content)}</a></p>\n'


def ask(name: str, label: str, value: str, button: str, *, long: bool = False) -> str:
    """Return a form with one field, which is sent by GET."""
    field = (
        f'<textarea id="{name}" name="{name}" rows="4">{escape(value)}</textarea>'
        if long
        else f'<input id="{name}" name="{name}" value="{escape(value)}">'
    )
    return (
        f'<form class="ask"><label for="{name}">{escape(label)}</label>{field}'
        f"<button>{escape(button)}</button></form>\n"
    )
