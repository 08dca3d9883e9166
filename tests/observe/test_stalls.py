"""What holds the event loop is logged with its place, once."""

from __future__ import annotations

import logging
import threading
from math import inf
from pathlib import Path

import pytest
import trio

from fxtrio.observe.stalls import watch_loop
from tests.trees import write_tree

CODE = """
    def hold(logged):
        assert logged.wait(30)  # holds
    """


async def test_what_holds_the_loop_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(write_tree(tmp_path, {"holding_code.py": CODE}))
    import holding_code  # type: ignore[import-not-found]

    logged, records = threading.Event(), list[logging.LogRecord]()

    class Noting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)
            logged.set()

    log = logging.getLogger("fx.app")
    log.addHandler(noting := Noting())
    try:
        with watch_loop(0.05):
            holding_code.hold(logged)
            logged.clear()
            await trio.lowlevel.checkpoint()
    finally:
        log.removeHandler(noting)

    first, *_ = records[0].getMessage().splitlines()
    assert first.startswith("holding_code.py:2 hold: blocked the event loop for more than")


async def test_nothing_is_watched_where_nobody_wants_that() -> None:
    before = threading.active_count()
    with watch_loop(inf):
        assert threading.active_count() == before
