"""Applications that ask PostgreSQL once a request: ours on trio, asyncpg's on asyncio.

The URL is in the environment, as ``BENCH_DATABASE``. Both keep ten connections.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

QUERY = "select id, name, email from people where id = $1"
POOL = 10

_open: dict[str, Any] = {}


async def _send(send: Any, found: dict[str, Any]) -> None:
    body = json.dumps(found).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def ours(scope: Any, receive: Any, send: Any) -> None:
    """Ask through `fx.db`."""
    if scope["type"] == "http":
        await _send(send, await _open["database"].one(dict, QUERY, 7))
    elif scope["type"] == "lifespan":
        from fxtrio.config import DatabaseConfig
        from fxtrio.db import open_database

        settings = DatabaseConfig(url=os.environ["BENCH_DATABASE"], pool=POOL)
        await receive()
        async with open_database(settings, Path("/")) as _open["database"]:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


async def theirs(scope: Any, receive: Any, send: Any) -> None:
    """Ask through asyncpg."""
    if scope["type"] == "http":
        await _send(send, dict(await _open["pool"].fetchrow(QUERY, 7)))
    elif scope["type"] == "lifespan":
        import asyncpg  # type: ignore[import-not-found]  # in the peers' environment

        await receive()
        url = os.environ["BENCH_DATABASE"]
        async with asyncpg.create_pool(url, min_size=POOL, max_size=POOL) as _open["pool"]:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
