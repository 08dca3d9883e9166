"""Saves that every project can have whose page names its parts alike, by id."""

from __future__ import annotations

from benchmarks.dev.model import Edit, Project

OVERLAY = "document.querySelector('fx-overlay')"


def text(file: str) -> Edit:
    """Text of a component."""
    return _numbered(file, "text", "text {n}<")


def code(file: str) -> Edit:
    """Code of a component: a constant that it shows."""
    return _numbered(file, "code", "CODE = {n};")


def component(file: str) -> Edit:
    """Text of a component that the page imports from another file."""
    return _numbered(file, "badge", "badge {n}<")


def data(file: str, quote: str = '"') -> Edit:
    """A constant that the loader returns."""
    return _numbered(file, "data", f"{quote}data {{n}}{quote}")


def _numbered(file: str, name: str, pattern: str) -> Edit:
    """Count up the number in ``pattern``, which the element ``name`` shows behind its name."""

    def save(project: Project, n: int) -> None:
        old, new = (pattern.replace("{n}", str(number)) for number in (n - 1, n))
        project.edit(file, old, new)

    return Edit(
        save=save,
        check=lambda n: f"document.getElementById('{name}')?.textContent === '{name} {n}'",
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
