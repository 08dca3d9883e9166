"""A handler's end becomes a close code, and a client's end becomes the handler's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from starlette.exceptions import WebSocketException
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketDisconnected
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.realtime import channel
from fxtrio.realtime.handler import serve_websocket
from fxtrio.realtime.receive_buffer import CAPACITY, ReceiveBufferFull
from tests.realtime.client import Client, make_app

Handler = Callable[[WebSocket], Awaitable[None]]


async def serve(handler: Handler, client: Client) -> None:
    await serve_websocket(handler, client.ws, place="pages/chat.fxl: websocket()")


async def serve_to_end(handler: Handler, client: Client) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        nursery.start_soon(client.connect)


async def echo(ws: WebSocket) -> None:
    await ws.accept()
    async for text in ws.iter_text():
        await ws.send_text(text)


# --- how handlers end


async def test_a_handler_that_returns_closes_1000():
    client = Client(make_app())
    await serve_to_end(lambda ws: ws.accept(), client)
    assert client.closed == 1000


async def fail(ws: WebSocket, error: Exception) -> None:
    await ws.accept()
    raise error


async def test_a_handler_that_raises_closes_1011_and_is_logged(caplog):
    client = Client(make_app())
    await serve_to_end(partial(fail, error=ValueError("secret")), client)
    assert client.closed == 1011
    assert "secret" not in str(client.sent)
    assert "pages/chat.fxl: websocket() failed" in caplog.text
    assert "ValueError: secret" in caplog.text


async def test_a_websocket_exception_closes_with_its_code(caplog):
    client = Client(make_app())
    await serve_to_end(partial(fail, error=WebSocketException(4401, "sign in")), client)
    assert client.sent[-1] == {"type": "websocket.close", "code": 4401, "reason": "sign in"}
    assert caplog.records == []


@pytest.mark.parametrize(
    ("code", "closed"), [(1001, 1001), (1005, 1000), (1006, 1000), (1013, 1013), (4000, 4000)]
)
async def test_a_disconnect_that_the_handler_raises_is_quiet(code, closed, caplog):
    client = Client(make_app())
    await serve_to_end(partial(fail, error=WebSocketDisconnect(code)), client)
    assert client.closed == closed
    assert caplog.records == []


async def test_a_disconnect_in_a_nursery_of_the_handler_is_quiet(caplog):
    async def listen(ws: WebSocket) -> None:
        await ws.receive_text()

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async with trio.open_nursery() as inner:
            inner.start_soon(listen, ws)
            inner.start_soon(trio.sleep_forever)

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        await client.disconnect()
    assert caplog.records == []


async def test_another_error_beside_a_disconnect_is_logged(caplog):
    group = ExceptionGroup("several", [WebSocketDisconnect(1001), ValueError("real")])
    client = Client(make_app())
    await serve_to_end(partial(fail, error=group), client)
    assert client.closed == 1011
    assert "ValueError: real" in caplog.text


async def test_a_handler_that_closed_is_not_closed_again():
    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        await ws.close(4000)

    client = Client(make_app())
    await serve_to_end(handler, client)
    assert client.closed == 4000


async def test_a_long_reason_is_cut_to_what_a_close_frame_holds():
    client = Client(make_app())
    await serve_to_end(partial(fail, error=WebSocketException(4000, "ä" * 100)), client)
    assert client.sent[-1]["reason"] == "ä" * 61


async def test_a_shutdown_closes_1001():
    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, echo, client)
        await client.connect()
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert client.closed == 1001


async def test_a_client_that_does_not_read_cannot_hold_up_the_shutdown(autojump_clock: MockClock):
    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, echo, client)
        await client.connect()
        await wait_all_tasks_blocked()
        client.stop_reading()
        nursery.cancel_scope.cancel()
    assert trio.current_time() == 1


async def test_a_client_that_does_not_read_cannot_hold_up_the_end_of_its_handler(
    autojump_clock: MockClock,
):
    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        client.stop_reading()

    client = Client(make_app())
    await serve_to_end(handler, client)
    assert trio.current_time() == 5


# --- handshakes that are not accepted

DENIAL: dict[str, object] = {"websocket.http.response": {}}


async def reject(ws: WebSocket) -> None:
    await ws.close(1008)


async def reject_with_a_code(ws: WebSocket) -> None:
    await ws.close(4401, "who are you?")


async def fail_early(ws: WebSocket) -> None:
    raise ValueError("early")


async def do_nothing(ws: WebSocket) -> None:
    pass


@pytest.mark.parametrize("handler", [reject, do_nothing, fail_early])
async def test_a_handshake_that_is_not_accepted_is_rejected(handler):
    client = Client(make_app())
    await serve_to_end(handler, client)
    assert [event["type"] for event in client.sent] == ["websocket.close"]


async def test_a_rejection_with_a_code_of_the_application_reaches_the_client():
    client = Client(make_app())
    await serve_to_end(reject_with_a_code, client)
    assert [event["type"] for event in client.sent] == ["websocket.accept", "websocket.close"]
    assert (client.sent[1]["code"], client.sent[1]["reason"]) == (4401, "who are you?")


async def test_a_client_learns_a_code_of_the_application_though_it_is_not_accepted():
    async def sign_in_first(ws: WebSocket) -> None:
        await ws.close(4401, "sign in")

    client = Client(make_app(), extensions=DENIAL)
    await serve_to_end(sign_in_first, client)
    assert [event["type"] for event in client.sent] == ["websocket.accept", "websocket.close"]
    assert client.sent[1]["code"] == 4401
    assert client.sent[1]["reason"] == "sign in"


@pytest.mark.parametrize(
    "use", [lambda ws: ws.receive_text(), lambda ws: ws.send_json({}), lambda ws: ws.send_text("")]
)
async def test_a_websocket_that_is_used_before_it_is_accepted_is_reported(caplog, use):
    async def impatient(ws: WebSocket) -> None:
        await use(ws)

    await serve_to_end(impatient, Client(make_app()))
    [record] = caplog.records
    assert record.exc_info is None
    assert "receives or sends before the handshake is answered. Call 'await ws.accept()' first" in (
        record.getMessage()
    )


async def test_a_handler_that_fails_before_it_accepts_answers_500_where_it_can(caplog):
    client = Client(make_app(), extensions=DENIAL)
    await serve_to_end(fail_early, client)
    assert client.sent[0]["type"] == "websocket.http.response.start"
    assert client.sent[0]["status"] == 500
    assert "ValueError: early" in caplog.text


async def test_a_shutdown_before_the_handshake_ended_answers_503_where_it_can():
    async def handler(ws: WebSocket) -> None:
        await trio.sleep_forever()

    client = Client(make_app(), extensions=DENIAL)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert client.sent[0]["status"] == 503


# --- clients that go first


async def test_a_client_that_goes_before_it_is_accepted_is_quiet(caplog):
    async def handler(ws: WebSocket) -> None:
        client.break_off()
        await ws.accept()

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.connect)
        await serve(handler, client)
        nursery.cancel_scope.cancel()
    assert caplog.records == []


async def test_each_send_to_a_disconnected_client_raises(caplog):
    raised: list[type[Exception]] = []

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        client.break_off()
        for _ in range(3):
            try:
                await ws.send_text("hello")
            except (WebSocketDisconnect, RuntimeError) as error:
                raised.append(type(error))

    client = Client(make_app())
    await serve_to_end(handler, client)
    assert raised == [WebSocketDisconnect, WebSocketDisconnected, WebSocketDisconnected]
    assert caplog.records == []


async def test_a_handler_that_receives_gets_the_disconnect():
    outcome: list[str | int] = []

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        outcome.append(await ws.receive_text())
        try:
            await ws.receive_text()
        except WebSocketDisconnect as disconnect:
            await trio.lowlevel.checkpoint()
            outcome.append(disconnect.code)

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        await client.send("hello")
        await client.disconnect(1001)
    assert outcome == ["hello", 1001]
    assert client.closed is None


async def test_messages_before_the_disconnect_are_all_received():
    received = []

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async for text in ws.iter_text():
            await wait_all_tasks_blocked()
            received.append(text)

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        for number in range(10):
            await client.send(str(number))
        await client.disconnect()
    assert received == [str(number) for number in range(10)]


async def test_a_handler_that_only_sends_learns_of_the_disconnect(autojump_clock: MockClock):
    sent = 0

    async def tick(ws: WebSocket) -> None:
        nonlocal sent
        await ws.accept()
        while True:
            await ws.send_text("tick")
            sent += 1
            await trio.sleep(1)

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, tick, client)
        await client.connect()
        await trio.sleep(2.5)
        await client.disconnect()
    assert sent == 3
    assert trio.current_time() == 2.5


async def test_a_handler_that_received_before_learns_of_it_by_sending(autojump_clock: MockClock):
    codes = []

    async def tick(ws: WebSocket) -> None:
        await ws.accept()
        await ws.receive_text()
        try:
            while True:
                await ws.send_text("tick")
                await trio.sleep(1)
        except WebSocketDisconnect as disconnect:
            codes.append(disconnect.code)

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, tick, client)
        await client.connect()
        await client.send("start")
        await trio.sleep(2.5)
        await client.disconnect(1001)
    assert codes == [1006]
    assert trio.current_time() == 3


async def test_a_handler_that_does_neither_is_cancelled_at_once(autojump_clock: MockClock):
    ended = []

    async def sleep(ws: WebSocket) -> None:
        await ws.accept()
        try:
            await trio.sleep_forever()
        finally:
            ended.append(trio.current_time())

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, sleep, client)
        await client.connect()
        await trio.sleep(3)
        await client.disconnect()
    assert ended == [3]


async def test_a_handler_that_has_received_gets_some_grace(autojump_clock: MockClock, caplog):
    async def save_forever(ws: WebSocket) -> None:
        await ws.accept()
        await ws.receive_text()
        await trio.sleep_forever()

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, save_forever, client)
        await client.connect()
        await client.send("save this")
        await client.disconnect()
    assert trio.current_time() == 30
    assert "ran for 30 s after its client had disconnected" in caplog.text


@pytest.mark.parametrize("cleanup", ["shielded", "receives", "swallows", "fails"])
async def test_a_handler_that_was_cancelled_is_logged_whatever_it_raises(
    autojump_clock: MockClock, caplog, cleanup: str
):
    async def save_forever(ws: WebSocket) -> None:
        await ws.accept()
        await ws.receive_text()
        try:
            with trio.CancelScope(shield=cleanup == "shielded"):
                await trio.sleep(40)
        except trio.Cancelled:
            if cleanup == "fails":
                raise ValueError("cleanup") from None
            if cleanup == "receives":
                with trio.CancelScope(shield=True):
                    await ws.receive_text()

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, save_forever, client)
        await client.connect()
        await client.send("save this")
        await client.send("and this")
        await client.disconnect()
    assert "ran for 30 s after its client had disconnected" in caplog.text


async def test_a_message_that_nobody_received_yet_gets_the_grace_too(autojump_clock: MockClock):
    received = []

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        await trio.sleep(5)
        received.append(await ws.receive_text())

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        await client.send("save this")
        await client.disconnect()
    assert received == ["save this"]


async def test_an_error_after_the_client_has_disconnected_is_logged(caplog):
    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        with pytest.raises(WebSocketDisconnect):
            await ws.receive_text()
        raise ValueError("cleanup")

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        await client.disconnect()
    assert "ValueError: cleanup" in caplog.text
    assert client.closed is None


async def test_a_subscription_ends_with_the_client_though_its_handler_keeps_running(
    autojump_clock: MockClock,
):
    app = make_app()

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "room"):
            await ws.receive_text()
            await trio.sleep(10)

    client = Client(app)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        await client.send("hello")
        await wait_all_tasks_blocked()
        assert app.state.fx_broker.statistics().subscriptions == 1
        await client.disconnect()
        await wait_all_tasks_blocked()
        assert app.state.fx_broker.statistics().subscriptions == 0
    assert trio.current_time() == 10


async def test_the_overflow_of_a_channel_ends_the_handler_quietly(
    autojump_clock: MockClock, caplog
):
    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "room") as room:
            client.stop_reading()
            for _ in range(5):
                await room.publish("hello")
            await trio.sleep_forever()

    client = Client(make_app(outbox=2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        await trio.sleep(1)
        client.read_on()
    assert client.closed == 1013
    assert [record for record in caplog.records if record.levelname != "INFO"] == []


# --- reading ahead


async def test_a_handler_that_receives_slowly_makes_its_client_wait_and_loses_nothing(
    autojump_clock: MockClock,
):
    received: list[str] = []

    async def slow(ws: WebSocket) -> None:
        await ws.accept()
        async for text in ws.iter_text():
            await trio.sleep(1)
            received.append(text)

    client = Client(make_app())
    sent = 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, slow, client)
        await client.connect()
        for number in range(3 * CAPACITY):
            await client.send(str(number))
            sent += 1
            assert sent - len(received) <= CAPACITY + 4
        await client.disconnect()
    assert received == [str(number) for number in range(3 * CAPACITY)]


async def test_a_handler_that_begins_to_receive_later_loses_nothing(autojump_clock: MockClock):
    received: list[str] = []

    async def slow(ws: WebSocket) -> None:
        await ws.accept()
        await trio.sleep(8)
        received.extend([text async for text in ws.iter_text()])

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, slow, client)
        await client.connect()
        for number in range(3 * CAPACITY):
            await client.send(str(number))
        await client.disconnect()
    assert received == [str(number) for number in range(3 * CAPACITY)]


async def test_a_handler_that_never_receives_is_not_held_up_by_a_client_that_sends(
    autojump_clock: MockClock,
):
    async def tick(ws: WebSocket) -> None:
        await ws.accept()
        while True:
            await ws.send_text("tick")
            await trio.sleep(1)

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, tick, client)
        await client.connect()
        for number in range(100 * CAPACITY):
            await client.send(str(number))
        await client.disconnect()
    assert trio.current_time() == 10
    assert 10 <= len(client.received) <= 11


async def test_a_first_receive_after_messages_were_dropped_is_an_error(autojump_clock: MockClock):
    errors = []

    async def slow(ws: WebSocket) -> None:
        await ws.accept()
        await trio.sleep(60)
        try:
            await ws.receive_text()
        except ReceiveBufferFull as error:
            errors.append(error.dropped)
        assert await ws.receive_text() == "0"

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, slow, client)
        await client.connect()
        for number in range(CAPACITY + 7):
            await client.send(str(number))
    assert errors == [7]
    assert client.closed == 1000


async def test_large_messages_fill_the_buffer_by_their_size(autojump_clock: MockClock):
    async def sleep(ws: WebSocket) -> None:
        await ws.accept()
        await trio.sleep(5)
        async for _ in ws.iter_text():
            pass

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, sleep, client)
        await client.connect()
        for _ in range(3):
            await client.send("x" * 600_000)
            assert trio.current_time() == 0
        await client.send("x")
        assert trio.current_time() == 5
        await client.disconnect()
