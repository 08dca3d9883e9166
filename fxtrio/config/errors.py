"""Errors in settings."""

from __future__ import annotations

import msgspec

from fxtrio.errors import SeveralProblems


class ConfigProblem(msgspec.Struct, frozen=True):
    """One mistake in the settings; `ConfigInvalid` carries all of them."""

    place: str
    """The file, the variable, or "keyword argument"."""

    key: str
    """The path of the setting, for example ``ssr.workers``; empty when ``place`` says it all."""

    cause: str

    line: int = 0
    """In the file, 1-based; 0 when there is none."""

    column: int = 0
    """1-based, in characters; 0 like ``line``."""

    def __str__(self) -> str:
        """Return ``place:line:column: key cause.``"""
        place = f"{self.place}:{self.line}:{self.column}" if self.line else self.place
        where = f"{place}: {self.key}" if self.key else f"{place}:"
        end = "" if self.cause.endswith((".", "?")) else "."
        return f"{where} {self.cause}{end}"


class ConfigInvalid(SeveralProblems[ConfigProblem]):
    """The settings of an app cannot be used. Raised with every problem found."""
