"""What can be wrong with a Markdown file."""

from __future__ import annotations

import attrs


@attrs.frozen(order=True)
class Mistake:
    """One mistake, by its line in the file."""

    line: int
    """1-based."""

    message: str
    """The cause, without a full stop."""

    remedy: str
    """What to do about it, without a full stop."""
