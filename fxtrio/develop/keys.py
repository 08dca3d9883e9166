"""The keys of `fx dev`, when it runs in a terminal: open, restart, quit."""

from __future__ import annotations

import os
import signal
import sys
import termios
import tty
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import trio

HINT = "Press o to open a browser, r to restart the server process, q to quit."


def has_keyboard() -> bool:
    """Return whether somebody can type: standard input is a terminal, and this process's."""
    keyboard = sys.stdin.fileno()
    return os.isatty(keyboard) and os.tcgetpgrp(keyboard) == os.getpgrp()


async def run_keys(keyboard: int, url: str, restart: trio.MemorySendChannel[None]) -> None:
    """Act on the keys that are typed at the terminal ``keyboard``, until cancelled.

    ``restart`` gets something for each r; more than it holds are dropped, since one restart
    does for all of them.
    """
    with _key_by_key(keyboard):
        while True:
            await trio.lowlevel.wait_readable(keyboard)
            typed = os.read(keyboard, 64)
            if not typed:  # the terminal was closed
                return
            for key in typed.decode(errors="replace").lower():
                if key == "o":
                    await trio.to_thread.run_sync(webbrowser.open, url)
                elif key == "r":
                    try:
                        restart.send_nowait(None)
                    except trio.WouldBlock:
                        continue
                elif key == "q":
                    signal.raise_signal(signal.SIGINT)


@contextmanager
def _key_by_key(keyboard: int) -> Iterator[None]:
    """Get keys without a return, and unseen; the terminal is what it was after the block."""
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
