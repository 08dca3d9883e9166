"""TLS, and HTTP/2 in its two ways."""

from __future__ import annotations

import base64
import re
import ssl
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest
import trio

from fxtrio.server.http1 import ServerLimits

from .frames import TEXT, WebSocket, frame, upgrade
from .support import PATIENCE, Client, Server, echo, open_h2c_server, open_server, response
from .websocket_apps import echo as websocket_echo

CERTIFICATE = str(Path(__file__).with_name("certificate.pem"))
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


async def connect_tls(server: Server, *protocols: str) -> trio.SSLStream[trio.SocketStream]:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    context.set_alpn_protocols(list(protocols))
    plain = await trio.open_tcp_stream("127.0.0.1", server.port)
    stream = trio.SSLStream(plain, context, server_hostname="localhost", https_compatible=True)
    await stream.do_handshake()
    return stream


async def ask_http2(stream: Any, already: bytes = b"") -> bytes:
    """Return the body that stream 1 is answered with."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    connection.initiate_connection()
    headers = [
        (":method", "GET"),
        (":path", "/over-http2"),
        (":scheme", "http"),
        (":authority", "a"),
    ]
    connection.send_headers(1, headers, end_stream=True)
    body = b""
    with trio.fail_after(PATIENCE):
        await stream.send_all(connection.data_to_send())
        while True:
            data = already or await stream.receive_some()
            already = b""
            assert data, "the connection ended too early"
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    body += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    return body
            await stream.send_all(connection.data_to_send())


async def path_and_version(scope: Any, receive: Any, send: Any) -> None:
    body = f"{scope['path']} {scope['http_version']} {scope['scheme']}".encode()
    await response(200, body)(scope, receive, send)


async def test_http1_over_tls() -> None:
    async with open_server(path_and_version, tls=server_tls()) as server:
        async with Client(await connect_tls(server, "http/1.1")) as client:
            for _ in range(2):
                await client.send(GET)
                assert (await client.reply()).body == b"/ 1.1 https"


async def test_large_bodies_over_tls_in_both_directions() -> None:
    body = bytes(range(256)) * 20_000
    async with open_server(echo, tls=server_tls()) as server:
        async with Client(await connect_tls(server, "http/1.1")) as client:
            head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(client.send, head + body)
                assert (await client.reply()).body == body


async def test_websocket_over_tls() -> None:
    async with open_server(websocket_echo, tls=server_tls()) as server:
        async with WebSocket(await connect_tls(server, "http/1.1")) as client:
            await client.send(upgrade())
            assert (await client.reply()).status == 101
            await client.send(frame(TEXT, b"secret"))
            assert (await client.frame()).payload == b"secret"


async def test_is_disconnected_turns_true_over_tls() -> None:
    from starlette.requests import Request

    heard = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        await request.body()
        while not await request.is_disconnected():  # noqa: ASYNC110  # it is what is tested
            await trio.sleep(0.005)
        heard.set()

    async with open_server(app, tls=server_tls()) as server:
        async with Client(await connect_tls(server, "http/1.1")) as client:
            await client.send(GET)
        with trio.fail_after(PATIENCE):
            await heard.wait()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x00"])
async def test_who_does_not_complete_the_tls_handshake_is_let_go(sent: bytes) -> None:
    limits = ServerLimits(header_time=0.3)
    async with open_server(echo, tls=server_tls(), limits=limits) as server:
        async with await server.connect() as client:
            if sent:
                await client.send(sent)
            with trio.fail_after(PATIENCE):
                while not await client.is_closed():
                    client.buffer.clear()  # the alert


async def test_http2_by_alpn() -> None:
    async with open_server(path_and_version, tls=server_tls()) as server:
        stream = await connect_tls(server, "h2")
        assert stream.selected_alpn_protocol() == "h2"
        assert await ask_http2(stream) == b"/over-http2 2 https"
        await trio.aclose_forcefully(stream)


async def test_http2_by_prior_knowledge_is_spoken_when_it_is_switched_on() -> None:
    async with open_h2c_server(path_and_version) as server:
        stream = await trio.open_tcp_stream("127.0.0.1", server.port)
        assert await ask_http2(stream) == b"/over-http2 2 http"
        await stream.aclose()


@pytest.mark.parametrize(("secure", "h2c"), [(False, False), (True, False), (True, True)])
async def test_http2_by_prior_knowledge_is_rejected_otherwise(secure: bool, h2c: bool) -> None:
    """Over TLS too, where ALPN decides."""
    tls = server_tls() if secure else None
    async with open_server(path_and_version, tls=tls, h2c=h2c) as server:
        connected = Client(await connect_tls(server, "http/1.1")) if tls else await server.connect()
        async with connected as client:
            await client.send(PREFACE + b"\x00\x00\x00\x04" + bytes(5))
            assert (await client.reply()).status == 400
            assert await client.is_closed()
        if secure:
            stream = await connect_tls(server, "h2")
            assert await ask_http2(stream) == b"/over-http2 2 https"
            await trio.aclose_forcefully(stream)


@pytest.mark.parametrize("more", ["Upgrade: h2c", "Upgrade: H2C", "Upgrade: h2"])
async def test_an_offer_of_http2_is_not_taken_up(more: str) -> None:
    settings = base64.urlsafe_b64encode(b"\x00\x03\x00\x00\x00\x64").rstrip(b"=")
    offer = (
        b"GET /offered HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
        b"%b\r\nHTTP2-Settings: %b\r\n\r\n"
    )
    async with open_server(path_and_version) as server, await server.connect() as client:
        await client.send(offer % (more.encode(), settings))
        reply = await client.reply()
        assert (reply.status, reply.get(b"upgrade")) == (200, None)
        assert reply.body == b"/offered 1.1 http"
        await client.send(PREFACE + b"\x00\x00\x00\x04" + bytes(5))
        assert (await client.reply()).status in (400, 405, 505)


@pytest.mark.parametrize(
    "rest", [b"x" * 100, b"\x00" * 100, b"\x00\x00\x04\x08\x00" + b"\xff" * 90]
)
async def test_bad_http2_costs_one_connection(rest: bytes) -> None:
    async with open_h2c_server(path_and_version, limits=ServerLimits(idle_time=0.3)) as server:
        async with await server.connect() as client:
            await client.send(PREFACE + rest)
            await client.read_all()
        assert b" 200 " in await server.ask(GET)


async def test_http2_clients_that_fall_silent_are_let_go_unless_they_wait_for_an_answer() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await trio.sleep(1)
        await path_and_version(scope, receive, send)

    async with open_h2c_server(app, limits=ServerLimits(idle_time=0.3)) as server:
        for headers in ([], [(":method", "POST"), (":path", "/"), (":scheme", "http")]):
            connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
            connection.initiate_connection()
            if headers:
                connection.send_headers(1, [*headers, (":authority", "a")])
            async with await server.connect() as client:
                await client.send(connection.data_to_send())
                await client.read_all()
        stream = await trio.open_tcp_stream("127.0.0.1", server.port)
        assert await ask_http2(stream) == b"/over-http2 2 http"
        await stream.aclose()


async def test_an_application_that_sends_to_an_http2_client_that_left_comes_to_its_end() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await response(200, b"*" * 1_000_000)(scope, receive, send)
        ended.set()

    async with open_h2c_server(app) as server:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        connection.initiate_connection()
        headers = [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "a")]
        connection.send_headers(1, headers, end_stream=True)
        async with await server.connect() as client:
            await client.send(connection.data_to_send())
            await client.more()
        with trio.fail_after(PATIENCE):
            await ended.wait()


async def test_what_only_begins_like_http2_is_rejected() -> None:
    async with open_h2c_server(echo) as server:
        assert b" 400 " in await server.ask(b"PRI * HTTP/2.0\r\n\r\nSMALL\r\n\r\n")
        assert b" 200 " in await server.ask(b"P" + b"UT / HTTP/1.1\r\nHost: a\r\n\r\n")


async def test_a_client_that_fails_the_handshake_gets_an_alert_and_is_logged_once_a_minute() -> (
    None
):
    tls = server_tls()
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers("ECDHE-RSA-AES256-GCM-SHA384")
    client = ssl.create_default_context(cafile=CERTIFICATE)
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    client.set_ciphers("ECDHE-RSA-CHACHA20-POLY1305")
    async with open_server(response(), tls=tls) as server:
        for _ in range(3):
            plain = await trio.open_tcp_stream("127.0.0.1", server.port)
            stream = trio.SSLStream(plain, client, server_hostname="localhost")
            with trio.fail_after(PATIENCE), pytest.raises(trio.BrokenResourceError) as failed:
                await stream.do_handshake()
            await trio.aclose_forcefully(stream)
            assert "ALERT" in str(failed.value.__cause__)
        async with await server.connect() as stranger:  # it does not speak TLS at all
            await stranger.send(GET)
            assert await stranger.read_all() is not None
        lines = [record.getMessage() for record in server.log.take(20)]
    (line,) = [line for line in lines if "handshake" in line]
    assert re.match(r"127\.0\.0\.1:\d+: the TLS handshake failed: .*shared cipher", line)
