"""What the suite knows of one framework in one setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from benchmarks.works import Call


@attrs.frozen(kw_only=True)
class Command:
    """A program to run in the foreground."""

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str] = attrs.field(factory=dict)
    """Added to the environment of the suite."""


def _nothing() -> None:
    return None


def _no_headers(base: str) -> Mapping[str, str]:
    return {}


@attrs.frozen(kw_only=True)
class Contender:
    """A framework in one setting, with one server process and at most one SSR worker."""

    name: str
    family: str
    """What the settings of one framework have in common."""

    note: str
    """One line about the setting."""

    version: Callable[[], str]
    install: Callable[[], None] = _nothing
    """Bring everything that can be brought once into the cache folder; same for a family."""

    build: Command | None = None
    """What compiles the app for production."""

    serve: Callable[[int], Command]
    """The server that listens on a port of 127.0.0.1."""

    calls: Mapping[str, Call]
    """How to ask for each work; a work without a call is not offered."""

    prove: Callable[[str], Mapping[str, str]] = _no_headers
    """Headers that a request which changes something needs, given the server's base URL."""
