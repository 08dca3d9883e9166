"""The libraries that are tried, and what each needs."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from shutil import which

from benchmarks.libraries.databases import aiosqlite, coredis, psycopg
from benchmarks.libraries.model import Library
from benchmarks.libraries.over_http import anthropic, any_httpx, openai
from tests.db.cluster import programs

LIBRARIES: dict[str, Library] = {
    "httpx": partial(any_httpx, "httpx"),
    "httpx2": partial(any_httpx, "httpx2"),
    "openai": openai,
    "anthropic": anthropic,
    "coredis": coredis,
    "psycopg": psycopg,
    "aiosqlite": aiosqlite,
}


def missing(name: str) -> str:
    """Return what is not there for a library, "" when nothing is."""
    if find_spec(name) is None:
        return name
    if name == "psycopg" and not (programs() / "initdb").exists():
        return "postgresql"
    return "redis-server" if name == "coredis" and which("redis-server") is None else ""
