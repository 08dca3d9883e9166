"""Parts of fxtrio that the settings use, and that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from fxtrio.config import Config
from fxtrio.config.brokers import broker_kind
from fxtrio.config.errors import ConfigProblem
from fxtrio.db.open import without_password


def missing_extras(config: Config) -> Iterator[ConfigProblem]:
    """Yield the settings that need what `pip install 'fxtrio[…]'` brings."""
    broker, counts = config.realtime.broker, config.rate_limit_storage
    for key, url in (("realtime.broker", broker), ("rateLimitStorage", counts)):
        kind = broker_kind(url)
        if kind is not None:
            yield from _missing(key, without_password(url), kind.package, kind.name)
    url = config.database.url
    if url.startswith("postgres"):
        yield from _missing("database.url", without_password(url), "psycopg", "postgres")
    for index, plugin in enumerate(config.plugins):
        if plugin.name == "auth":
            yield from _missing(f"plugins.{index}.name", "auth", "argon2", "auth")


def _missing(key: str, shown: str, package: str, extra: str) -> Iterator[ConfigProblem]:
    if find_spec(package) is None:
        named = {"argon2": "argon2-cffi"}.get(package, package)
        remedy = f"Run \"pip install 'fxtrio[{extra}]'\""
        cause = f"is {shown!r}, and {named} is not installed. {remedy}"
        yield ConfigProblem(place="", key=key, cause=cause)
