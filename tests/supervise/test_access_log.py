"""The lines of the access log: who left, who was refused, and that nobody can forge one."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.config.model import HIDDEN_PARAMETERS
from fxtrio.server.supervise.application.proxy_headers import Proxies, ProxyHeaders
from fxtrio.server.supervise.logs.access_log import AccessLog
from fxtrio.server.supervise.logs.query_redaction import hiding

from ..http1.frames import upgrade
from ..http1.support import App, open_server, read_body, response

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Lines:
    """Serves applications and reads the lines that were written about their requests."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    async def after(self, app: App, data: bytes, *, leave: trio.Event | None = None) -> Any:
        """Return the JSON of the only line after ``data`` was sent, and the client left or read."""
        async with open_server(app, access_log="json") as server:
            async with await server.connect() as client:
                await client.send(data)
                if leave is not None:
                    await leave.wait()
                else:
                    await client.read_all()
        (line,) = self._capture.readouterr().out.splitlines()
        return json.loads(line)


@pytest.fixture
def log(capfd: pytest.CaptureFixture[str]) -> Lines:
    return Lines(capfd)


async def test_a_request_whose_client_left_before_the_answer_is_499(log: Lines) -> None:
    waits = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        waits.set()
        assert (await receive())["type"] == "http.disconnect"

    line = await log.after(app, GET, leave=waits)

    assert (line["status"], line["bytes"]) == (499, 0)


async def test_a_websocket_whose_client_left_before_the_answer_is_499(log: Lines) -> None:
    waits = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        waits.set()
        assert (await receive())["type"] == "websocket.disconnect"

    line = await log.after(app, upgrade(b"/"), leave=waits)

    assert (line["method"], line["status"]) == ("WEBSOCKET", 499)


async def test_an_application_that_does_not_answer_is_500(log: Lines) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)

    line = await log.after(app, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    assert line["status"] == 500


HOSTILE = b'a\tb"\\\x80\x9b31m\xff'


async def test_the_query_of_a_websocket_stays_inside_its_line(log: Lines) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close"})

    line = await log.after(app, upgrade(b'/%0a"?q="%1b\\', b"User-Agent: " + HOSTILE))

    assert (line["method"], line["status"]) == ("WEBSOCKET", 403)
    assert line["target"] == "/%0a\\x22?q=\\x22%1b\\x5c"
    assert line["agent"] == "a\\x09b\\x22\\x5c\\x80\\x9b31mÿ"


async def test_what_a_proxy_sends_stays_inside_its_line(log: Lines) -> None:
    app = ProxyHeaders(response(200, b"hi"), Proxies(["127.0.0.1"]))
    head = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: "

    assert (await log.after(app, head + b"1.2.3.4\r\n\r\n"))["client"] == "1.2.3.4"
    assert (await log.after(app, head + HOSTILE + b"\r\n\r\n"))["client"] == "127.0.0.1"
    assert (await log.after(app, head + b"fe80::1%\x9b\r\n\r\n"))["client"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("1.2.3.4", 99), "1.2.3.4:99"),
        (("1.2.3.4", 0), "1.2.3.4"),
        (("::1", 99), "[::1]:99"),
        (("2001:db8::1", 0), "2001:db8::1"),
        (None, "-"),
    ],
)
def test_the_console_log_has_the_client_address(
    client: tuple[str, int] | None, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scope = {"client": client, "raw_path": b"/", "query_string": b"", "http_version": "1.1"}
    log = AccessLog("console", 1)

    log.note({**scope, "method": "GET", "headers": []}, 200, 5, 0.0021)
    log.flush()

    assert capfd.readouterr().out.endswith(f'] {address} "GET / HTTP/1.1" 200 5 2.1ms\n')


def test_the_console_prints_a_dash_for_unknown_values(capfd: pytest.CaptureFixture[str]) -> None:
    scope = {"client": None, "raw_path": b"/", "query_string": b"", "http_version": "2"}
    log = AccessLog("console", 1)

    log.note({**scope, "method": "GET", "headers": []}, None, None, 0.0021)
    log.flush()

    assert capfd.readouterr().out.endswith('] - "GET / HTTP/2" - - 2.1ms\n')


async def test_json_has_the_id_of_the_request_where_there_is_one(log: Lines) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["state"]["request_id"] = "5f3a"
        await response()(scope, receive, send)

    ended = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert (await log.after(app, ended))["request"] == "5f3a"
    assert "request" not in await log.after(response(), ended)


async def test_who_is_rejected_is_reported_as_an_address() -> None:
    async with open_server(response()) as server, await server.connect() as client:
        port = client.stream.socket.getsockname()[1]
        await client.send(b"nonsense\r\n\r\n")
        assert (await client.reply()).status == 400
        messages = [record.getMessage() for record in server.log.take(20)]
    assert any(line.startswith(f"127.0.0.1:{port} rejected with 400: ") for line in messages)


async def test_rejections_are_reported_as_those_of_the_code_that_rejects() -> None:
    async with open_server(response()) as server:
        for _ in range(3):
            async with await server.connect() as client:
                await client.send(b"nonsense\r\n\r\n")
                assert (await client.reply()).status == 400
        records = [record for record in server.log.take(20) if "rejected" in record.getMessage()]
    assert len(records) == 3
    assert {record.pathname.rpartition("fxtrio/")[2] for record in records} == {
        "server/http1/connection_context.py"
    }


def test_a_disk_that_is_full_costs_lines_and_is_reported_once(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    scope = {"client": None, "raw_path": b"/", "query_string": b"", "http_version": "2"}
    with Path("/dev/full").open("wb") as full, (tmp_path / "log").open("w+b") as disk:
        log = AccessLog("console", os.dup(full.fileno()))
        for _ in range(3):
            log.note({**scope, "method": "GET", "headers": []}, 200, 0, 0)
            log.flush()
        (record,) = caplog.records
        assert "the access log cannot be written: No space left on device" in record.getMessage()
        log._descriptor = disk.fileno()
        log.note({**scope, "method": "GET", "headers": []}, 201, 0, 0)
        log.flush()
        written = Path(disk.name).read_text().splitlines()
    assert written[0].endswith(" 201 0 0.0ms")
    assert written[1:] == ["3 lines of the access log were lost"]


def test_a_line_that_is_cut_by_a_full_disk_has_its_own_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scope = {"client": None, "raw_path": b"/", "query_string": b"", "http_version": "2"}
    log = AccessLog("console", 1)
    room, write = [10, 0], os.write

    def little(descriptor: int, data: memoryview) -> int:
        size = room.pop(0) if room else len(data)
        if not size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[:size])

    monkeypatch.setattr(os, "write", little)
    for status in (200, 201):
        log.note({**scope, "method": "GET", "headers": []}, status, 0, 0)
        log.flush()
    cut, whole, lost = capfd.readouterr().out.splitlines()
    assert len(cut) == 10
    assert whole.endswith(" 201 0 0.0ms")
    assert lost == "1 lines of the access log were lost"


@pytest.mark.parametrize(
    ("query", "logged"),
    [
        (b"token=abc", b"token=[hidden]"),
        (b"a=1&token=abc&b=2", b"a=1&token=[hidden]&b=2"),
        (b"a=1;CODE=abc;b=2", b"a=1;CODE=[hidden];b=2"),
        (b"access_token=x&api-key=y&oauth.state=z", None),
        (b"next=/a%3Fb&session%5B%5D=1&session[]=2", None),
        (b"monkey=1&statement=2&zipcode=3", b"monkey=1&statement=2&zipcode=3"),
        (b"q=token&page=2", b"q=token&page=2"),
        (b"token=", b"token="),
    ],
)
@pytest.mark.parametrize("form", ["console", "json"])
def test_secrets_of_links_are_not_in_the_log(
    query: bytes, logged: bytes | None, form: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    log = AccessLog(form, 1)
    referer = (b"referer", b"https://a.example/verify?" + query)
    scope = {"client": None, "raw_path": b"/p", "query_string": query, "http_version": "2"}
    log.note({**scope, "method": "GET", "headers": [referer]}, 200, 1, 0.1)
    log.flush()
    line = capfd.readouterr().out
    if logged is None:
        assert line.count("[hidden]") == (6 if form == "json" else 3)
        assert not any(secret in line for secret in ("=x", "=y", "=z", "b&", "=1", "=2"))
    else:
        assert line.count("?" + logged.decode()) == (2 if form == "json" else 1)


_hide = hiding(HIDDEN_PARAMETERS)


@pytest.mark.parametrize(
    "name",
    [
        *("accessToken", "ACCESS_TOKEN", "accesstoken", "APIKey", "apikey", "user[token]"),
        *("user[0][accessToken][]", "user%5Btoken%5D", "%74oken", "to%6Ben", "tokens", "token_1"),
        *(
            "password2",
            "session_id",
            "sessionId",
            "sid",
            "resetPasswordToken",
            "oauth.code",
            "?code",
        ),
        *("next+state", "x:token", "a/b?token", "auth", "passwd", "pin", "id_token_hint"),
    ],
)
def test_a_secret_is_known_by_the_words_of_its_name(name: str) -> None:
    field = name.encode()
    assert _hide(b"a=1&" + field + b"=abc;b=2#c") == b"a=1&" + field + b"=[hidden];b=2#c"


@pytest.mark.parametrize(
    "query",
    [
        *(b"page=2&q=token", b"keyword=a", b"zipcode=1", b"postcode=1", b"country=de", b"pinned=1"),
        *(b"monkey=1", b"statement=2", b"a=b%3Dc&d=%26e", b"sort=-created", b"author=ada", b"=a"),
        *(b"url=https%3A%2F%2Fa.example%2F%3Fpage%3D2", b"token", b"token=", b"codec=mp3"),
    ],
)
def test_parameters_that_are_no_secrets_are_not_redacted(query: bytes) -> None:
    assert _hide(query) == query


@pytest.mark.parametrize(
    ("query", "logged"),
    [
        (b"to=https%3A%2F%2Fa.b%2F%3Fx%3D1%26token%3Dabc&c=d", b"to=[hidden]&c=d"),
        (b"to=%2Fa%3Furl%3D%252Fb%253FaccessToken%253Dabc", b"to=[hidden]"),
        (b"to=/a?token=abc&c=d", b"to=/a?token=[hidden]&c=d"),
        (b"token=a=b=c", b"token=[hidden]"),
        (b"=" * 30 + b"abc", b"=" * 20 + b"[hidden]"),
    ],
)
def test_secrets_of_urls_in_parameters_are_hidden(query: bytes, logged: bytes) -> None:
    assert _hide(query) == logged


def test_a_name_of_several_words_is_meant_in_any_writing() -> None:
    hide = hiding(["resetLink"])
    for name in (b"reset_link", b"resetLink", b"user[reset-link]", b"RESET.LINK"):
        assert hide(name + b"=a") == name + b"=[hidden]"
    assert hide(b"reset=a&link=b&token=c") == b"reset=a&link=b&token=c"


def test_which_parameters_are_hidden_is_a_setting(capfd: pytest.CaptureFixture[str]) -> None:
    scope = {"client": None, "raw_path": b"/p", "query_string": b"token=a&pin=b"}
    for hidden in (("pin",), ()):
        log = AccessLog("console", 1, hidden=hidden)
        log.note({**scope, "http_version": "2", "method": "GET", "headers": []}, 200, 1, 0.1)
        log.flush()
    first, second = capfd.readouterr().out.splitlines()
    assert "/p?token=a&pin=[hidden] " in first
    assert "/p?token=a&pin=b " in second
