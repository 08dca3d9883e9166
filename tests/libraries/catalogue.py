"""The libraries that are tried: what `libraries.toml` says, and its tables."""

from __future__ import annotations

import tomllib
from pathlib import Path

import attrs

HERE = Path(__file__).parent
SITE = HERE / "site"


@attrs.frozen
class Library:
    """One row of a table, and one page of the site."""

    name: str
    """Also the name of its page file."""

    packages: tuple[str, ...] = attrs.field(converter=tuple)
    """As npm or pip installs them."""

    how: str
    """How pages use it, in Markdown."""

    shows: str = "word"
    """What the HTML of the server has."""

    note: str = ""
    """What does not work, in Markdown; "" when all does."""

    silent: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """Parts of what the browser's console may say of it; the note says why."""


def npm_libraries() -> list[Library]:
    """Return the libraries of UI code, in the order of the table."""
    return _read("npm")


def python_libraries() -> list[Library]:
    """Return the libraries of Python code, in the order of the table."""
    return _read("python")


def table(libraries: list[Library]) -> str:
    """Return the table of the documentation."""
    rows = ["| Packages | How they are used | What does not work |", "|---|---|---|"]
    for one in libraries:
        packages = ", ".join(f"`{_with_version(package)}`" for package in one.packages)
        rows.append(f"| {packages} | {one.how} | {one.note} |")
    return "\n".join(rows)


def _with_version(package: str) -> str:
    name, at, version = package.rpartition("@")
    return f"{name} {version}" if at and name else package


def _read(kind: str) -> list[Library]:
    listed = tomllib.loads((HERE / "libraries.toml").read_text("utf-8"))[kind]
    return [Library(**one) for one in listed]
