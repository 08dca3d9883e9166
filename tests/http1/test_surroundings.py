"""What stands around a server: proxies in front of it, and who takes its metrics."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import Any

import pytest
import trio

from fxtrio.server.supervise.application.proxy_headers import Proxies, ProxyHeaders
from fxtrio.server.supervise.logs.server_log import ServerLogger
from fxtrio.server.supervise.logs.statsd_log import ServerStatsdLogger

from .support import PATIENCE, echo, open_server, response

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize(
    ("trusted", "headers", "seen"),
    [
        ([], [b"X-Forwarded-For: 1.2.3.4", b"X-Forwarded-Proto: https"], ("127.0.0.1", "http")),
        (["10.0.0.0/8"], [b"X-Forwarded-For: 1.2.3.4"], ("127.0.0.1", "http")),
        (["127.0.0.1"], [], ("127.0.0.1", "http")),
        (
            ["127.0.0.1"],
            [b"X-Forwarded-For: 1.2.3.4", b"X-Forwarded-Proto: https"],
            ("1.2.3.4", "https"),
        ),
        (["127.0.0.1"], [b"X-Forwarded-For: 9.9.9.9, 1.2.3.4"], ("1.2.3.4", "http")),
        (
            ["127.0.0.0/8", "10.0.0.0/8"],
            [b"X-Forwarded-For: 9.9.9.9, 1.2.3.4", b"X-Forwarded-For: 10.1.1.1"],
            ("1.2.3.4", "http"),
        ),
        (["127.0.0.1"], [b"X-Forwarded-For: 1.2.3.4:99"], ("1.2.3.4", "http")),
        (["127.0.0.1"], [b"X-Forwarded-For: [2001:db8::1]:99"], ("2001:db8::1", "http")),
        (["127.0.0.1"], [b"X-Forwarded-For: nonsense"], ("127.0.0.1", "http")),
        (["127.0.0.1"], [b"X-Forwarded-For: 1.2.3.4, nonsense"], ("127.0.0.1", "http")),
        (["*"], [b"X-Forwarded-For: nonsense, 1.2.3.4"], ("1.2.3.4", "http")),
        (["127.0.0.1"], [b"X-Forwarded-For: fe80::1%\x9b31m"], ("127.0.0.1", "http")),
        (["127.0.0.1"], [b"X-Forwarded-Proto: gopher"], ("127.0.0.1", "http")),
        (["127.0.0.1"], [b"X-Forwarded-Proto: https, http"], ("127.0.0.1", "http")),
        (["*"], [b"X-Forwarded-For: 1.2.3.4, 5.6.7.8"], ("1.2.3.4", "http")),
        (["127.0.0.1"], [b"X-Forwarded-Host: evil"], ("127.0.0.1", "http")),
    ],
)
async def test_only_trusted_proxies_are_believed(
    trusted: list[str], headers: list[bytes], seen: tuple[str, str]
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert dict(scope["headers"])[b"host"] == b"a"
        text = f"{scope['client'][0]} {scope['scheme']}".encode()
        await response(200, text)(scope, receive, send)

    served = ProxyHeaders(app, Proxies(trusted))
    async with open_server(served) as server, await server.connect() as client:
        await client.send(b"\r\n".join([b"GET / HTTP/1.1", b"Host: a", *headers, b"", b""]))
        assert (await client.reply()).body.decode() == " ".join(seen)


async def test_metrics_are_sent_to_statsd() -> None:
    with trio.socket.socket(type=trio.socket.SOCK_DGRAM) as statsd:
        await statsd.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{statsd.getsockname()[1]}"
        async with open_server(echo, statsd_host=address, statsd_prefix="fx") as server:
            await server.ask(GET)
            seen = b""
            with trio.fail_after(PATIENCE):
                while b"fx.hypercorn.request.status.200:1|c" not in seen:
                    seen += await statsd.recv(1000)


@pytest.mark.parametrize("method", ["critical", "error", "warning", "info", "debug", "exception"])
@pytest.mark.parametrize("statsd", [False, True])
async def test_lines_of_the_log_have_the_location_of_their_caller(
    caplog: pytest.LogCaptureFixture, method: str, statsd: bool
) -> None:
    errors = logging.getLogger("hypercorn.error")
    with caplog.at_level(logging.DEBUG, errors.name):
        with ExitStack() as stack:
            log = ServerLogger(errors, None)
            if statsd:
                log = ServerStatsdLogger(errors, None, host="127.0.0.1:9", prefix="")
                stack.callback(log.close)
            await getattr(log, method)("said")
            await log.log(logging.ERROR, "said")
    assert {(record.pathname, record.getMessage()) for record in caplog.records} == {
        (__file__, "said")
    }
