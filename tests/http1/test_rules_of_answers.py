"""RFC 9110 and 9112 for answers: what a client reads is framed rightly, whatever was sent to it.

Every answer is read by `h11`, which knows nothing of the server.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

import h11
import pytest
import trio

from fxtrio.server.http1.response import BadResponse

from .rules import get, head
from .support import PATIENCE, App, Server, open_server, response

Messages = list[dict[str, Any]]


def app_of(messages: Messages) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    return app


def start(status: Any = 200, *headers: Any, **more: Any) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers), **more}


def body(data: Any = b"", **more: Any) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, **more}


async def ask(server: Server, method: str = "GET", *, old: bool = False) -> tuple[Any, bytes, bool]:
    """Return the answer as h11 reads it, its body, and whether the connection can go on."""
    client = h11.Connection(h11.CLIENT)
    request = h11.Request(method=method, target="/", headers=[("Host", "a")])
    data = client.send(request)
    assert data is not None
    client.send(h11.EndOfMessage())
    answer, found = None, b""
    async with await server.connect() as stream:
        await stream.send(data.replace(b"HTTP/1.1", b"HTTP/1.0") if old else data)
        with trio.fail_after(PATIENCE):
            while True:
                event = client.next_event()
                if event is h11.NEED_DATA:
                    client.receive_data(await stream.more())
                elif isinstance(event, h11.Data):
                    found += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    break
                else:
                    answer = event
            goes_on = client.their_state is h11.DONE and not old
            if goes_on:
                await stream.send(data)
                assert (await stream.more()).startswith(b"HTTP/1.1 ")
            elif not client.trailing_data[0]:
                assert await stream.more() == b""
    return answer, found, goes_on


BOTH = body(b"abc")
PARTS = [body(b"ab", more_body=True), body(b"", more_body=True), body(b"c")]
LENGTH = (b"content-length", b"3")
RULES: dict[str, tuple[Messages, str, int, bytes, dict[str, Any]]] = {
    # rule: what is sent, to which method; status, body and headers of the answer
    "6.2 a whole body has its length": (
        [start(), BOTH],
        *("GET", 200, b"abc", {"content-length": "3", "transfer-encoding": None}),
    ),
    "6.1 a body in parts is chunked": (
        [start(), *PARTS],
        *("GET", 200, b"abc", {"content-length": None, "transfer-encoding": "chunked"}),
    ),
    "6.2 a body in parts may have a length": (
        [start(200, LENGTH), *PARTS],
        *("GET", 200, b"abc", {"content-length": "3", "transfer-encoding": None}),
    ),
    "6.1 an application does not choose the coding": (
        [start(200, (b"Transfer-Encoding", b"gzip")), BOTH],
        *("GET", 200, b"abc", {"content-length": "3", "transfer-encoding": None}),
    ),
    "6.1 an application does not choose chunked, either": (
        [start(200, LENGTH, (b"transfer-encoding", b"chunked")), BOTH],
        *("GET", 200, b"abc", {"content-length": "3", "transfer-encoding": None}),
    ),
    "8.6 one length is sent": (
        [start(200, LENGTH, LENGTH), BOTH],
        *("GET", 200, b"abc", {"content-length": "3"}),
    ),
    "9.3.2 HEAD has no body": (
        [start(), BOTH],
        *("HEAD", 200, b"", {"content-length": "3", "transfer-encoding": None}),
    ),
    "9.3.2 HEAD has no body in parts": (
        [start(), *PARTS],
        *("HEAD", 200, b"", {"content-length": None, "transfer-encoding": None}),
    ),
    "9.3.2 HEAD has the length of the body it would have": (
        [start(200, (b"content-length", b"900")), body()],
        *("HEAD", 200, b"", {"content-length": "900"}),
    ),
    "15.3.5 204 has neither body nor length": (
        [start(204, LENGTH), BOTH],
        *("GET", 204, b"", {"content-length": None, "transfer-encoding": None}),
    ),
    "15.3.5 204 has no parts": (
        [start(204), *PARTS],
        *("GET", 204, b"", {"content-length": None, "transfer-encoding": None}),
    ),
    "15.3.6 205 has an empty body": (
        [start(205), BOTH],
        *("GET", 205, b"", {"content-length": "0", "transfer-encoding": None}),
    ),
    "15.3.6 205 has no parts": (
        [start(205), *PARTS],
        *("GET", 205, b"", {"content-length": "0", "transfer-encoding": None}),
    ),
    "15.4.5 304 has no body": (
        [start(304), BOTH],
        *("GET", 304, b"", {"transfer-encoding": None}),
    ),
    "15.4.5 304 has no parts": (
        [start(304, LENGTH), *PARTS],
        *("GET", 304, b"", {"content-length": "3", "transfer-encoding": None}),
    ),
    "4 an unknown status is sent as it is": (
        [start(299), BOTH],
        *("GET", 299, b"abc", {"content-length": "3"}),
    ),
    "4 the largest status is sent": ([start(599), body()], *("GET", 599, b"", {})),
    "7.8 an offer of the application has its option": (
        [start(426, (b"Upgrade", b"a/1"), (b"Connection", b"Upgrade")), BOTH],
        *("GET", 426, b"abc", {"upgrade": "a/1", "connection": "Upgrade"}),
    ),
    "7.6.1 keeping the connection is not for the application": (
        [start(200, (b"connection", b"keep-alive, close-not")), BOTH],
        *("GET", 200, b"abc", {"connection": "close-not"}),
    ),
    "5.1 names are tokens and values go out as they are": (
        [start(200, (b"X-!#$%", b"a\tb \xe4")), BOTH],
        *("GET", 200, b"abc", {"x-!#$%": "a\tb \xe4"}),
    ),
    "5.3 cookies are not joined": (
        [start(200, (b"set-cookie", b"a=b"), (b"set-cookie", b"c=d")), BOTH],
        *("GET", 200, b"abc", {"set-cookie": "a=b|c=d"}),
    ),
}


@pytest.mark.parametrize("rule", RULES)
async def test_an_answer_is_framed_for_its_client(rule: str) -> None:
    messages, method, status, expected, headers = RULES[rule]
    async with open_server(app_of(messages)) as server:
        answer, found, goes_on = await ask(server, method)
    assert (answer.status_code, found, goes_on) == (status, expected, True)
    sent: dict[str, str] = {}
    for name, value in answer.headers:
        before = sent.get(name.decode())
        sent[name.decode()] = (
            value.decode("latin-1") if before is None else f"{before}|{value.decode()}"
        )
    for name, value in headers.items():
        assert sent.get(name) == value, name
    assert abs(parsedate_to_datetime(sent["date"]).year - 2026) < 100
    assert sent["date"].endswith(" GMT") and len(sent["date"]) == 29


@pytest.mark.parametrize(
    "messages", [[start(), BOTH], [start(), *PARTS], [start(200, LENGTH), *PARTS]]
)
async def test_an_old_client_gets_no_chunks(messages: Messages) -> None:
    async with open_server(app_of(messages)) as server:
        answer, found, _ = await ask(server, old=True)
    assert found == b"abc"
    assert not [name for name, _ in answer.headers if name == b"transfer-encoding"]
    assert (b"connection", b"close") in answer.headers


async def test_an_application_that_closes_closes() -> None:
    for value in (b"close", b"Close", b"a, close"):
        app = response(200, b"abc", (b"Connection", value))
        async with open_server(app) as server:
            _, found, goes_on = await ask(server)
            assert (found, goes_on) == (b"abc", False)


class Sized:
    def __len__(self) -> int:
        return 3


BAD: dict[str, Any] = {
    "no message": [],
    "no body": [start()],
    "no start": [BOTH],
    "two starts": [start(), start(), BOTH],
    "an informational status": [start(103), BOTH],
    "no status": [{"type": "http.response.start"}, BOTH],
    "a status in words": [start("200"), BOTH],
    "a status of 1000": [start(1000), BOTH],
    "text": [start(), body("abc")],
    "text in parts": [start(), body("abc", more_body=True), body()],
    "a large text": [start(), body("a" * 100_000)],
    "a number": [start(), body(3)],
    "None": [start(), body(None)],
    "a list": [start(), body([97, 98, 99])],
    "something with a length": [start(), body(Sized())],
    "a name in words": [start(200, ("x", b"y")), BOTH],
    "a value in words": [start(200, (b"x", "y")), BOTH],
    "a number as value": [start(200, (b"content-length", 3)), BOTH],
    "a header that is no pair": [start(200, (b"x",)), BOTH],
    "headers that are none": [start(headers=3), BOTH],
    "a name with white space": [start(200, (b"a b", b"c")), BOTH],
    "an empty name": [start(200, (b"", b"c")), BOTH],
    "a name with a colon": [start(200, (b"a:", b"c")), BOTH],
    "a name with a line end": [start(200, (b"a\r\nb", b"c")), BOTH],
    "a value with a line end": [start(200, (b"a", b"b\r\nc: d")), BOTH],
    "a value with a bare LF": [start(200, (b"a", b"b\nc: d")), BOTH],
    "a value with a bare CR": [start(200, (b"a", b"b\rc: d")), BOTH],
    "a value with NUL": [start(200, (b"a", b"b\0c")), BOTH],
    "an option with a line end": [start(200, (b"connection", b"a\r\nb: c")), BOTH],
    "a length in words": [start(200, (b"content-length", b"three")), BOTH],
    "a negative length": [start(200, (b"content-length", b"-3")), BOTH],
    "an empty length": [start(200, (b"content-length", b"")), BOTH],
    "two lengths": [start(200, LENGTH, (b"content-length", b"4")), BOTH],
    "a length that is too short": [start(200, (b"content-length", b"2")), BOTH],
    "a length that is too long": [start(200, (b"content-length", b"4")), BOTH],
    "a message of a WebSocket": [{"type": "websocket.accept"}],
    "a message of no type": [{}],
    "a message that is none": [None],
}


@pytest.mark.parametrize("mistake", BAD)
async def test_a_mistake_before_the_head_is_out_is_a_500(mistake: str) -> None:
    async with open_server(app_of(BAD[mistake])) as server:
        answer, found, goes_on = await ask(server)
        assert (answer.status_code, found, goes_on) == (500, b"", False)
        assert len(server.log.take(30)) == (mistake not in ("no message", "no body"))


AFTER_THE_HEAD = {
    "text": [start(), body(b"ab", more_body=True), body("c")],
    "a second start": [start(), body(b"ab", more_body=True), start(), body(b"c")],
    "too many bytes": [start(200, LENGTH), body(b"ab", more_body=True), body(b"cd")],
    "too few bytes": [start(200, LENGTH), body(b"ab", more_body=True), body(b"")],
    "no end": [start(), body(b"ab", more_body=True)],
    "no end of a length": [start(200, LENGTH), body(b"ab", more_body=True)],
}


@pytest.mark.parametrize("mistake", AFTER_THE_HEAD)
async def test_a_mistake_in_the_middle_cuts_the_answer_off(mistake: str) -> None:
    async with open_server(app_of(AFTER_THE_HEAD[mistake])) as server:
        with pytest.raises(h11.RemoteProtocolError, match=r"without sending|before the"):
            await ask(server)
        server.log.take(30)


@pytest.mark.parametrize("extra", [start(), body(b"late"), body(b"", more_body=True)])
async def test_a_mistake_after_the_end_harms_nobody_but_is_logged(extra: dict[str, Any]) -> None:
    async with open_server(app_of([start(), BOTH, extra])) as server:
        answer, found, goes_on = await ask(server)
        assert (answer.status_code, found, goes_on) == (200, b"abc", True)
        for record in server.log.take(30):
            assert record.exc_info is not None and record.exc_info[0] is BadResponse


@pytest.mark.parametrize(
    "data",
    [bytearray(b"abc"), memoryview(b"abc"), memoryview(bytearray(b"xabcx"))[1:4]],
)
async def test_a_body_may_be_anything_that_holds_bytes(data: Any) -> None:
    for messages in ([start(), body(data)], [start(), body(data, more_body=True), body()]):
        async with open_server(app_of(messages)) as server:
            _, found, goes_on = await ask(server)
            assert (found, goes_on) == (b"abc", True)


async def test_a_body_is_counted_in_bytes_and_not_changed_later() -> None:
    large = bytearray(b"x" * 3_000_000)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start())
        await send(body(memoryview(large).cast("I"), more_body=True))
        large[:] = b"y" * len(large)
        await send(body(memoryview(b"12345678").cast("Q")))

    async with open_server(app) as server:
        _, found, _ = await ask(server)
        assert found == b"x" * 3_000_000 + b"12345678"


@pytest.mark.parametrize("kind", ["tuple", "lists", "generator", "none", "missing"])
async def test_headers_may_be_any_iterable_of_pairs(kind: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        pairs = [(b"x-a", b"1"), (b"x-b", b"2")]
        kinds: dict[str, Any] = {
            "tuple": tuple(pairs),
            "lists": [list(pair) for pair in pairs],
            "generator": (pair for pair in pairs),
            "none": None,
        }
        message = {"type": "http.response.start", "status": 200, "headers": kinds.get(kind)}
        if kind == "missing":
            del message["headers"]
        await send(message)
        await send({"type": "http.response.body"})

    async with open_server(app) as server:
        answer, found, goes_on = await ask(server)
        assert (found, goes_on) == (b"", True)
        assert ((b"x-b", b"2") in answer.headers) == (kind not in ("none", "missing"))


@pytest.mark.parametrize(
    ("sent", "status"),
    [(head(b"GET / HTTP/1.1"), 400), (get(b"Expect: x"), 417), (head(b"FOO / HTTP/1.1"), 501)],
)
async def test_a_rejection_is_a_whole_answer(sent: bytes, status: int) -> None:
    async with open_server(response()) as server:
        client = h11.Connection(h11.CLIENT)
        client.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
        client.send(h11.EndOfMessage())
        client.receive_data(await server.ask(sent))
        answer = client.next_event()
        assert isinstance(answer, h11.Response)
        assert answer.status_code == status
        assert isinstance(client.next_event(), h11.EndOfMessage)
        assert client.their_state is h11.MUST_CLOSE
