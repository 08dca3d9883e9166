"""What `fx dev` tells the process that serves for it."""

from __future__ import annotations

import attrs
import cattrs
import msgspec

VARIABLE = "FX_DEVELOP_CHILD"
GRACE = 2.0
"""How long requests may go on when the app is about to be replaced (seconds)."""


@attrs.frozen(kw_only=True)
class ChildSettings:
    """What the child must know."""

    root: str
    """The project folder."""

    app: str
    """``module:name`` of the ASGI app; empty for a project without an app file."""

    host: str
    """The name that the app is asked for by, besides those of the settings."""

    version: str
    """Differs from one start to the next."""

    socket: int
    """File descriptor of the listening socket."""

    ready: int
    """File descriptor of a pipe that the parent reads."""

    def to_json(self) -> str:
        """Return text that `from_json` reads."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> ChildSettings:
        """Return the settings that `to_json` wrote."""
        return cattrs.structure(msgspec.json.decode(text), cls)
