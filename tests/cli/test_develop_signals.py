"""Signals that come to `fx dev` while it starts."""

from __future__ import annotations

import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import fxtrio
from fxtrio.cli.dev import _interrupt_by

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def as_at_the_start() -> Iterator[None]:
    """Have the handlers that a new process has, for the block."""
    before = [signal.getsignal(number) for number in ALL]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ALL[1:]:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in zip(ALL, before, strict=True):
            signal.signal(number, handler)


class Module:
    """What a weak reference is to, as the lock of an import."""


@pytest.mark.parametrize("number", ALL)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_that_python_has_lost_ends_the_start(number: int) -> None:
    with as_at_the_start():
        begun = _interrupt_by(*ALL[1:])
        module = Module()
        reference = weakref.ref(module, lambda _: signal.raise_signal(number))
        del module  # the callback runs, and what it raises is ignored
        assert reference() is None

        with pytest.raises(KeyboardInterrupt):
            begun()


@pytest.mark.parametrize("number", ALL)
def test_a_signal_ends_the_start_at_once(number: int) -> None:
    with as_at_the_start():
        _interrupt_by(*ALL[1:])
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


def test_trio_may_take_over_when_none_has_come() -> None:
    with as_at_the_start():
        _interrupt_by(*ALL[1:])()

        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ignored_signals_stay_ignored() -> None:
    with as_at_the_start():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        _interrupt_by(*ALL[1:])()

        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_next_to_nothing_is_imported_before_ctrl_c_is_heeded() -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(fxtrio.__file__).parents[1])!r})
before = set(sys.modules)
import fxtrio.cli
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["fxtrio", "fxtrio.cli", "fxtrio.cli.exit_codes"]
