"""How a table of rules is tested: one row is a rule's name, what is sent, and what comes of it.

What comes of it is a list of statuses. A request for ``/next`` follows every row, so
that ``200 200`` says that the connection went on rightly, ``200`` that it was closed
after the answer, and ``400`` that it was refused.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from .support import Reply, Server

NEXT = b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

Row = tuple[bytes, str]


def table(rows: Mapping[str, Row]) -> pytest.MarkDecorator:
    """Run a test with ``sent`` and ``outcome`` of every row; its id is the rule's name."""
    return pytest.mark.parametrize(
        ("sent", "outcome"), [pytest.param(*row, id=rule) for rule, row in rows.items()]
    )


def head(line: bytes, *fields: bytes) -> bytes:
    return b"\r\n".join([line, *fields, b"", b""])


def get(*fields: bytes, target: bytes = b"/", version: bytes = b"HTTP/1.1") -> bytes:
    host = [b"Host: a"] if version == b"HTTP/1.1" else []
    return head(b"GET %b %b" % (target, version), *host, *fields)


def post(body: bytes, *fields: bytes) -> bytes:
    return head(b"POST / HTTP/1.1", b"Host: a", *fields) + body


def chunked(body: bytes) -> bytes:
    return post(body, b"Transfer-Encoding: chunked")


async def replies(server: Server, sent: bytes) -> list[Reply]:
    """Return every answer to ``sent`` and the request behind it, until the server closes."""
    method = "HEAD" if sent.startswith(b"HEAD") else "GET"
    found: list[Reply] = []
    async with await server.connect() as client:
        await client.send(sent + NEXT)
        await client.stream.send_eof()
        while client.buffer or await client.more():
            found.append(await client.reply("GET" if found else method))
    return found


async def check(server: Server, sent: bytes, outcome: str) -> list[Reply]:
    """Compare what comes of ``sent`` with the row; return the answers."""
    found = await replies(server, sent)
    statuses = " ".join(str(reply.status) for reply in found)
    assert statuses == outcome, f"{sent[:200]!r} was answered with {statuses}"
    for reply in found:
        date = reply.get(b"date")
        assert reply.status < 200 or (date is not None and date.endswith(b" GMT"))
    if outcome != "200 200":
        assert found[-1].get(b"connection") == b"close"
    return found
