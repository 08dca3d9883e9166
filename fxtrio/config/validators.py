"""Converters and validators of settings. A refusal is a ValueError whose text follows "must …".

Called by `fxtrio.config.read`, which wants every mistake and not only the first, and by attrs
for the settings of plugins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, get_args, get_origin
from urllib.parse import urlsplit

from fxtrio.config.brokers import EXAMPLES, broker_kind

_DOTTED = r"[^\W\d]\w*(\.[^\W\d]\w*)*([.:][^\W\d]\w*)"
_LANGUAGE = r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*"
_HOST = r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]"
_URL_PATH = r"(/[A-Za-z0-9._~!$&'()*+,;=:@-]+)+"
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_POLICY = r"[\x21-\x7e][\x20-\x7e]*"


class Described(Protocol):
    """What a validator may know of its setting: a `Setting`, or an attribute of attrs."""

    @property
    def default(self) -> Any:
        """What holds without a value."""


Check = Callable[[Any, Described, Any], None]


def camel(name: str) -> str:
    """Return the JSON key of the attribute ``name``: ``base_url`` → ``baseUrl``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def is_literal(target: Any) -> bool:
    """Whether a type lists its values."""
    return get_origin(target) is Literal


def one_of(value: Any, target: Any) -> Any:
    """Return a value of the `Literal` type ``target``; refuse all others."""
    choices = get_args(target)
    if value not in choices:
        raise ValueError(f"must be {' or '.join(map(repr, choices))}, not {value!r}")
    return value


def require_kind(value: object, accepted: tuple[type, ...], words: str) -> None:
    """Reject other types than ``accepted``; bool is an int in Python, and no number in JSON."""
    wrong_bool = isinstance(value, bool) and bool not in accepted
    if wrong_bool or not isinstance(value, accepted):
        raise ValueError(f"must be {words}, not {value!r}")


def to_base_url(value: str) -> str:
    """Return a path without the slash at its end, so that "/" is the same as "".

    A value without a slash in front is returned as it is: it is rejected as it was written.
    """
    return value.rstrip("/") if isinstance(value, str) and value.startswith("/") else value


def at_least(least: float) -> Check:
    """Refuse values below ``least``."""

    def check(_: Any, __: Described, value: Any) -> None:
        if not value >= least:
            raise ValueError(f"must be at least {least}, not {value!r}")

    return check


def positive_seconds(_: Any, __: Described, value: float) -> None:
    """Refuse a time that is not above zero; infinity turns a deadline off."""
    if not value > 0 or math.isnan(value):
        raise ValueError(f"must be more than 0 seconds, not {value!r}")


def base_url(_: Any, __: Described, value: str) -> None:
    """Reject a value that is neither empty nor an absolute path without dots, query or escapes."""
    plain = re.fullmatch(_URL_PATH, value) and not {".", ".."} & set(value.split("/"))
    if value and not plain:
        raise ValueError(f"must be empty or a path such as '/app', not {value!r}")


def app_path(_: Any, attribute: Described, value: str) -> None:
    """One path of this app: a plugin's, below the base URL."""
    if not value.startswith("/") or value.endswith("/") or "//" in value:
        raise ValueError(f"must be a path of this app such as {attribute.default!r}, not {value!r}")


def folder(_: Any, __: Described, value: str) -> None:
    """Refuse a folder that is not inside the project."""
    parts = value.split("/")
    if not value or "\\" in value or {"", ".", ".."} & set(parts):
        raise ValueError(f"must be a folder inside the project such as 'pages', not {value!r}")


def language(_: Any, __: Described, value: str) -> None:
    """Reject a value that is not shaped like a language tag (BCP 47)."""
    if not re.fullmatch(_LANGUAGE, value):
        raise ValueError(f"must be a language tag such as 'en' or 'pt-BR', not {value!r}")


PARTS = ("database", "writes", "jobs", "broker", "renderer")
"""What `/readyz` looks at."""


def parts(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse what `/readyz` does not look at."""
    for name in value:
        if name not in PARTS:
            names = ", ".join(map(repr, PARTS))
            raise ValueError(f"must contain only names from {names}, not {name!r}")


def is_dotted(text: str) -> bool:
    """Whether a text can be ``package.module.name`` or ``package.module:name``."""
    return re.fullmatch(_DOTTED, text) is not None


def dotted(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse names that cannot be ``package.module.name`` or ``package.module:name``."""
    for name in value:
        if not re.fullmatch(_DOTTED, name):
            raise ValueError(f"must contain names such as 'app.guards.signed_in', not {name!r}")


def dotted_name(_: Any, __: Described, value: str) -> None:
    """Refuse a name that is neither empty nor ``package.module:name``."""
    if value and not re.fullmatch(_DOTTED, value):
        raise ValueError(f"must be empty or a name such as 'app.guards:signed_in', not {value!r}")


def address(_: Any, __: Described, value: str) -> None:
    """Reject all but ``host:port``."""
    host, _colon, port = value.rpartition(":")
    if not re.fullmatch(_HOST, host) or not port.isdecimal() or not 0 <= int(port) < 65536:
        raise ValueError(f"must be 'host:port' such as '127.0.0.1:9464', not {value!r}")


def origins(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse entries that are not ``scheme://host`` or ``scheme://host:port``."""
    for origin in value:
        try:
            parts = urlsplit(origin)
            named = bool(parts.hostname) and "*" not in origin
            well_formed = named and origin == f"{parts.scheme}://{parts.netloc}"
            well_formed = well_formed and "@" not in parts.netloc and parts.port != 0
        except ValueError:  # a port that is no number, a broken IPv6 address
            well_formed = False
        if not well_formed or parts.scheme not in ("http", "https"):
            raise ValueError(f"must contain origins such as 'https://example.org', not {origin!r}")


def hosts(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse entries that are no host, or have more than that."""
    for host in value:
        if not re.fullmatch(_HOST, host):
            raise ValueError(f"must contain hosts such as 'shop.test', not {host!r}")


def git_patterns(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse patterns that Git would not understand."""
    if not value:
        return
    from pathspec import GitIgnoreSpec  # for `fx dev`, and not for a server that starts

    for pattern in value:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error):
            raise ValueError(f"must contain patterns as in .gitignore, not {pattern!r}") from None


def url_paths(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse entries that do not begin with a slash."""
    for path in value:
        if not path.startswith("/"):
            raise ValueError(f"must contain paths that begin with '/', not {path!r}")


def broker(_: Any, __: Described, value: str) -> None:
    """Refuse brokers other than ``memory`` and URLs of known stores."""
    if value != "memory" and broker_kind(value) is None:
        raise ValueError(f"must be 'memory' or a URL such as {EXAMPLES}, not {value!r}")


def counts(_: Any, __: Described, value: str) -> None:
    """Refuse places of counts other than ``memory`` and Redis URLs."""
    kind = broker_kind(value)
    if value != "memory" and (kind is None or kind.name != "redis"):
        raise ValueError(f"must be 'memory' or a URL such as 'redis://localhost', not {value!r}")


def database(_: Any, __: Described, value: str) -> None:
    """Reject a value that is neither empty nor a database's URL. Never quotes a password."""
    if value and not re.fullmatch(r"sqlite://(/[^?#]*)?|postgres(ql)?://.*", value):
        quoted = urlsplit(value)._replace(netloc="…").geturl() if "@" in value else value
        raise ValueError(
            "must be empty or a URL such as 'sqlite:///data/app.db' or "
            f"'postgresql://localhost/shop', not {quoted!r}"
        )


def cors_origins(_: Any, attribute: Described, value: Sequence[str]) -> None:
    """Refuse entries that are neither origins nor ``*``."""
    origins(_, attribute, [origin for origin in value if origin != "*"])


def route_pattern(_: Any, __: Described, value: str) -> None:
    """Reject a value that is neither a route pattern nor one with ``/*`` at its end."""
    if not value.startswith("/") or set("?# ") & set(value) or "*" in value.removesuffix("/*"):
        raise ValueError(f"must be a route such as '/blog/[id]' or '/api/*', not {value!r}")


def route_patterns(_: Any, attribute: Described, value: Sequence[str]) -> None:
    """Refuse entries that `route_pattern` refuses."""
    for pattern in value:
        route_pattern(_, attribute, pattern)


def http_names(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse what cannot be the name of a method or header (RFC 9110, 5.6.2)."""
    for name in value:
        if not re.fullmatch(_TOKEN, name):
            raise ValueError(f"must contain names such as 'POST' or 'content-type', not {name!r}")


def cache_policies(_: Any, attribute: Described, value: Mapping[str, Any]) -> None:
    """Refuse keys that are no route patterns, and values that are no header of one line."""
    for pattern, policy in value.items():
        route_pattern(_, attribute, pattern)
        if not isinstance(policy, str) or not re.fullmatch(_POLICY, policy):
            quoted = f"{policy!r} for {pattern!r}"
            raise ValueError(f"must contain values such as 'public, max-age=60', not {quoted}")


def rate(_: Any, __: Described, value: str) -> None:
    """Reject a value that is no limit of at least one request in a period."""
    from limits import parse_many  # slow to import, and few apps have limits

    try:
        usable = all(item.amount > 0 and item.get_expiry() > 0 for item in parse_many(value))
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f"must be a limit such as '20/minute', not {value!r}")


def secrets(_: Any, __: Described, value: Sequence[str]) -> None:
    """Refuse keys that are too short to sign with. Never quotes them."""
    if any(len(key) < 16 for key in value):
        raise ValueError("must contain keys of at least 16 characters")
