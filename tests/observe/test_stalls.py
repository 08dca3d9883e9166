"""What holds the event loop is logged with its place, once."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from pathlib import Path
from types import FrameType

import pytest
import trio

from fxtrio.observe import stalls
from fxtrio.observe.stalls import watch_import, watch_loop
from tests.trees import write_tree

CODE = """
    def hold(logged):
        assert logged.wait(30)  # holds
    """


def wait_for_watchers() -> None:
    for thread in threading.enumerate():
        if thread.name == "fx-watch":
            thread.join()


@pytest.fixture(autouse=True)
def _watchers() -> Iterator[None]:
    """Let what a test has logged be no message of the next one."""
    yield
    wait_for_watchers()


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


async def test_an_import_of_the_framework_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    imports_only, found, looked = stalls._imports_only, list[bool](), threading.Event()

    class Slow:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "slow_to_be_found":
                assert looked.wait(30)

    def note(innermost: FrameType | None) -> bool:
        found.append(imports_only(innermost))
        looked.set()
        return found[-1]

    monkeypatch.setattr(stalls, "_imports_only", note)
    monkeypatch.setattr(stalls, "is_of_application", lambda frame: False)
    monkeypatch.setattr(sys, "meta_path", [Slow, *sys.meta_path])
    with watch_loop(0.01), suppress(ImportError):
        import slow_to_be_found  # type: ignore[import-not-found]  # noqa: F401
    wait_for_watchers()

    assert found[0]
    assert caplog.messages == []


async def test_what_blocks_the_loop_behind_an_import_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imports_only, looked, logged = stalls._imports_only, threading.Event(), threading.Event()
    records = list[logging.LogRecord]()

    class Slow:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "slow_to_be_found":
                assert looked.wait(30)

    class Noting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)
            logged.set()

    def note(innermost: FrameType | None) -> bool:
        found = imports_only(innermost)
        looked.set()
        return found

    def hold() -> None:
        assert logged.wait(30)

    monkeypatch.setattr(stalls, "_imports_only", note)
    monkeypatch.setattr(
        stalls, "is_of_application", lambda frame: frame.f_code.co_name == hold.__name__
    )
    monkeypatch.setattr(sys, "meta_path", [Slow, *sys.meta_path])
    log = logging.getLogger("fx.app")
    log.addHandler(noting := Noting())
    try:
        with watch_loop(0.01):
            with suppress(ImportError):
                import slow_to_be_found  # noqa: F401
            hold()
    finally:
        log.removeHandler(noting)

    assert " hold: blocked the event loop for more than" in records[0].getMessage()


def test_an_import_that_does_not_end_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import gate_of_imports\nassert gate_of_imports.wait(30)\n"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(write_tree(tmp_path, {"waiting_import.py": code}))
    monkeypatch.setattr(stalls, "IMPORT", 0.05)
    reported, records = threading.Event(), list[logging.LogRecord]()
    monkeypatch.setitem(sys.modules, "gate_of_imports", reported)

    def report(record: logging.LogRecord) -> None:
        records.append(record)
        reported.set()

    with watch_import(report):
        import waiting_import  # type: ignore[import-not-found]  # noqa: F401

    text = records[0].getMessage()
    assert text.startswith("waiting_import.py:2 <module>: the import is still running after 0.05 s")


def test_an_import_within_another_is_watched_once() -> None:
    def watching() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "fx-imports"}

    before = watching()  # those of other tests may end meanwhile
    with watch_import(), watch_import():
        assert len(watching() - before) == 1


async def test_nothing_is_watched_where_nobody_wants_that() -> None:
    before = threading.active_count()
    with watch_loop(inf):
        assert threading.active_count() == before
