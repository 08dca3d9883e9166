"""The output of workers: lines for the logger ``fx.ssr``, with a rate limit.

`LineCutter` and `FloodMeter` do no I/O and read no clock; `read_log` is the task
that `fxtrio.ssr.render_worker` runs for each of the two pipes of a process.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec
import trio

log = logging.getLogger("fx.ssr")

LINE_LIMIT: Final = 8192
"""Longest line that is passed on (bytes); the rest of it is dropped."""

FLOOD_RATE: Final = 1024 * 1024
"""Output that a worker may go on writing (bytes a second)."""

FLOOD_BURST: Final = 4 * 1024 * 1024
"""Output that a worker may write at once (bytes)."""

LINE_COST: Final = 256
"""Cost of a line besides its bytes: handling it costs more than copying it."""

TAIL_LINES: Final = 40
"""Lines of a worker that are remembered, for the error that its end may cause."""

_CUT = b" [...]"
_LEVEL = re.compile(rb"<([0-7])>")
_LEVELS = {0: 50, 1: 50, 2: 50, 3: 40, 4: 30, 5: 20, 6: 20, 7: 10}  # syslog to logging
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code != 9}


class LineCutter(msgspec.Struct):
    """Bytes of a pipe in, lines out. Holds at most ``limit`` bytes of an unfinished line."""

    limit: int = LINE_LIMIT
    _line: bytearray = msgspec.field(default_factory=bytearray)

    def feed(self, data: bytes | bytearray) -> list[bytes]:
        """Return the lines that ``data`` completes, without their ends and without empty ones."""
        first, *others = data.split(b"\n")
        self._add(first)
        lines = []
        for piece in others:
            lines.append(self.rest())
            self._add(piece)
        return [line for line in lines if line]

    def rest(self) -> bytes:
        """Return the unfinished line, and forget it."""
        line = bytes(self._line)
        self._line.clear()
        if len(line) > self.limit:
            return line[: self.limit] + _CUT
        return line.removesuffix(b"\r")

    def _add(self, piece: bytes | bytearray) -> None:
        room = self.limit + 1 - len(self._line)  # one more, to know that it was cut
        self._line += piece[:room]


class FloodMeter:
    """Distinguishes a process that prints without end from one with occasional bursts."""

    def __init__(self, rate: float = FLOOD_RATE, burst: float = FLOOD_BURST) -> None:
        self.rate = rate
        self.burst = burst
        self._left = burst
        self._last: float | None = None

    def passes(self, size: float, now: float) -> bool:
        """Count ``size`` bytes at the time ``now`` (seconds); return whether that is still fine."""
        since = 0.0 if self._last is None else now - self._last
        self._last = now
        self._left = min(self.burst, self._left + since * self.rate) - size
        return self._left >= 0


def parse_line(line: bytes, level: int) -> tuple[int, str]:
    """Return the level and the text of a line (docs/wire.md, "Log lines").

    ``level`` is the default. Control characters are escaped as ``\\xNN``.
    """
    match = _LEVEL.match(line)
    if match:
        level = _LEVELS[int(match[1])]
        line = line[match.end() :]
    return level, line.decode("utf-8", "backslashreplace").translate(_CONTROL)


async def read_log(
    stream: trio.abc.ReceiveStream,
    *,
    level: int,
    pid: int,
    tail: deque[str],
    on_flood: Callable[[], None],
) -> None:
    """Log the output of a process, until the end of its pipe.

    After a flood, which is reported once, reading continues without logging.
    """
    cutter, meter, flooded = LineCutter(), FloodMeter(), False
    async for data in stream:
        lines = cutter.feed(data)
        cost = len(data) + LINE_COST * data.count(b"\n")
        if not flooded and not meter.passes(cost, trio.current_time()):
            flooded = True
            on_flood()
        if not flooded:
            _log_lines(lines, level, pid, tail)
    if not flooded and (rest := cutter.rest()):
        _log_lines([rest], level, pid, tail)


def _log_lines(lines: list[bytes], level: int, pid: int, tail: deque[str]) -> None:
    for line in lines:
        line_level, text = parse_line(line, level)
        tail.append(text)
        log.log(line_level, "%s", text, extra={"ssr_pid": pid})
