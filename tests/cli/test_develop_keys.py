"""Keys that are typed while `fx dev` runs."""

from __future__ import annotations

import os
import pty
import signal
import termios
import webbrowser
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from fxtrio.develop.keys import run_keys


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The two ends of a terminal: where a person types, and where it arrives."""
    person, keyboard = pty.openpty()
    yield person, keyboard
    os.close(person)
    os.close(keyboard)


async def test_keys_open_restart_and_quit(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    person, keyboard = terminal
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    send, receive = trio.open_memory_channel[None](1)
    before = termios.tcgetattr(keyboard)

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            with trio.open_signal_receiver(signal.SIGINT) as received:
                nursery.start_soon(run_keys, keyboard, "http://localhost:8000/", send)
                await trio.testing.wait_all_tasks_blocked()
                os.write(person, b"xo")
                os.write(person, b"rrr")
                await receive.receive()
                os.write(person, b"q")
                async for _ in received:
                    break
            nursery.cancel_scope.cancel()

    assert opened == ["http://localhost:8000/"]
    assert termios.tcgetattr(keyboard) == before
