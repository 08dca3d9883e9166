"""One process: what it answers to signals, and what its exit code says."""

from __future__ import annotations

import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from ..http1.frames import WebSocket, close_frame, upgrade
from .support import Running, lines, serve


async def test_an_application_is_served_until_a_signal_and_cleans_up() -> None:
    async with serve() as running:
        assert (await running.get()).body == str(running.process.pid).encode()
        running.kill(signal.SIGTERM)
        assert await running.exit_code() == 0
        await running.wait_for("begin_shutdown(?s:.*)lifespan ended")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_requests_in_flight_are_finished(number: int) -> None:
    async with serve() as running, await running.connect() as client:
        await client.send(b"GET /slow?seconds=0.5 HTTP/1.1\r\nHost: a\r\n\r\n")
        await running.wait_for("slow request")
        running.kill(number)
        reply = await client.reply()
        assert (reply.body, reply.get(b"connection")) == (b"done", b"close")
        assert await running.exit_code() == 0


async def test_websockets_are_closed_with_1001_and_clients_that_do_not_read_delay_no_other() -> (
    None
):
    async with serve() as running:
        talker = WebSocket((await running.connect()).stream)
        await talker.send(upgrade(b"/talk"))
        assert (await talker.reply()).status == 101
        reader = await running.connect()
        await reader.send(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await reader.more()
        running.kill()
        closing = await talker.frame()
        assert closing.code == 1001
        await talker.send(close_frame(1001))
        assert await talker.is_closed()
        await trio.aclose_forcefully(talker.stream)
        await trio.aclose_forcefully(reader.stream)
        assert await running.exit_code() == 0


async def test_a_request_that_outlasts_the_grace_is_cut_off() -> None:
    async with serve(graceful=0.5) as running, await running.connect() as client:
        await client.send(b"GET /slow?seconds=60 HTTP/1.1\r\nHost: a\r\n\r\n")
        await running.wait_for("slow request")
        running.kill()
        assert await client.is_closed()
        assert await running.exit_code() == 0
        await running.wait_for("cut off after 0.5 s")
        await running.wait_for("lifespan ended")


async def test_a_second_interrupt_ends_it_at_once() -> None:
    async with serve() as running, await running.connect() as client:
        await client.send(b"GET /slow?seconds=60 HTTP/1.1\r\nHost: a\r\n\r\n")
        await running.wait_for("slow request")
        running.kill(signal.SIGINT)
        await running.wait_for("Stopping on SIGINT")
        running.kill(signal.SIGINT)
        assert await running.exit_code() == 130


async def test_the_whole_shutdown_has_one_limit() -> None:
    async with serve("never_ends", shutdown=1.0, graceful=0.5) as running:
        running.kill()
        with trio.fail_after(30):  # its last words take a minute
            assert await running.exit_code() == 1


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("fails_to_start", "no database"),
        ("breaks_off", "lifespan: it ended while the server runs"),
        ("missing", "has no attribute 'missing'"),
        ("not_an_app", "not_an_app is not callable: its type is int"),
    ],
)
async def test_an_application_that_cannot_be_served_is_exit_code_1(app: str, words: str) -> None:
    async with serve(app, ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for(words)


async def test_an_application_that_cannot_be_imported_shows_its_own_lines_only() -> None:
    async with serve(module="tests.supervise.broken", ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for("tests.supervise.broken:app: it cannot be imported")
        await running.wait_for("LookupError: no such table")
    assert "fxtrio/server/supervise" not in running.log
    assert "importlib" not in running.log


async def test_an_application_without_a_lifespan_is_served() -> None:
    async with serve("without_lifespan") as running:
        assert (await running.get()).body == b"plain"


async def test_a_factory_makes_the_application() -> None:
    async with serve("make", factory=True) as running:
        assert (await running.get()).status == 200


async def test_an_address_in_use_is_exit_code_1() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        async with serve(ready=False, bind=(bind,)) as running:
            assert await running.exit_code() == 1
            await running.wait_for("Address already in use. Choose another address")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bind": ("127.0.0.1",)}, "it has no port"),
        ({"bind": ("127.0.0.1:99999",)}, "the port is above 65535"),
        ({"bind": ("fd://x",)}, "it has no number"),
        ({"bind": ("fd://999",)}, "Bad file descriptor"),
        ({"bind": ("unix:/nowhere/at/all",)}, "No such file or directory"),
        ({"trusted_proxies": ("nowhere",), "workers": 2}, "proxy 'nowhere': it is neither"),
        ({"certfile": __file__, "workers": 2}, "TLS, with .*test_process.py: "),
        ({"keyfile": __file__}, "there is no certificate"),
    ],
)
async def test_what_cannot_be_used_is_reported_once(options: dict[str, Any], words: str) -> None:
    async with serve(ready=False, **options) as running:
        assert await running.exit_code() == 1
        await running.wait_for(words)
    assert len(running.log.splitlines()) == 1


async def _get_over_unix(path: Path) -> bytes:
    async with await trio.open_unix_socket(path) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return b"".join([data async for data in stream])


async def test_a_unix_socket_is_served_and_its_file_removed(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))  # left behind by a server that was killed
    async with serve(ready=False, bind=(f"unix:{path}",), umask=0o077) as running:
        await running.wait_for("Running on http://unix")
        assert (await _get_over_unix(path)).startswith(b"HTTP/1.1 200")
        assert path.stat().st_mode & 0o777 == 0o600
        async with serve(ready=False, bind=(f"unix:{path}",)) as second:
            assert await second.exit_code() == 1
            await second.wait_for("another server listens there")
        running.kill()
        assert await running.exit_code() == 0
    assert not path.exists()


async def test_a_socket_that_was_passed_on_is_served() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        number = listening.fileno()
        async with serve(bind=(f"fd://{number}",), fds=(number,)) as running:
            assert (await running.get()).status == 200


async def test_systemd_gets_the_readiness(tmp_path: Path) -> None:
    path = tmp_path / "notify"
    with trio.socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        await manager.bind(str(path))
        async with serve(environment={"NOTIFY_SOCKET": str(path)}) as running:
            with trio.fail_after(5):
                assert await manager.recv(1000) == b"READY=1"
                running.kill()
                assert await manager.recv(1000) == b"STOPPING=1"


async def test_the_socket_of_a_systemd_unit_is_served() -> None:
    # What systemd does: descriptor 3, and variables that name the process.
    script = (
        "import os, sys; os.dup2(int(sys.argv[1]), 3); "
        "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); "
        "os.execv(sys.argv[2], sys.argv[2:])"
    )
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        number = listening.fileno()
        wrap = (sys.executable, "-c", script, str(number))
        async with serve(bind=("systemd",), fds=(number,), wrap=wrap) as running:
            assert (await running.get()).status == 200


async def test_a_process_that_systemd_did_not_start_says_so() -> None:
    async with serve(bind=("systemd",), ready=False) as running:
        assert await running.exit_code() == 1
        await running.wait_for("was not started by a socket unit")


async def test_the_access_log_cannot_be_forged() -> None:
    head = b'GET /a%0ab?"c" HTTP/1.1\r\nHost: a\r\nUser-Agent: x\x1b[2J"\\\xff\r\n\r\n'.replace(
        b"\x1b", b"\t"
    )
    async with serve(access_log="console") as running, await running.connect() as client:
        await client.send(head)
        assert (await client.reply()).status == 404
        running.kill()
        await running.exit_code()
    await _ended(running)
    (line,) = running.output.splitlines()
    assert ' "GET /a%0ab?\\x22c\\x22 HTTP/1.1" 404 9 ' in line


async def test_the_access_log_has_a_json_form() -> None:
    async with serve(access_log="json") as running, await running.connect() as client:
        await client.send(b"GET /?q=1 HTTP/1.1\r\nHost: a\r\nUser-Agent: b\t\xff\r\n\r\n")
        body = (await client.reply()).body
        running.kill()
        await running.exit_code()
    await _ended(running)
    (line,) = lines(running.output)
    assert line.pop("ms") >= 0
    assert line.pop("time").endswith("Z")
    assert line == {
        "client": "127.0.0.1",
        "method": "GET",
        "target": "/?q=1",
        "http": "1.1",
        "status": 200,
        "bytes": len(body),
        "host": "a",
        "agent": "b\\x09ÿ",
    }


async def _ended(running: Running) -> None:
    assert running.process.returncode == 0


async def test_requests_are_served_where_the_access_log_has_no_room() -> None:
    full = (
        sys.executable,
        "-c",
        "import os, sys; os.dup2(os.open('/dev/full', 1), 1); os.execv(sys.argv[1], sys.argv[1:])",
    )
    async with serve(access_log="console", wrap=full) as running:
        for _ in range(3):
            assert (await running.get()).status == 200
            await running.wait_for("the access log cannot be written: No space left on device")
        running.kill()
        assert await running.exit_code() == 0
    assert running.log.count("the access log cannot be written") == 1
