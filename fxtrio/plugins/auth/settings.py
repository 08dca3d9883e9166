"""The settings of the auth plugin: ``plugins.N.settings`` in ``fx.config.json``."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs
from attrs.validators import ge, instance_of, le, matches_re

HOUR = 3600.0
DAY = 24 * HOUR


def _seconds(_: Any, __: attrs.Attribute[Any], value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"must be more than 0 seconds, not {value!r}")


def _none_or_positive(_: Any, __: attrs.Attribute[Any], value: int | None) -> None:
    if value is not None and value < 1:
        raise ValueError(f"must be at least 1 or null, not {value!r}")


def _local_path(_: Any, __: attrs.Attribute[Any], value: str) -> None:
    if not value.startswith("/") or value.startswith("//"):
        raise ValueError(f"must be a path of this app such as '/login', not {value!r}")


def _local_paths(_: Any, attribute: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    for path in value:
        _local_path(_, attribute, path)


@attrs.frozen(kw_only=True)
class Argon2Settings:
    """The cost of one password hash. The default is the second choice of RFC 9106."""

    time_cost: int = attrs.field(default=3, validator=ge(1))
    """Passes over the memory (count)."""

    memory_kib: int = attrs.field(default=64 * 1024, validator=ge(8))
    """Memory of one hash (KiB)."""

    parallelism: int = attrs.field(default=4, validator=[ge(1), le(64)])
    """Lanes (count)."""


@attrs.frozen(kw_only=True)
class AuthSettings:
    """Everything about the auth plugin that can be set."""

    database: str = attrs.field(default="", validator=instance_of(str))
    """A SQLite file for accounts alone, relative to the project folder. By default they are in
    the app's database, or in ``data/auth.sqlite3`` if it has none."""

    cookie_name: str = attrs.field(default="sid", validator=matches_re(r"[A-Za-z0-9_-]+"))
    """Name of the session cookie; prefixed by ``__Host-`` over HTTPS."""

    secure: Literal["auto", "always"] = "auto"
    """``always`` for an app behind a proxy that ends TLS without saying so."""

    idle_timeout: float = attrs.field(default=7 * DAY, validator=_seconds)
    """A session ends after this time without a request (seconds)."""

    absolute_timeout: float = attrs.field(default=30 * DAY, validator=_seconds)
    """A session ends at this age, however busy it is (seconds)."""

    max_sessions: int = attrs.field(default=20, validator=ge(1))
    """Sessions of one user; signing in once more ends the oldest (count)."""

    registration: bool = True
    """Whether registration is open."""

    on_register: str = ""
    """An async function of the app, as ``module:function``, called with each new user."""

    verify_email: bool = False
    """Whether an account is created only after its address was confirmed by mail."""

    send_email: str = ""
    """The function that sends a mail, as ``module:function``; needed for ``verify_email``."""

    site_url: str = ""
    """Where visitors find the app, such as ``https://example.org``; links in mails begin so."""

    verify_path: str = attrs.field(default="/verify", validator=_local_path)
    """The page that the link in the mail leads to, with ``?token=``, without the base URL."""

    verify_timeout: float = attrs.field(default=DAY, validator=_seconds)
    """How long such a link is valid (seconds)."""

    password_min_length: int = attrs.field(default=8, validator=ge(8))
    """Shortest password (characters)."""

    password_max_length: int = attrs.field(default=128, validator=[ge(64), le(1024)])
    """Longest password (characters)."""

    login_attempts: int = attrs.field(default=5, validator=ge(1))
    """Failed logins in a row for one address before each next one must wait (count)."""

    login_pause: float = attrs.field(default=300.0, validator=_seconds)
    """The wait for each attempt after those (seconds)."""

    client_attempts: int | None = attrs.field(default=100, validator=_none_or_positive)
    """Failed logins of one client in an hour, whatever the address (count); null for no
    limit, as behind a proxy that hides its clients."""

    login_path: str = attrs.field(default="/login", validator=_local_path)
    """The page to sign in, without the base URL."""

    register_path: str = attrs.field(default="/register", validator=_local_path)
    """The page to register, without the base URL."""

    home_path: str = attrs.field(default="/", validator=_local_path)
    """Where forms lead after signing in or out, without the base URL."""

    public_paths: tuple[str, ...] = attrs.field(default=(), validator=_local_paths)
    """Patterns of routes that `require_user` lets everybody see, with the pages below them."""

    hashing_threads: int = attrs.field(default=2, validator=ge(1))
    """Password hashes computed at the same time (count)."""

    hashing_queue: int = attrs.field(default=32, validator=ge(1))
    """Password hashes that may wait; further ones get 503 (count)."""

    argon2: Argon2Settings = attrs.field(factory=Argon2Settings)
    """The cost of one hash. Old hashes are renewed when their owners sign in."""
