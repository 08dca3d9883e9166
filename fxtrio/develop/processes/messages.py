"""What `fx dev` and the process that serves for it tell each other."""

from __future__ import annotations

import json

import attrs

VARIABLE = "FX_DEVELOP_CHILD"
BEGIN = b"begin\n"
"""What the child waits for before it runs anything of the project."""

SERVE = b"serve\n"
"""What it waits for when it has imported the app: before it opens anything, and serves."""

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
    """The host name of requests, besides those of the settings."""

    vite: str
    """Folder of the sockets on which the Node process listens."""

    socket: int
    """File descriptor of the listening socket."""

    replies: int
    """File descriptor of a pipe that the parent reads: a line once the app is imported, one once
    the child serves, then two `Swapped` for each `Swap`, which come by standard input: it has
    begun, and what came of it."""

    def to_json(self) -> str:
        """Return text that `from_json` reads."""
        return json.dumps(attrs.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ChildSettings:
        """Return the settings that `to_json` wrote."""
        return cls(**json.loads(text))


@attrs.frozen(kw_only=True)
class Swap:
    """Python code that has changed, and is to take the place of what runs."""

    files: tuple[str, ...] = ()
    """Absolute paths of Python modules."""

    sources: tuple[str, ...] = ()
    """Page files whose server half has changed; the build folder has the compiled ones."""

    restart: str = ""
    """Why no code can be replaced, and a new process is needed in any case; "" mostly."""

    at_once: bool = False
    """Whether nothing else has changed that browsers show: they need not wait for Node then."""


@attrs.frozen(kw_only=True)
class Swapped:
    """What came of a `Swap`. At most one of ``restart`` and ``failed`` is not empty."""

    begun: bool = False
    """Whether this only says that the order has come, and the code runs now."""

    sources: tuple[str, ...] = ()
    """Page files and endpoints whose code is new, or would be had nothing failed or with
    ``restart``: those of the order, and what uses them."""

    modules: int = 0
    """How many modules have been run."""

    restart: str = ""
    """Why the process must be restarted instead."""

    failed: str = ""
    """The traceback of what went wrong; the code from before is still in use."""

    error: str = ""
    """Its class and message."""
