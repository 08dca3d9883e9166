"""Saves that every project can have whose page names its parts alike, by id."""

from __future__ import annotations

from benchmarks.dev.model import Edit

OVERLAY = "document.querySelector('fx-overlay')"


def text(file: str) -> Edit:
    """Text of a component."""
    return Edit(
        save=lambda project, n: project.edit(file, f"text {n - 1}<", f"text {n}<"),
        check=lambda n: f"document.getElementById('text')?.textContent === 'text {n}'",
    )


def data(file: str, quote: str = '"') -> Edit:
    """A constant that the loader returns."""
    return Edit(
        save=lambda project, n: project.edit(
            file, f"{quote}data {n - 1}{quote}", f"{quote}data {n}{quote}"
        ),
        check=lambda n: f"document.getElementById('data')?.textContent === 'data {n}'",
    )


def style(file: str) -> Edit:
    """A colour."""
    return Edit(
        save=lambda project, n: project.write(file, f"#text {{ color: rgb({n}, 0, 0) }}\n"),
        check=lambda n: (
            f"getComputedStyle(document.getElementById('text')).color === 'rgb({n}, 0, 0)'"
        ),
    )


def broken(file: str, right: str, wrong: str, overlay: str) -> tuple[Edit, Edit]:
    """A mistake, until it is shown, and its repair, until it is gone.

    ``overlay`` is an expression for the browser: whether a mistake is shown.
    """
    return (
        Edit(save=lambda project, _: project.edit(file, right, wrong), check=lambda _: overlay),
        Edit(
            save=lambda project, _: project.edit(file, wrong, right),
            check=lambda _: f"!({overlay})",
        ),
    )


def new_page(file: str, text_of: str) -> Edit:
    """A page at the URL that another window shows; both have ``{n}`` where the number goes."""
    return Edit(
        save=lambda project, n: project.write(
            file.replace("{n}", str(n)), text_of.replace("{n}", str(n))
        ),
        check=lambda n: f"document.getElementById('fresh')?.textContent === 'fresh {n}'",
        visits=lambda n: f"/fresh{n}",
    )
