"""The options of `fx serve`, as one value that is also passed to worker processes.

`to_json` and `from_json` transfer it: a worker is started as
``python -m fxtrio.server.supervise.worker`` and reads its options from the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import force_setattr

from fxtrio.config.model import HIDDEN_PARAMETERS
from fxtrio.server.http1.limits import ServerLimits


def _names(value: Iterable[str] | str) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to serve one ASGI application. Times are in seconds."""

    app: str
    """``module:name`` of an ASGI 3 application, or with ``factory`` of its factory."""

    factory: bool = False
    """Whether ``app`` names a callable without parameters that returns the application."""

    app_dir: str = "."
    """The folder that modules are imported from first."""

    explain: str = ""
    """``module:name`` of a function that returns what to print in place of an error that importing
    the application has raised, None for a defect. "" prints the lines of the application."""

    bind: tuple[str, ...] = ("127.0.0.1:8000",)
    """``host:port``, ``unix:path``, ``fd://number`` or ``systemd``; TLS with ``certfile``."""

    workers: int = 1
    """Worker processes. With 1 this process serves itself, unless an option needs a supervisor."""

    watched: bool = False
    """Whether one worker is a process of its own, too, which is watched over and replaced."""

    certfile: str | None = None
    """PEM file with the certificate chain; turns TLS and with it HTTP/2 on."""

    keyfile: str | None = None
    """PEM file with the certificate's key."""

    keyfile_password: str | None = None
    """Decrypts ``keyfile``."""

    ca_certs: str | None = None
    """PEM file with authorities; clients need a certificate from one of them."""

    h2c: bool = False
    """Whether clients without TLS may speak HTTP/2 at once (prior knowledge, RFC 9113, 3.3)."""

    root_path: str = ""
    """ASGI ``root_path``: the path below which a proxy serves the app."""

    root_path_stripped: bool = False
    """Whether that proxy takes ``root_path`` off, so that no path has it."""

    server_names: tuple[str, ...] = ()
    """Allowed hosts; others get 404. Empty: all."""

    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose ``X-Forwarded-For`` and ``-Proto`` are trusted; ``unix``
    means unix sockets, ``*`` all peers. Empty: none."""

    access_log: Literal["console", "json"] | None = None
    """One line per request on standard output, in this format. None: no access log.

    With ``json`` the log on standard error is written in that format, too.
    """

    hidden_parameters: tuple[str, ...] = HIDDEN_PARAMETERS
    """Parameters of queries whose values the access log hides."""

    log_level: str = "INFO"
    """Of the log on standard error."""

    statsd_host: str | None = None
    """``host:port`` that gets Hypercorn's metrics by UDP."""

    statsd_prefix: str = ""
    """Prefix of the metrics' names."""

    backlog: int = 2048
    """Connections that wait in the kernel to be accepted."""

    startup: float = 60.0
    """Longest start of the application's lifespan."""

    graceful: float = 20.0
    """How long requests in flight and open WebSockets may take to end at shutdown."""

    shutdown: float = 30.0
    """Longest shutdown in all, ``graceful`` included. Afterwards the process ends regardless."""

    hang: float = 60.0
    """How long the event loop of a supervised worker may hang; then the worker is replaced."""

    max_requests: int | None = None
    """Requests after which a worker is replaced by a new process. None: never."""

    max_requests_jitter: int = 0
    """A supervisor adds at most this many at random: workers are not replaced together."""

    user: int | None = None
    """User id that owns a unix socket."""

    group: int | None = None
    """Group id that owns a unix socket."""

    umask: int | None = None
    """Permissions taken from a unix socket, which everybody may use without it (0666)."""

    limits: ServerLimits = ServerLimits()
    """The limits of one client in a worker."""

    def __post_init__(self) -> None:
        """Take lists, and one name alone, for tuples of names."""
        for name in ("bind", "server_names", "trusted_proxies"):
            force_setattr(self, name, _names(getattr(self, name)))

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return all but the password."""
        visible = (name for name in self.__struct_fields__ if name != "keyfile_password")
        return [(name, getattr(self, name)) for name in visible]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({values})"

    @property
    def log_format(self) -> Literal["console", "json"]:
        """The format of the log on standard error."""
        return "json" if self.access_log == "json" else "console"

    @property
    def supervised(self) -> bool:
        """Whether processes are started and watched over, rather than serving in this one."""
        return self.watched or self.workers > 1 or self.max_requests is not None

    def to_json(self) -> str:
        """Return text that `from_json` reads."""
        return json.dumps(msgspec.to_builtins(self))  # which, unlike msgspec, writes infinity

    @classmethod
    def from_json(cls, text: str) -> ServeOptions:
        """Return the options that `to_json` wrote."""
        return msgspec.convert(json.loads(text), type=cls)


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
