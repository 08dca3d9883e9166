"""Why the bundler gave no bundle."""

from __future__ import annotations

from textwrap import indent

import attrs

from fxtrio.errors import PlacedError, SeveralProblems


@attrs.frozen(order=True)
class BundleProblem:
    """One mistake the bundler found; `BundleFailed` carries all of them."""

    path: str
    """As `display_path` names it; "" when it belongs to no file."""

    line: int
    """1-based; 0 when the place within the file is not known."""

    column: int
    """1-based, in characters; 0 like ``line``."""

    message: str
    """The cause, and the remedy."""

    frame: str = attrs.field(default="", order=False)
    """The lines around the place, with a mark; "" when there are none."""

    def __str__(self) -> str:
        """Return ``path:line:column: message``, without the parts that are unknown."""
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        head = f"{place}: {self.message}" if place else self.message
        return f"{head}\n{indent(self.frame, '  ')}" if self.frame else head


class BundleFailed(SeveralProblems[BundleProblem]):
    """The user interface cannot be bundled. Raised with every problem found."""


class BundlerCrashed(PlacedError):
    """The bundler ended without reporting a problem of the project: a defect."""

    remedy = "Report this with the lines below"

    def __init__(self, code: int, output: str) -> None:
        super().__init__("the bundler", f"ended with code {code} without a result", output=output)
        self.code = code
        self.output = output
