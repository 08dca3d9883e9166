"""What a formatter says when it does not format a text."""

from __future__ import annotations

import attrs


@attrs.frozen
class Unformatted:
    """The text has a mistake, so it cannot be formatted."""

    line: int
    """1-based."""

    column: int
    """1-based, in characters."""

    message: str
    """The error, without a full stop."""
